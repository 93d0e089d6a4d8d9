"""Trials of configs: those that work, those that are rejected and why, and wrong results."""

from functools import partial

import pytest
import torch

import ao_xpu
from ao_xpu.diagnostics.config_trials import try_config
from ao_xpu.diagnostics.inference_configs import Candidate
from ao_xpu.int4 import plain

pytestmark = pytest.mark.values


def test_configs_as_they_come_work():
    found = ao_xpu.try_configs()
    works = {trial.config for trial in found if trial.works}
    assert len(works) >= 19
    for packing in ("plain", "preshuffled", "plain_int32", "tile_packed_to_4d"):
        assert f'Int4WeightOnlyConfig(int4_packing_format="{packing}")' in works
    for trial in found:
        assert not trial.fallbacks
        assert trial.works or (trial.reason and trial.alternative)
    assert len(str(found).splitlines()) == len(found)


def test_wrong_results_are_found(monkeypatch):
    """Halves of bytes in the wrong order, as CUDA's are, give noise."""
    from torchao.quantization import Int4WeightOnlyConfig

    stock = plain.low_bit_plan

    def swapped(*parameters):
        plan = stock(*parameters)

        def multiply(input, weight, bias):
            data = weight.view(torch.uint8)
            return plan(input, (data << 4 | data >> 4).view(weight.dtype), bias)

        return multiply

    monkeypatch.setattr(plain, "low_bit_plan", swapped)
    trial = try_config(Candidate("int4", Int4WeightOnlyConfig))
    assert not trial.works
    assert "wrong results" in trial.reason


def test_a_layer_that_stays_as_it_was_does_not_work():
    from torchao.quantization import Int4WeightOnlyConfig

    make = partial(Int4WeightOnlyConfig, group_size=96)
    trial = try_config(Candidate("int4", make, "groups of 128"))
    assert str(trial) == "int4: rejected, the layer stays as it was; alternative: groups of 128"
    assert torch.get_default_dtype() == torch.float32
