"""The functions of mx_quant; each one is `torch.ops.amct.<name>`.

The rule is that of the OCP Microscaling Formats (MX) specification v1.0, section 6.3.
"""

from __future__ import annotations

import torch


def mx_quant(
    x: torch.Tensor, *, format: str = "mxfp4_e2m1", round_mode: str = "rint"
) -> tuple[torch.Tensor, torch.Tensor]:
    """Quantise blocks of 32 elements of the last dimension, each with a scale of its own.

    A block's scale is 2**X, X = floor(log2(greatest magnitude)) - the format's greatest exponent
    (2, 8, 15), at least -127. Elements are x / 2**X, rounded once and saturated. A block of zeros
    has the scale byte 0; one with an Inf or a NaN has 0xFF, and codes 0.

    Args:
        x: float16 or bfloat16 on an Ascend950 NPU, 1 to 8 dimensions, any strides. The last one
            has at least 1 element, and an even number for MXFP4; others may be empty.
        format: "mxfp4_e2m1", "mxfp8_e4m3" or "mxfp8_e5m2".
        round_mode: "rint" to nearest, ties to even. MXFP4 also: "round" to nearest, ties away
            from zero; "floor" towards minus infinity.

    Returns:
        y: the codes, contiguous. MXFP8: torch.float8_e4m3fn or torch.float8_e5m2, shape of `x`.
            MXFP4: uint8 of half the last dimension, the even element in the low four bits.
        scale: uint8 X + 127 (E8M0), [..., ceil(ceil(K / 32) / 2), 2] for a last dimension of K,
            contiguous, as torch_npu.npu_dynamic_mx_quant lays it out; a padding byte is 0.
        Nothing is differentiable: neither requires a gradient.

    Raises:
        RuntimeError: another dtype, shape, format or round_mode.
        NotImplementedError: `x` is not on an NPU (or meta) device.

    Example:
        >>> x = torch.tensor([1.0, -0.5, 6.0, 0.3], dtype=torch.bfloat16, device="npu")
        >>> mx_quant(x)
        (tensor([146,  23], device='npu:0', dtype=torch.uint8),
         tensor([[127,   0]], device='npu:0', dtype=torch.uint8))
    """
    return torch.ops.amct.mx_quant(x, format=format, round_mode=round_mode)


def mx_dequant(
    y: torch.Tensor, scale: torch.Tensor, format: str, dtype: torch.dtype
) -> torch.Tensor:
    """Return element * 2**(scale byte - 127), rounded once to nearest, ties to even.

    Values beyond `dtype` become Inf; a block with the scale byte 0xFF becomes NaN.

    Args:
        y: codes as mx_quant returns them: uint8 for MXFP4, float8_e4m3fn or float8_e5m2 for MXFP8,
            on an Ascend950 NPU, 1 to 8 dimensions, any strides.
        scale: uint8 as mx_quant returns it, on the same device, any strides. Padding bytes are
            ignored.
        format: that of `y`: "mxfp4_e2m1", "mxfp8_e4m3" or "mxfp8_e5m2".
        dtype: of the result, torch.float16 or torch.bfloat16.

    Returns:
        The values: `dtype`, shape of what was quantised, contiguous. Not differentiable: never
        requires a gradient.

    Raises:
        RuntimeError: another dtype, shape or format, or two devices.
        NotImplementedError: `y` is not on an NPU (or meta) device.

    Example:
        >>> mx_dequant(*mx_quant(x), "mxfp4_e2m1", torch.bfloat16)
        tensor([ 1.0000, -0.5000,  6.0000,  0.5000], device='npu:0', dtype=torch.bfloat16)
    """
    return torch.ops.amct.mx_dequant(y, scale, format, dtype)
