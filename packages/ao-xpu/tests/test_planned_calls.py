"""Calls of quantized layers whose plans exist: each takes the path that its arguments and its thread want."""

from concurrent.futures import ThreadPoolExecutor

import pytest
import torch
from test_linear_plans import BF16, CASES, activations, change_in_place, every_case, make_layer
from torch.nn.functional import linear
from xpu_testing import run_child

DYNAMIC = ("int8 dynamic", "float8 rows")
weight_only = pytest.mark.parametrize("name", [name for name in CASES if name not in DYNAMIC])


def planned_layer(name, bias=True):
    layer = make_layer(name, bias)
    layer(activations())
    return layer


def expected_product(layer, x):
    bias = layer.bias.cpu().double() if layer.bias is not None else 0
    return x.cpu().double() @ layer.weight.dequantize().cpu().double().t() + bias


@pytest.mark.values
@every_case
@pytest.mark.parametrize("shape", [(3, 64), (2, 5, 64), (40, 64)])
def test_inputs_that_are_not_contiguous(name, shape):
    layer = planned_layer(name)
    x = activations(*shape)
    for given in (
        x.mT.contiguous().mT,
        x.repeat_interleave(2, -1)[..., ::2],
        x[..., :1, :].expand(shape),
    ):
        assert not given.is_contiguous()
        torch.testing.assert_close(layer(given), layer(given.contiguous()), atol=0.01, rtol=0.01)


@pytest.mark.values
@weight_only
@pytest.mark.parametrize("dtype", [torch.float32, torch.float16])
def test_inputs_of_another_type(name, dtype):
    if name == "preshuffled":
        pytest.skip("the class has no dequantize")
    layer = planned_layer(name)
    x = activations().to(dtype)
    got = layer(x)
    assert got.dtype == dtype
    torch.testing.assert_close(got.cpu().double(), expected_product(layer, x), atol=0.01, rtol=0.01)


@every_case
def test_inputs_on_another_device(name):
    layer = planned_layer(name)
    plain = torch.nn.Linear(64, 32, device="xpu", dtype=BF16)
    for one in (plain, layer):
        with pytest.raises(RuntimeError, match="device"):
            one(activations().cpu())


@every_case
def test_wrong_bias(name):
    layer = planned_layer(name)
    with pytest.raises((RuntimeError, ValueError)):
        linear(activations(), layer.weight, layer.bias[:5])
    with pytest.raises(RuntimeError, match="device"):
        linear(activations(), layer.weight, layer.bias.cpu())


@pytest.mark.values
@weight_only
def test_gradients(name):
    layer = planned_layer(name)
    layer.bias.requires_grad_()
    x, gradient = activations().requires_grad_(), activations(3, 32)
    layer(x).backward(gradient)
    assert torch.equal(layer.bias.grad, gradient.sum(0))
    unit = torch.eye(64, device="xpu", dtype=BF16)
    with torch.no_grad():
        weight = linear(unit, layer.weight).t()
    torch.testing.assert_close(x.grad, gradient @ weight, atol=0.05, rtol=0.05)


@every_case
def test_modes_of_functions_see_the_call(name):
    layer, seen = planned_layer(name), []

    class Mode(torch.overrides.TorchFunctionMode):
        def __torch_function__(self, func, types, args=(), kwargs=None):
            seen.append(func)
            return func(*args, **(kwargs or {}))

    with Mode():
        layer(activations())
    assert linear in seen
    with torch.device("xpu"):
        assert layer(activations()).shape == (3, 32)


@every_case
def test_profiles_name_the_operator(name):
    layer, x = planned_layer(name), activations()
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU]) as profile:
        layer(x)
    operator = "dynamic_linear" if name in DYNAMIC else "low_bit_linear"
    assert f"torch_xpu::{operator}" in {event.name for event in profile.events()}


@pytest.mark.values
@every_case
@pytest.mark.parametrize("is_planned", [False, True])
def test_captured_calls(name, is_planned):
    layer, x = make_layer(name), activations()
    expected = make_layer(name)(x)
    if is_planned:
        layer(x)
    graph = torch.xpu.XPUGraph()
    with torch.xpu.graph(graph):
        got = layer(x)
    graph.replay()
    assert torch.equal(got, expected)
    x.mul_(2)
    change_in_place(name, layer)
    graph.replay()
    assert torch.equal(got, 4 * expected)
    del graph, got
    assert torch.equal(layer(x), 4 * expected)


@pytest.mark.values
@every_case
def test_threads(name):
    layer, x = make_layer(name), activations()
    expected = make_layer(name)(x)
    torch.xpu.synchronize()

    def run(_):
        with torch.inference_mode(), torch.xpu.stream(torch.xpu.Stream()):
            equal = [torch.equal(layer(x), expected) for _ in range(20)]
            torch.xpu.current_stream().synchronize()
        return all(equal)

    with ThreadPoolExecutor(4) as pool:
        assert all(pool.map(run, range(4)))


@pytest.mark.values
@weight_only
def test_a_bias_of_another_type(name):
    layer, x = planned_layer(name), activations()
    got = linear(x, layer.weight, layer.bias.float())
    assert torch.equal(got, layer(x))


@pytest.mark.parametrize("name", DYNAMIC)
def test_a_bias_with_a_gradient_is_recorded(name):
    layer = planned_layer(name)
    layer.bias.requires_grad_()
    layer(activations()).sum().backward()
    assert torch.equal(layer.bias.grad, torch.full_like(layer.bias, 3))


def test_a_forked_child_cannot_call_the_layer():
    run_child(
        """
import os, torch
from torchao.quantization import Int8WeightOnlyConfig, quantize_

layer = torch.nn.Linear(64, 32, device="xpu", dtype=torch.bfloat16)
quantize_(layer, Int8WeightOnlyConfig())
x = torch.ones(1, 64, device="xpu", dtype=torch.bfloat16)
with torch.no_grad():
    layer(x)
    if os.fork() == 0:
        try:
            layer(x)
        except RuntimeError as error:
            os._exit(0 if "spawn" in str(error) else 3)
        os._exit(4)
assert os.waitstatus_to_exitcode(os.wait()[1]) == 0
"""
    ).check()
