"""Layers that a config does not take are named; the report of a model."""

import warnings
from importlib import metadata

import pytest
import torch
from torchao.quantization import (
    Float8DynamicActivationFloat8WeightConfig,
    Float8DynamicActivationInt4WeightConfig,
    Float8WeightOnlyConfig,
    Int4WeightOnlyConfig,
    Int8DynamicActivationInt8WeightConfig,
    quantize_,
)

import ao_xpu


class Model(torch.nn.Module):
    def __init__(self, device="xpu"):
        super().__init__()
        self.words = torch.nn.Embedding(10, 128)
        self.wide = torch.nn.Linear(128, 64)
        self.odd = torch.nn.Linear(64, 50)
        self.last = torch.nn.Linear(50, 4)
        self.to(device, torch.bfloat16)


def test_layers_that_do_not_fit_are_named_in_one_warning():
    model = Model()
    with pytest.warns(UserWarning, match="not quantized") as caught:
        quantize_(model, Int4WeightOnlyConfig(group_size=64))
    (warning,) = caught
    text = str(warning.message)
    assert text == "not quantized: last (rows of 50 elements are no groups of 64)"
    assert warning.filename == __file__
    assert str(ao_xpu.report(model)).splitlines()[-1] == (
        "last  bfloat16  matmul  400  400  rows of 50 elements are no groups of 64"
    )


@pytest.mark.parametrize(
    ("config", "dtype", "reason"),
    [
        (Int4WeightOnlyConfig(50), torch.bfloat16, None),
        (
            Int4WeightOnlyConfig(50, int4_packing_format="plain_int32"),
            torch.bfloat16,
            "rows of 50 elements are no words of 8",
        ),
        (
            Int4WeightOnlyConfig(50, int4_packing_format="plain_int32"),
            torch.float32,
            "plain_int32 takes matrices of 16-bit floats, not of float32",
        ),
        (
            Int4WeightOnlyConfig(50, int4_packing_format="tile_packed_to_4d"),
            torch.float16,
            "tile_packed_to_4d takes bfloat16, not torch.float16",
        ),
        (
            Float8DynamicActivationInt4WeightConfig(),
            torch.bfloat16,
            "rows of 50 elements are no groups of 128",
        ),
        (
            Float8DynamicActivationFloat8WeightConfig(),
            torch.bfloat16,
            "Float8DynamicActivationFloat8WeightConfig does not take a weight (4, 50) of bfloat16",
        ),
    ],
)
def test_reasons(config, dtype, reason):
    layers = torch.nn.Sequential(torch.nn.Linear(50, 4)).to("xpu", dtype)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        quantize_(layers, config)
    assert [str(w.message) for w in caught] == [f"not quantized: 0 ({reason})"] * bool(reason)
    assert ao_xpu.report(layers)[0].reason == (reason or "")


def test_layers_that_do_not_fit_are_an_error_if_asked():
    """In its thread, and until the context ends; the error names all of them."""
    config = Int4WeightOnlyConfig(group_size=128)
    with ao_xpu.strict():
        with pytest.raises(ValueError, match=r"not quantized: odd \(.*\), last \(rows of 50"):
            quantize_(Model(), config)
        quantize_(Model().wide, config)
        quantize_(Model("cpu"), Int4WeightOnlyConfig(), lambda _, name: name == "last")
    with pytest.warns(UserWarning, match="not quantized: odd"):
        quantize_(Model(), config)


def test_a_model_that_is_a_layer_is_named():
    layer = torch.nn.Linear(50, 4, device="xpu", dtype=torch.bfloat16)
    with pytest.warns(UserWarning, match="not quantized: Linear"):
        quantize_(layer, Int4WeightOnlyConfig())


def test_nothing_is_named_that_fits_or_is_elsewhere():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        quantize_(Model(), Float8WeightOnlyConfig())
        quantize_(Model("cpu").last, Int4WeightOnlyConfig())
        quantize_(Model().wide, Int4WeightOnlyConfig(group_size=32), lambda module, name: False)


def test_a_report_has_products_and_bytes():
    model = Model()
    quantize_(model, Int4WeightOnlyConfig(group_size=64), lambda _, name: name == "wide")
    quantize_(model, Int8DynamicActivationInt8WeightConfig(), lambda _, name: name == "odd")
    words, wide, odd, last = ao_xpu.report(model)
    assert (words.name, words.kind, words.operator) == ("words", "bfloat16", "matmul")
    assert words.bytes_before == words.bytes_after == 2560
    assert (wide.kind, wide.operator) == ("Int4Tensor", "low_bit_linear")
    assert (wide.bytes_before, wide.bytes_after) == (16384, 64 * 64 + 2 * 2 * 64 * 2)
    assert (odd.kind, odd.operator, odd.reason) == ("Int8Tensor", "_int_mm", "")
    assert odd.bytes_before == 6400 > odd.bytes_after
    assert last.reason == "no config was applied"


@pytest.mark.values
def test_the_check_of_the_adapter_passes():
    from ao_xpu._about import about
    from ao_xpu._check import check

    assert "times less memory" in check()
    assert about() == {"version": metadata.version("ao-xpu"), "framework": "torchao 0.18.0"}
