"""Samples of mx_quant; tests/contract/samples.py is the protocol."""

from __future__ import annotations

from collections.abc import Iterator

import torch

from tests.contract.samples import Sample, layouts

FLOATS = {"float16": torch.float16, "bfloat16": torch.bfloat16}
CODES = {
    "mxfp4_e2m1": torch.uint8,
    "mxfp8_e4m3": torch.float8_e4m3fn,
    "mxfp8_e5m2": torch.float8_e5m2,
}
ROWS, COLUMNS = 2048, 2048


def samples(device: str) -> Iterator[Sample]:
    """Both functions in every layout, dtype, format and mode, with padded rows, and empty."""
    generator = torch.Generator().manual_seed(1)
    values = torch.randn(37, 66, generator=generator)
    for key, dtype in FLOATS.items():
        inputs = {
            **layouts(values.to(dtype).to(device)),
            "3-dim": values.reshape(37, 6, 11).to(dtype).to(device).transpose(1, 2),
            "1-dim": values[0].to(dtype).to(device),
            "empty": torch.empty(3, 0, 6, dtype=dtype, device=device),
        }
        for layout, x in inputs.items():
            for name in CODES:
                modes = ("rint", "round", "floor") if name == "mxfp4_e2m1" else ("rint",)
                for mode in modes:
                    yield Sample(
                        "mx_quant", f"{key}, {layout}, {name}, {mode}", (x,),
                        {"format": name, "round_mode": mode},
                    )  # fmt: skip
    codes = torch.randint(0, 120, (37, 66), generator=generator, dtype=torch.uint8)
    for name, dtype in CODES.items():
        for layout, y in layouts(codes.to(device)).items():
            columns = 132 if name == "mxfp4_e2m1" else 66
            scale = torch.full((37, (columns + 63) // 64, 2), 127, dtype=torch.uint8)
            for wanted in FLOATS.values():
                yield Sample(
                    "mx_dequant", f"{layout}, {name}, {wanted}",
                    (y.view(dtype), scale.to(device), name, wanted),
                )  # fmt: skip
        empty = torch.empty(0, 4, dtype=dtype, device=device)
        scale = torch.empty(0, 1, 2, dtype=torch.uint8, device=device)
        yield Sample("mx_dequant", f"empty, {name}", (empty, scale, name, torch.float16))


def performance(device: str) -> Iterator[Sample]:
    """Four million elements of each dtype, in FP4 and FP8."""
    for name in ("mxfp4_e2m1", "mxfp8_e4m3"):
        packed = 2 if name == "mxfp4_e2m1" else 1
        y = torch.zeros(ROWS, COLUMNS // packed, dtype=torch.uint8, device=device)
        scale = torch.full((ROWS, COLUMNS // 64, 2), 127, dtype=torch.uint8, device=device)
        for key, dtype in FLOATS.items():
            x = torch.ones(ROWS, COLUMNS, dtype=dtype, device=device)
            yield Sample("mx_quant", f"{key}, {name}", (x,), {"format": name})
            yield Sample("mx_dequant", f"{key}, {name}", (y.view(CODES[name]), scale, name, dtype))
