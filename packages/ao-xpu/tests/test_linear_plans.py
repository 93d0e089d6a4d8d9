"""Plans of linear layers: none outlives a change of its weight, a trace or a transform."""

import copy
import gc
import io
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
import torch
from torch.fx.experimental.proxy_tensor import make_fx
from torchao.quantization import (
    Float8DynamicActivationFloat8WeightConfig,
    Float8WeightOnlyConfig,
    Int4WeightOnlyConfig,
    Int8DynamicActivationInt8WeightConfig,
    Int8WeightOnlyConfig,
    IntxWeightOnlyConfig,
    PerGroup,
    PerRow,
    quantize_,
)

from ao_xpu import linear_plans

BF16 = torch.bfloat16


def int4(packing):
    return Int4WeightOnlyConfig(group_size=32, int4_packing_format=packing)


# A config, and the parts that a product is proportional to.
CASES = {
    "int4": (int4("plain"), ("scale", "zero_point")),
    "preshuffled": (int4("preshuffled"), ("group_scale", "group_zero")),
    "plain_int32": (int4("plain_int32"), ("scale",)),
    "tile_packed": (int4("tile_packed_to_4d"), ("scale_and_zero",)),
    "int8": (Int8WeightOnlyConfig(), ("scale",)),
    "int8 dynamic": (Int8DynamicActivationInt8WeightConfig(), ("scale",)),
    "float8": (Float8WeightOnlyConfig(), ("scale",)),
    "float8 rows": (Float8DynamicActivationFloat8WeightConfig(granularity=PerRow()), ("scale",)),
    "int4 of intx": (IntxWeightOnlyConfig(torch.int4, PerGroup(32)), ("scale",)),
    "int3 of intx": (IntxWeightOnlyConfig(torch.int3, PerGroup(32)), ("scale",)),
}
every_case = pytest.mark.parametrize("name", CASES)


def make_layer(name, bias=False):
    torch.manual_seed(0)
    layer = torch.nn.Linear(64, 32, bias, "xpu", BF16).requires_grad_(False)
    quantize_(layer, CASES[name][0])
    return layer


def activations(*shape):
    return torch.randn(*(shape or (3, 64)), device="xpu", dtype=BF16)


def replace(name, layer):
    for part in CASES[name][1]:
        setattr(layer.weight, part, getattr(layer.weight, part) * 2)


def change_in_place(name, layer):
    for part in CASES[name][1]:
        getattr(layer.weight, part).mul_(2)


def give_other_memory(name, layer):
    for part in CASES[name][1]:
        tensor = getattr(layer.weight, part)
        tensor.data = tensor * 2


def doubled(name, layer):
    other = copy.deepcopy(layer)
    change_in_place(name, other)
    return other


def load(name, layer):
    layer.load_state_dict(doubled(name, layer).state_dict())


def assign(name, layer):
    layer.load_state_dict(doubled(name, layer).state_dict(), assign=True)


def swap(name, layer):
    torch.utils.swap_tensors(layer.weight, doubled(name, layer).weight)


def move(name, layer):
    layer.cpu()
    change_in_place(name, layer)
    layer.xpu()


@pytest.mark.values
@every_case
@pytest.mark.parametrize(
    "change", [replace, change_in_place, give_other_memory, load, assign, swap, move]
)
def test_changes_of_a_weight(name, change):
    layer, x = make_layer(name), activations()
    before = layer(x)
    assert torch.equal(layer(x), before)
    change(name, layer)
    assert torch.equal(layer(x), 2 * before)


def saved_and_loaded(layer):
    file = io.BytesIO()
    torch.save(layer.state_dict(), file)
    file.seek(0)
    other = torch.nn.Linear(64, 32, False, "meta", BF16)
    other.load_state_dict(torch.load(file, weights_only=True), assign=True)
    return other


def cloned(layer):
    other = torch.nn.Linear(64, 32, False, "meta", BF16)
    other.weight = torch.nn.Parameter(layer.weight.clone(), requires_grad=False)
    return other


@pytest.mark.values
@every_case
@pytest.mark.parametrize("make_copy", [copy.deepcopy, saved_and_loaded, cloned])
def test_copies_of_a_weight(name, make_copy):
    layer, x = make_layer(name), activations()
    before = layer(x)
    other = make_copy(layer)
    change_in_place(name, layer)
    assert torch.equal(other(x), before)
    assert torch.equal(layer(x), 2 * before)


@pytest.mark.values
@pytest.mark.parametrize("name", [name for name in CASES if name != "preshuffled"])
def test_slices_of_a_weight(name):
    layer, x = make_layer(name), activations()
    before = layer(x)
    rows = layer.weight[8:24]
    assert torch.equal(torch.nn.functional.linear(x, rows), before[:, 8:24])


@pytest.mark.values
def test_weights_that_share_their_data():
    layer, x = make_layer("int8"), activations()
    before = layer(x)
    weight = layer.weight
    other = type(weight)(
        weight.qdata, 2 * weight.scale, weight.block_size, BF16, zero_point=weight.zero_point
    )
    for _ in range(2):
        assert torch.equal(torch.nn.functional.linear(x, other), 2 * before)
        assert torch.equal(layer(x), before)


@pytest.mark.values
@pytest.mark.parametrize("name", ["int4", "plain_int32", "tile_packed", "int8", "int8 dynamic"])
def test_a_scale_of_activations_that_is_set_later(name):
    layer, x = make_layer(name), activations()
    before = layer(x)
    layer.weight.act_pre_scale = torch.full((64,), 2, device="xpu", dtype=BF16)
    assert torch.equal(layer(x), 2 * before)


@every_case
def test_plans_end_with_their_weights(name):
    gc.collect()
    before = set(linear_plans._plans)
    layer = make_layer(name)
    layer(activations())
    assert len(set(linear_plans._plans) - before) == 1
    replace(name, layer)
    layer(activations())
    assert len(set(linear_plans._plans) - before) == 1
    del layer
    gc.collect()
    assert not set(linear_plans._plans) - before


def compiled(layer, x):
    return torch.compile(layer, backend="aot_eager", fullgraph=True)(x)


def exported(layer, x):
    return torch.export.export(layer, (x,)).module()(x)


def traced(layer, x):
    return make_fx(layer)(x)(x)


def functionalized(layer, x):
    return torch.func.functionalize(layer)(x)


def vmapped(layer, x):
    return torch.func.vmap(layer)(x)


@pytest.mark.values
@pytest.mark.parametrize("name", ["int4", "plain_int32", "int8", "float8", "int4 of intx"])
@pytest.mark.parametrize("first", [compiled, exported, traced, functionalized, vmapped])
def test_traces_and_transforms_before_and_after_a_call(name, first):
    layer, x = make_layer(name), activations()
    with torch.no_grad():
        expected = copy.deepcopy(layer)(x)
        for _ in range(2):
            torch.testing.assert_close(first(layer, x), expected, atol=0.02, rtol=0.02)
            assert torch.equal(layer(x), expected)


@pytest.mark.values
@pytest.mark.parametrize("name", ["int4", "plain_int32", "tile_packed", "int8", "float8"])
def test_a_first_call_in_inference_mode_has_gradients_later(name):
    layer, x = make_layer(name, bias=True), activations()
    with torch.inference_mode():
        layer(x)
    x.requires_grad_()
    gradient = activations(3, 32)
    layer(x).backward(gradient)
    dense = layer.weight.dequantize().cpu().double()
    expected = (gradient.cpu().double() @ dense).to(BF16)
    torch.testing.assert_close(x.grad.cpu(), expected, atol=0.05, rtol=0.05)


@every_case
def test_autocast_after_a_call(name):
    layer = make_layer(name, bias=True)
    layer(activations())
    with torch.autocast("xpu", torch.float16):
        assert layer(activations().float()).dtype == torch.float16
    assert layer(activations()).dtype == BF16


@every_case
def test_other_activations_after_a_call(name):
    layer = make_layer(name, bias=True)
    layer(activations())
    assert layer(activations(2, 0, 64)).shape == (2, 0, 32)
    assert layer(activations(2, 5, 64)).shape == (2, 5, 32)
    assert layer(activations(64)).shape == (32,)
    with pytest.raises((RuntimeError, ValueError)):
        layer(activations(3, 32))


@every_case
def test_first_calls_of_several_threads(name):
    """Threads plan at once, on streams of their own; later one of them replaces a part."""
    layer = make_layer(name, bias=True)
    x = activations(5, 64)
    expected = copy.deepcopy(layer)(x)
    torch.xpu.synchronize()
    start = threading.Barrier(4)

    def call():
        start.wait()
        with torch.xpu.stream(torch.xpu.Stream()), torch.inference_mode():
            return [layer(x) for _ in range(20)]

    with ThreadPoolExecutor(4) as pool:
        calls = [pool.submit(call) for _ in range(4)]
    torch.xpu.synchronize()
    for results in calls:
        for result in results.result():
            torch.testing.assert_close(result, expected, rtol=0, atol=0)
    replace(name, layer)
    bias = layer.bias
    torch.testing.assert_close(layer(x) - bias, 2 * (expected - bias), rtol=0.02, atol=0.02)
