#include <ATen/ops/empty.h>
#include <torch/library.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <tuple>

#include "mx_quant_tiling.h"
#include "ops.h"

using AscendKernel::MxFormat;

namespace {

MxFormat CheckFormat(const char *function, std::string_view format) {
    constexpr std::array<std::string_view, 3> names = {"mxfp4_e2m1", "mxfp8_e4m3", "mxfp8_e5m2"};
    for (size_t i = 0; i < names.size(); ++i) {
        if (format == names[i]) {
            return static_cast<MxFormat>(i);
        }
    }
    TORCH_CHECK(false, function, ": format is '", format,
                "', allowed are 'mxfp4_e2m1', 'mxfp8_e4m3' and 'mxfp8_e5m2'");
}

at::ScalarType CodeType(MxFormat format) {
    return format == MxFormat::kE2m1   ? at::kByte
           : format == MxFormat::kE4m3 ? at::kFloat8_e4m3fn
                                       : at::kFloat8_e5m2;
}

bool IsFloat16OrBFloat16(at::ScalarType dtype) {
    return dtype == at::kHalf || dtype == at::kBFloat16;
}

void CheckShape(const char *function, const char *name, const at::Tensor &tensor) {
    TORCH_CHECK(tensor.dim() >= 1 && tensor.dim() <= 8, function, ": ", name, " has ", tensor.dim(),
                " dimensions, allowed are 1 to 8");
    TORCH_CHECK(tensor.sym_size(-1) != 0, function, ": the last dimension of ", name,
                " is 0, allowed is 1 or more");
}

struct Quant {
    MxFormat format;
    uint32_t roundMode;
};

Quant CheckQuant(const at::Tensor &x, std::string_view format, std::string_view roundMode) {
    const MxFormat chosen = CheckFormat("mx_quant", format);
    constexpr std::array<std::string_view, 3> modes = {"rint", "round", "floor"};
    const auto *const mode = std::find(modes.begin(), modes.end(), roundMode);
    TORCH_CHECK(mode != modes.end(), "mx_quant: round_mode is '", roundMode,
                "', allowed are 'rint', 'round' and 'floor'");
    TORCH_CHECK(chosen == MxFormat::kE2m1 || mode == modes.begin(), "mx_quant: round_mode is '",
                roundMode, "', for format '", format, "' allowed is 'rint'");
    TORCH_CHECK(IsFloat16OrBFloat16(x.scalar_type()), "mx_quant: x has dtype ", x.scalar_type(),
                ", allowed are float16 and bfloat16");
    CheckShape("mx_quant", "x", x);
    TORCH_CHECK(chosen != MxFormat::kE2m1 || x.sym_size(-1) % 2 == 0,
                "mx_quant: the last dimension of x is ", x.sym_size(-1), ", for format '", format,
                "' it must be even: two elements share a byte");
    return {chosen, static_cast<uint32_t>(mode - modes.begin())};
}

// The shape of the scales of rows of `columns` elements.
c10::SymDimVector ScaleShape(c10::SymIntArrayRef sizes, const c10::SymInt &columns) {
    c10::SymDimVector shape(sizes.begin(), sizes.end());
    shape.back() = (columns + (mx_quant::kGroup - 1)) / mx_quant::kGroup;
    shape.push_back(2);
    return shape;
}

MxFormat CheckDequant(const at::Tensor &y, const at::Tensor &scale, std::string_view format,
                      at::ScalarType dtype) {
    const MxFormat chosen = CheckFormat("mx_dequant", format);
    TORCH_CHECK(y.scalar_type() == CodeType(chosen), "mx_dequant: y has dtype ", y.scalar_type(),
                ", for format '", format, "' allowed is ", CodeType(chosen));
    TORCH_CHECK(scale.scalar_type() == at::kByte, "mx_dequant: scale has dtype ",
                scale.scalar_type(), ", allowed is uint8");
    TORCH_CHECK(IsFloat16OrBFloat16(dtype), "mx_dequant: dtype is ", dtype,
                ", allowed are float16 and bfloat16");
    TORCH_CHECK(y.device() == scale.device(), "mx_dequant: y is on ", y.device(), " and scale on ",
                scale.device(), "; move them to one device");
    CheckShape("mx_dequant", "y", y);
    const c10::SymInt columns = y.sym_size(-1) * (chosen == MxFormat::kE2m1 ? 2 : 1);
    const c10::SymDimVector shape = ScaleShape(y.sym_sizes(), columns);
    TORCH_CHECK(scale.sym_sizes() == c10::SymIntArrayRef(shape), "mx_dequant: scale has shape ",
                scale.sym_sizes(), ", for y of shape ", y.sym_sizes(), " and format '", format,
                "' it must be ", c10::SymIntArrayRef(shape));
    return chosen;
}

std::tuple<at::Tensor, at::Tensor> QuantNpu(const at::Tensor &x, c10::string_view format,
                                            c10::string_view roundMode) {
    const Quant quant = CheckQuant(x, format, roundMode);
    return AscendKernel::MxQuant(x, quant.format, quant.roundMode);
}

at::Tensor DequantNpu(const at::Tensor &y, const at::Tensor &scale, c10::string_view format,
                      at::ScalarType dtype) {
    return AscendKernel::MxDequant(y, scale, CheckDequant(y, scale, format, dtype), dtype);
}

// Symbolic sizes: a fixed one would compile anew for each shape.
std::tuple<at::Tensor, at::Tensor> QuantMeta(const at::Tensor &x, c10::string_view format,
                                             c10::string_view roundMode) {
    const MxFormat chosen = CheckQuant(x, format, roundMode).format;
    c10::SymDimVector shape(x.sym_sizes().begin(), x.sym_sizes().end());
    if (chosen == MxFormat::kE2m1) {
        shape.back() = shape.back() / 2;
    }
    return {
        at::empty_symint(shape, x.options().dtype(CodeType(chosen))),
        at::empty_symint(ScaleShape(x.sym_sizes(), x.sym_size(-1)), x.options().dtype(at::kByte))};
}

at::Tensor DequantMeta(const at::Tensor &y, const at::Tensor &scale, c10::string_view format,
                       at::ScalarType dtype) {
    const MxFormat chosen = CheckDequant(y, scale, format, dtype);
    c10::SymDimVector shape(y.sym_sizes().begin(), y.sym_sizes().end());
    if (chosen == MxFormat::kE2m1) {
        shape.back() = shape.back() * 2;
    }
    return at::empty_symint(shape, y.options().dtype(dtype));
}

}  // namespace

TORCH_LIBRARY_FRAGMENT(amct, m) {
    m.def(
        "mx_quant(Tensor x, *, str format=\"mxfp4_e2m1\", str round_mode=\"rint\") -> "
        "(Tensor y, Tensor scale)");
    m.def("mx_dequant(Tensor y, Tensor scale, str format, ScalarType dtype) -> Tensor");
}

TORCH_LIBRARY_IMPL(amct, PrivateUse1, m) {
    m.impl("mx_quant", QuantNpu);
    m.impl("mx_dequant", DequantNpu);
}

TORCH_LIBRARY_IMPL(amct, Meta, m) {
    m.impl("mx_quant", QuantMeta);
    m.impl("mx_dequant", DequantMeta);
}

// Nothing is differentiable. Without this, results of a float dtype would say that they require a
// gradient and then give none.
TORCH_LIBRARY_IMPL(amct, Autograd, m) {
    m.impl("mx_quant", torch::CppFunction::makeFallthrough());
    m.impl("mx_dequant", torch::CppFunction::makeFallthrough());
}
