#include <ATen/ops/empty.h>
#include <torch/library.h>

#include <optional>

#include "ops.h"

namespace {

bool IsFloat16OrBFloat16(at::ScalarType dtype) {
    return dtype == at::kHalf || dtype == at::kBFloat16;
}

void CheckEncode(const at::Tensor &x) {
    TORCH_CHECK(IsFloat16OrBFloat16(x.scalar_type()), "encode_to_hifloat8: x has dtype ",
                x.scalar_type(), ", allowed are float16 and bfloat16");
}

at::ScalarType CheckDecode(const at::Tensor &x, std::optional<at::ScalarType> dtype) {
    TORCH_CHECK(x.scalar_type() == at::kByte, "decode_from_hifloat8: x has dtype ", x.scalar_type(),
                ", allowed is uint8 (HiFloat8 codes)");
    const at::ScalarType result = dtype.value_or(at::kBFloat16);
    TORCH_CHECK(IsFloat16OrBFloat16(result), "decode_from_hifloat8: dtype is ", result,
                ", allowed are float16 and bfloat16");
    return result;
}

at::Tensor Encode(const at::Tensor &x, bool saturate) {
    CheckEncode(x);
    return AscendKernel::EncodeToHiFloat8(x, saturate);
}

at::Tensor Decode(const at::Tensor &x, std::optional<at::ScalarType> dtype) {
    return AscendKernel::DecodeFromHiFloat8(x, CheckDecode(x, dtype));
}

// Symbolic sizes: a fixed one would compile anew for each shape.
at::Tensor EncodeMeta(const at::Tensor &x, bool /*saturate*/) {
    CheckEncode(x);
    return at::empty_symint(x.sym_sizes(), x.options().dtype(at::kByte));
}

at::Tensor DecodeMeta(const at::Tensor &x, std::optional<at::ScalarType> dtype) {
    return at::empty_symint(x.sym_sizes(), x.options().dtype(CheckDecode(x, dtype)));
}

}  // namespace

TORCH_LIBRARY_FRAGMENT(amct, m) {
    m.def("encode_to_hifloat8(Tensor x, *, bool saturate=True) -> Tensor");
    m.def("decode_from_hifloat8(Tensor x, ScalarType? dtype=None) -> Tensor");
}

TORCH_LIBRARY_IMPL(amct, PrivateUse1, m) {
    m.impl("encode_to_hifloat8", Encode);
    m.impl("decode_from_hifloat8", Decode);
}

TORCH_LIBRARY_IMPL(amct, Meta, m) {
    m.impl("encode_to_hifloat8", EncodeMeta);
    m.impl("decode_from_hifloat8", DecodeMeta);
}
