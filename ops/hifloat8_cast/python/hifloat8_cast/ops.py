"""The functions of hifloat8_cast; each one is `torch.ops.amct.<name>`."""

from __future__ import annotations

import torch


def encode_to_hifloat8(x: torch.Tensor, *, saturate: bool = True) -> torch.Tensor:
    """Round each element to the nearest HiFloat8 code, ties away from zero.

    NaN becomes 0x80, +-Inf 0x6F / 0xEF, magnitudes below 2**-23 zero; there is no negative zero.

    Args:
        x: float16 or bfloat16 on an NPU, any shape (0-dim and empty too) and strides.
        saturate: what finite magnitudes from 40960 on become: True +-32768 (0x6E / 0xEE), False
            +-Inf, as the chip's own cast and the en-dtypes package have it.

    Returns:
        The codes: uint8, shape of `x`, contiguous. Integers, so nothing is differentiable.

    Raises:
        RuntimeError: another dtype.
        NotImplementedError: `x` is not on an NPU (or meta) device.

    Example:
        >>> encode_to_hifloat8(torch.tensor([1.0, -0.5, 1e9], dtype=torch.bfloat16, device="npu"))
        tensor([  8, 152, 110], device='npu:0', dtype=torch.uint8)
    """
    return torch.ops.amct.encode_to_hifloat8(x, saturate=saturate)


def decode_from_hifloat8(x: torch.Tensor, dtype: torch.dtype | None = None) -> torch.Tensor:
    """Return the value of each HiFloat8 code; every one is exact.

    Args:
        x: uint8 codes on an NPU, any shape (0-dim and empty too) and strides.
        dtype: of the result, torch.float16 or torch.bfloat16; None is bfloat16.

    Returns:
        The values: `dtype`, shape of `x`, contiguous. 0x80 is a quiet NaN of unspecified payload.

    Raises:
        RuntimeError: another dtype of `x` or of the result.
        NotImplementedError: `x` is not on an NPU (or meta) device.

    Example:
        >>> decode_from_hifloat8(torch.tensor([8, 152, 110], dtype=torch.uint8, device="npu"))
        tensor([ 1.0000e+00, -5.0000e-01,  3.2768e+04], device='npu:0', dtype=torch.bfloat16)
    """
    return torch.ops.amct.decode_from_hifloat8(x, dtype)
