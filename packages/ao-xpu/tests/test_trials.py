"""The doctor: what works, what is refused and why, and what is found to be wrong."""

import pytest
import torch

import ao_xpu
from ao_xpu import int4, trials

pytestmark = pytest.mark.values


def test_configs_as_they_come_work():
    found = ao_xpu.doctor()
    works = {trial.config for trial in found if trial.works}
    assert len(works) >= 19
    for packing in ("plain", "preshuffled", "plain_int32", "tile_packed_to_4d"):
        assert f'Int4WeightOnlyConfig(int4_packing_format="{packing}")' in works
    for trial in found:
        assert not trial.fallbacks
        assert trial.works or (trial.reason and trial.instead)
    assert len(str(found).splitlines()) == len(found)


def test_wrong_results_are_found(monkeypatch):
    """Halves of bytes in the wrong order, as CUDA's are, give noise."""
    from torchao.quantization import Int4WeightOnlyConfig

    stock = int4.low_bit_linear

    def swapped(input, weight, *rest):
        data = weight.view(torch.uint8)
        return stock(input, (data << 4 | data >> 4).view(weight.dtype), *rest)

    monkeypatch.setattr(int4, "low_bit_linear", swapped)
    trial = trials._try("int4", Int4WeightOnlyConfig)
    assert not trial.works
    assert "wrong results" in trial.reason


def test_a_layer_that_stays_as_it_was_does_not_work():
    from torchao.quantization import Int4WeightOnlyConfig

    trial = trials._try("int4", lambda: Int4WeightOnlyConfig(group_size=96), "groups of 128")
    assert str(trial) == "int4: refused, the layer stays as it was; instead: groups of 128"
    assert torch.get_default_dtype() == torch.float32
