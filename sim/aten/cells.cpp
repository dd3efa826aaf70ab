#include "cells.h"

#include <ATen/TensorOperators.h>
#include <ATen/core/Tensor.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/sigmoid.h>
#include <ATen/ops/tanh.h>
#include <ATen/ops/zeros_like.h>

#include <tuple>
#include <vector>

namespace {

using at::Tensor;
using Optional = std::optional<Tensor>;

std::vector<Tensor> Gates(const Tensor &gates, const Optional &bias, int64_t count) {
    return (bias && bias->defined() ? gates + *bias : gates).chunk(count, 1);
}

Tensor OrZeros(const Optional &gradient, const Tensor &like) {
    return gradient && gradient->defined() ? *gradient : at::zeros_like(like);
}

// What reaches x through sigmoid(x) or tanh(x) = y.
Tensor ThroughSigmoid(const Tensor &gradient, const Tensor &y) { return gradient * y * (1 - y); }
Tensor ThroughTanh(const Tensor &gradient, const Tensor &y) { return gradient * (1 - y * y); }

// The workspaces are what the backward kernels below take, with the shapes of torch's Meta kernels.

std::tuple<Tensor, Tensor, Tensor> LstmCell(const Tensor &inputGates, const Tensor &hiddenGates,
                                            const Tensor &cx, const Optional &inputBias,
                                            const Optional &hiddenBias) {
    const std::vector<Tensor> x = Gates(inputGates, inputBias, 4);
    const std::vector<Tensor> h = Gates(hiddenGates, hiddenBias, 4);
    const Tensor in = at::sigmoid(x[0] + h[0]);
    const Tensor forget = at::sigmoid(x[1] + h[1]);
    const Tensor cell = at::tanh(x[2] + h[2]);
    const Tensor out = at::sigmoid(x[3] + h[3]);
    const Tensor cy = forget * cx + in * cell;
    return {out * at::tanh(cy), cy, at::cat({in, forget, cell, out}, 1)};
}

std::tuple<Tensor, Tensor, Tensor> LstmCellBackward(const Optional &gradHy, const Optional &gradCy,
                                                    const Tensor &cx, const Tensor &cy,
                                                    const Tensor &workspace, bool hasBias) {
    const std::vector<Tensor> gates = workspace.chunk(4, 1);
    const Tensor &in = gates[0], &forget = gates[1], &cell = gates[2], &out = gates[3];
    const Tensor toHy = OrZeros(gradHy, cx);
    const Tensor tanhCy = at::tanh(cy);
    const Tensor toCy = OrZeros(gradCy, cx) + ThroughTanh(toHy * out, tanhCy);
    const Tensor toGates =
        at::cat({ThroughSigmoid(toCy * cell, in), ThroughSigmoid(toCy * cx, forget),
                 ThroughTanh(toCy * in, cell), ThroughSigmoid(toHy * tanhCy, out)},
                1);
    return {toGates, toCy * forget, hasBias ? toGates.sum(0) : Tensor()};
}

std::tuple<Tensor, Tensor> GruCell(const Tensor &inputGates, const Tensor &hiddenGates,
                                   const Tensor &hx, const Optional &inputBias,
                                   const Optional &hiddenBias) {
    const std::vector<Tensor> x = Gates(inputGates, inputBias, 3);
    const std::vector<Tensor> h = Gates(hiddenGates, hiddenBias, 3);
    const Tensor reset = at::sigmoid(x[0] + h[0]);
    const Tensor update = at::sigmoid(x[1] + h[1]);
    const Tensor fresh = at::tanh(x[2] + reset * h[2]);
    return {fresh + update * (hx - fresh), at::cat({reset, update, fresh, hx, h[2]}, 1)};
}

std::tuple<Tensor, Tensor, Tensor, Tensor, Tensor> GruCellBackward(const Tensor &gradHy,
                                                                   const Tensor &workspace,
                                                                   bool hasBias) {
    const std::vector<Tensor> saved = workspace.chunk(5, 1);
    const Tensor &reset = saved[0], &update = saved[1], &fresh = saved[2], &hx = saved[3];
    const Tensor toFresh = ThroughTanh(gradHy * (1 - update), fresh);
    const Tensor toReset = ThroughSigmoid(toFresh * saved[4], reset);
    const Tensor toUpdate = ThroughSigmoid(gradHy * (hx - fresh), update);
    const Tensor toInput = at::cat({toReset, toUpdate, toFresh}, 1);
    const Tensor toHidden = at::cat({toReset, toUpdate, toFresh * reset}, 1);
    return {toInput, toHidden, gradHy * update, hasBias ? toInput.sum(0) : Tensor(),
            hasBias ? toHidden.sum(0) : Tensor()};
}

}  // namespace

std::optional<c10::KernelFunction> CellKernel(const std::string &operatorName) {
    using K = c10::KernelFunction;
    if (operatorName == "aten::_thnn_fused_lstm_cell") {
        return K::makeFromUnboxedRuntimeFunction(&LstmCell);
    }
    if (operatorName == "aten::_thnn_fused_lstm_cell_backward_impl") {
        return K::makeFromUnboxedRuntimeFunction(&LstmCellBackward);
    }
    if (operatorName == "aten::_thnn_fused_gru_cell") {
        return K::makeFromUnboxedRuntimeFunction(&GruCell);
    }
    if (operatorName == "aten::_thnn_fused_gru_cell_backward") {
        return K::makeFromUnboxedRuntimeFunction(&GruCellBackward);
    }
    return std::nullopt;
}
