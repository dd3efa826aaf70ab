"""Casts between float16 or bfloat16 and HiFloat8."""

from amct_ops import _loader

_loader.load("hifloat8_cast")

from amct_ops.hifloat8_cast.ops import decode_from_hifloat8, encode_to_hifloat8  # noqa: E402

__all__ = ["decode_from_hifloat8", "encode_to_hifloat8"]
