// Host interface of hifloat8_cast. Arguments are checked by the caller (register.cpp).
#pragma once

#include <ATen/core/Tensor.h>

namespace AscendKernel {

// x: float16 or bfloat16 on an NPU, any shape and strides. Returns uint8 codes, contiguous.
at::Tensor EncodeToHiFloat8(const at::Tensor &x, bool saturate);

// x: uint8 codes on an NPU, any shape and strides. Returns dtype (float16 or bfloat16), contiguous.
at::Tensor DecodeFromHiFloat8(const at::Tensor &x, at::ScalarType dtype);

}  // namespace AscendKernel
