"""Int8 by PT2E: models that are quantized and compiled on xpu, beside the CPU's and beside floats."""

import re

import pytest
import torch
from int8_models import CONVOLUTIONS, LINEAR, MODELS
from pt2e_flow import (
    CALL,
    FROZEN,
    compiled,
    expected,
    lowered_by_torchao,
    noise_of_cpu,
    pt2e,
    quantize,
    x86,
    xpu,
)
from reference import sqnr

# PyTorch and torchao warn of what they do themselves.
pytestmark = [
    pytest.mark.filterwarnings(f"ignore::{category}")
    for category in ("DeprecationWarning", "FutureWarning", "UserWarning")
]


@pytest.mark.values
@pytest.mark.parametrize("name", MODELS)
def test_models_have_the_accuracy_of_the_cpu(name):
    case = MODELS[name]
    converted, x = quantize(case, x86(), "xpu")
    got, calls, code = compiled(converted, x)
    assert len(calls) == case.operators
    assert "<128" not in code
    assert sqnr(expected(case), got) >= noise_of_cpu(case, x86()) - 0.2
    with torch.no_grad():
        assert sqnr(converted(x), got) > 35  # the graph before it is fused


@pytest.mark.values
@pytest.mark.parametrize("name", ["attention", "pooled", "residual"])
def test_quantizer_of_xpu(name):
    case = MODELS[name]
    converted, x = quantize(case, xpu(), "xpu")
    got, calls, code = compiled(converted, x)
    assert len(calls) == case.operators
    assert "torch.uint8" not in code  # its activations are signed
    assert "<128" not in code
    assert sqnr(expected(case), got) > 25


@pytest.mark.values
@pytest.mark.parametrize("name", LINEAR)
def test_dynamic(name):
    case = LINEAR[name]
    converted, x = quantize(case, x86(is_dynamic=True), "xpu")
    got, calls, _ = compiled(converted, x)
    assert len(calls) == case.operators
    assert sqnr(expected(case), got) > 30


@pytest.mark.values
def test_dynamic_scales_of_positive_inputs():
    """Their range contains 0, as in eager mode."""
    case = LINEAR["mlp"]
    converted, x = quantize(case, x86(is_dynamic=True), "xpu")
    x = x.abs() + 3
    got, _, _ = compiled(converted, x)
    with torch.no_grad():
        assert sqnr(case.model("xpu").eval()(x), got) > 30


@pytest.mark.values
@pytest.mark.parametrize("name", ["residual mlp", "residual"])
def test_mixed_with_bf16(name):
    case = MODELS[name]
    converted, x = quantize(case, x86(), "xpu")
    with torch.autocast("xpu", torch.bfloat16):
        got, calls, code = compiled(converted, x)
    assert len(calls) == case.operators
    assert "torch.bfloat16" in code
    assert sqnr(expected(case), got.float()) > 25


@pytest.mark.values
@pytest.mark.parametrize("name", ["mlp", "convnet"])
def test_dynamic_shapes(name):
    case = MODELS[name]
    model, (x, *calibration) = case.model("xpu").eval(), case.inputs("xpu")
    rows = torch.export.Dim("rows", min=2, max=64)
    with torch.no_grad(), torch._inductor.config.patch(FROZEN):
        exported = torch.export.export(model, (x,), dynamic_shapes=({0: rows},), strict=True)
        prepared = pt2e.prepare_pt2e(exported.module(), x86())
        for batch in calibration:
            prepared(batch)
        converted = pt2e.convert_pt2e(prepared)
        function = torch.compile(converted, dynamic=True)
        for count in (1, 3):
            batch = torch.cat([x] * count)
            got = function(batch)
            assert sqnr(model(batch), got) > 25
            assert sqnr(converted(batch), got) > 35


@pytest.mark.values
@pytest.mark.parametrize("name", ["mlp", "convnet"])
def test_training_for_int8(name):
    """Steps of QAT reduce the loss, and the converted model computes what was trained."""
    case = MODELS[name]
    x, *_ = case.inputs("xpu")
    exported = torch.export.export(case.model("xpu", train=True), (x,), strict=True).module()
    prepared = pt2e.prepare_qat_pt2e(exported, x86(is_qat=True))
    pt2e.move_exported_model_to_train(prepared)
    optimizer = torch.optim.Adam(prepared.parameters(), lr=3e-3)
    losses = []
    for _ in range(12):
        optimizer.zero_grad()
        loss = (prepared(x) - 1).square().mean()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    assert losses[-1] < 0.7 * losses[0]
    pt2e.move_exported_model_to_eval(prepared)
    converted = pt2e.convert_pt2e(prepared)
    got, calls, _ = compiled(converted, x)
    assert len(calls) == case.operators
    with torch.no_grad():
        assert sqnr(converted(x), got) > 35


@pytest.mark.values
@pytest.mark.parametrize("name", ["residual mlp", "convnet"])
def test_lowered_by_torchao(name):
    """Its passes alone give a graph that runs in eager mode, and that compiles."""
    case = MODELS[name]
    converted, x = quantize(case, x86(), "xpu")
    with torch.no_grad():
        expected_of_graph = converted(x)
        before = x.clone()
        lowered = lowered_by_torchao(converted, x)
        targets = [str(node.target) for node in lowered.graph.nodes]
        assert sum("_pointwise" in target for target in targets) == case.operators
        assert not any("prepack" in target for target in targets)
        assert sqnr(expected_of_graph, lowered(x)) > 35
        assert torch.equal(x, before)
    got, calls, _ = compiled(lowered, x)
    assert len(calls) == case.operators
    assert sqnr(expected_of_graph, got) > 35


@pytest.mark.values
@pytest.mark.parametrize("name", ["mlp", "residual mlp", "pooled", "residual"])
def test_reduced_range(name):
    """Layers know that their inputs have no numbers over 127, and their results get none."""
    case = MODELS[name]
    converted, x = quantize(case, x86(reduce_range=True), "xpu")
    x = 3 * x  # beyond the calibrated range
    got, calls, code = compiled(converted, x)
    assert len(calls) == case.operators
    lines = [line for line in code.splitlines() if CALL.search(line)]
    assert all(";x<128" in line for line in lines)
    assert any(";y<128" in line for line in lines)
    with torch.no_grad():
        assert sqnr(converted(x), got) > 35
        lowered = lowered_by_torchao(converted, x)
        assert sqnr(converted(x), lowered(x)) > 35


@pytest.mark.values
def test_inputs_of_a_graph_keep_their_values():
    """A sum with a linear layer writes to no input, as it does on the CPU."""
    case = LINEAR["residual mlp"]
    converted, x = quantize(case, x86(), "xpu")
    before = x.clone()
    _, calls, _ = compiled(converted, x)
    assert ("qlinear_pointwise", "binary_tensor") in calls
    assert torch.equal(x, before)


@pytest.mark.values
def test_pooling_reads_and_writes_integers():
    case = CONVOLUTIONS["pooled"]
    converted, x = quantize(case, x86(), "xpu")
    _, _, code = compiled(converted, x)
    assert not re.search(r"torch\.ops\.\w+\.\w*max_pool2d", code)


@pytest.mark.values
def test_weights_of_fp16_stay_with_the_products():
    """The CPU's operator of fp16 weights has no counterpart on xpu."""
    case = LINEAR["mlp"]
    quantizer = pt2e.X86InductorQuantizer().set_global(
        pt2e.get_x86_inductor_linear_dynamic_fp16_config()
    )
    converted, x = quantize(case, quantizer, "xpu")
    got, calls, code = compiled(converted, x)
    assert not calls
    assert "dynamic_fp16" not in code
    assert sqnr(expected(case), got) > 50


@pytest.mark.values
@pytest.mark.parametrize("mode", [None, "reduce-overhead"])
def test_captured_graphs(mode):
    case = MODELS["residual"]
    converted, x = quantize(case, x86(), "xpu")
    with torch.no_grad(), torch._inductor.config.patch(FROZEN):
        function = torch.compile(converted, mode=mode)
        first = function(x).clone()
        for _ in range(4):
            assert torch.equal(function(x), first)


def test_weights_with_zero_points_are_rejected():
    class Asymmetric(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.register_buffer("numbers", torch.ones(16, 32, dtype=torch.int8))
            self.register_buffer("scales", torch.ones(16))
            self.register_buffer("zeros", torch.ones(16, dtype=torch.int64))

        def forward(self, x):
            q = torch.ops.quantized_decomposed
            x = q.quantize_per_tensor(x, 0.1, 3, 0, 255, torch.uint8)
            x = q.dequantize_per_tensor(x, 0.1, 3, 0, 255, torch.uint8)
            w = q.dequantize_per_channel(
                self.numbers, self.scales, self.zeros, 0, -128, 127, torch.int8
            )
            return torch.nn.functional.linear(x, w)

    x = torch.ones(4, 32, device="xpu")
    with pytest.raises(Exception, match="quantize them symmetrically"):
        compiled(Asymmetric().xpu().eval(), x)
