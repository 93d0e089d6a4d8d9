"""The act of TorchAO in the demonstration: results that are right, wrong ones, a package that is missing."""

import pytest
from xpu_sdk import demo_torchao
from xpu_sdk.commands import demo


@pytest.fixture
def stage(monkeypatch):
    monkeypatch.setattr(demo, "MIN_SECONDS", 0)
    return demo.Stage()


@pytest.mark.values
def test_layers_in_fewer_bits(stage):
    demo_torchao.run(stage)
    _, names, got, right = zip(*stage.results, strict=True)
    assert names == ("6 linear layers, bf16", "6 linear layers, int8", "6 linear layers, int4")
    sizes = [float(text.split()[0]) for text in got]
    assert sizes[0] > 1.9 * sizes[1]
    assert sizes[0] > 3.4 * sizes[2]
    assert all(right)


@pytest.mark.values
def test_results_of_low_precision_are_not_right(stage, monkeypatch):
    monkeypatch.setattr(demo_torchao, "MIN_RATIO", {"int8": 30.0, "int4": 60.0})
    demo_torchao.run(stage)
    assert [right for *_, right in stage.results] == [True, True, False]


def test_without_ao_xpu_the_act_says_what_to_install(stage, monkeypatch, capsys):
    monkeypatch.setattr(demo_torchao, "find_spec", lambda name: None)
    demo_torchao.run(stage)
    assert "Not installed: ao-xpu. pip install xpu-sdk[ao]" in capsys.readouterr().out
    assert not stage.results
