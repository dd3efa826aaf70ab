"""Dynamic MX quantisation (MXFP4, MXFP8) of float16 and bfloat16, and back."""

from amct_ops import _loader

_loader.load("mx_quant")

from amct_ops.mx_quant.ops import mx_dequant, mx_quant  # noqa: E402

__all__ = ["mx_dequant", "mx_quant"]
