// Host interface of mx_quant. Arguments are checked by the caller (register.cpp).
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <tuple>

namespace AscendKernel {

enum class MxFormat : uint8_t { kE2m1, kE4m3, kE5m2 };

// x: float16 or bfloat16 on an NPU, last dimension at least 1, any strides. roundMode: one of
// mx_quant::RoundModes. Returns codes and scales, contiguous.
std::tuple<at::Tensor, at::Tensor> MxQuant(const at::Tensor &x, MxFormat format,
                                           uint32_t roundMode);

// y, scale: as MxQuant returns them, any strides. Returns dtype (float16 or bfloat16), contiguous.
at::Tensor MxDequant(const at::Tensor &y, const at::Tensor &scale, MxFormat format,
                     at::ScalarType dtype);

}  // namespace AscendKernel
