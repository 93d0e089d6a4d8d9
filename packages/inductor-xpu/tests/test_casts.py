"""Compiled casts to floats of eight bits give what eager mode gives."""

import pytest
import torch

pytestmark = [
    pytest.mark.values,
    pytest.mark.filterwarnings("ignore:`torch.jit:DeprecationWarning"),
]


@pytest.mark.parametrize(
    "source", [torch.bfloat16, torch.float16, torch.float32, torch.int32], ids=str
)
@pytest.mark.parametrize("target", [torch.float8_e4m3fn, torch.float8_e5m2], ids=str)
def test_all_numbers_of_sixteen_bits(source, target):
    bits = torch.arange(1 << 16, dtype=torch.int32).to(torch.int16)
    if source == torch.int32:
        x = bits.to(source) * 3
    else:
        x = bits.view(torch.float16 if source == torch.float16 else torch.bfloat16).to(source)
    x = x.xpu()

    def cast(x):
        return x.to(target), x.to(target).float() * 2

    expected, got = cast(x), torch.compile(cast, fullgraph=True)(x)
    for ours, eager in zip(got, expected, strict=True):
        ours, eager = ours.float(), eager.float()
        assert torch.equal(ours.isnan(), eager.isnan())
        assert torch.equal(ours.nan_to_num(0), eager.nan_to_num(0))
