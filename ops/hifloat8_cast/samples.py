"""Samples of hifloat8_cast; tests/contract/samples.py is the protocol."""

from __future__ import annotations

from collections.abc import Iterator

import torch

from tests.contract.samples import Sample, layouts

FLOATS = {"float16": torch.float16, "bfloat16": torch.bfloat16}
ELEMENTS = 1 << 22


def samples(device: str) -> Iterator[Sample]:
    """Both functions in every layout, dtype and mode, empty and 0-dim."""
    generator = torch.Generator().manual_seed(1)
    values = torch.randn(37, 66, generator=generator)
    codes = torch.randint(0, 256, (37, 66), generator=generator, dtype=torch.uint8).to(device)
    for key, dtype in FLOATS.items():
        inputs = {
            **layouts(values.to(dtype).to(device)),
            "3-dim": values.reshape(37, 6, 11).to(dtype).to(device).transpose(0, 2),
            "empty": torch.empty(3, 0, 5, dtype=dtype, device=device),
            "0-dim": torch.tensor(1.5, dtype=dtype, device=device),
        }
        for layout, x in inputs.items():
            for saturate in (True, False):
                yield Sample(
                    "encode_to_hifloat8", f"{key}, {layout}, saturate={saturate}", (x,),
                    {"saturate": saturate},
                )  # fmt: skip
    inputs = {
        **layouts(codes),
        "empty": torch.empty(0, 4, dtype=torch.uint8, device=device),
        "0-dim": torch.tensor(8, dtype=torch.uint8, device=device),
    }
    for layout, x in inputs.items():
        for dtype in (None, *FLOATS.values()):
            yield Sample("decode_from_hifloat8", f"{layout}, dtype={dtype}", (x, dtype))


def performance(device: str) -> Iterator[Sample]:
    """Four million elements of each dtype."""
    for key, dtype in FLOATS.items():
        x = torch.ones(ELEMENTS, dtype=dtype, device=device)
        yield Sample("encode_to_hifloat8", key, (x,))
    codes = torch.full((ELEMENTS,), 8, dtype=torch.uint8, device=device)
    for key, dtype in FLOATS.items():
        yield Sample("decode_from_hifloat8", key, (codes, dtype))
