"""Weights of one to seven bits: their elements, products, files, devices and faults."""

import copy
import io
import warnings

import pytest
import reference
import torch
from torchao.prototype.quantization import UIntxWeightOnlyConfig
from torchao.quantization import (
    Int8DynamicActivationIntxWeightConfig,
    IntxUnpackedToInt8Tensor,
    IntxWeightOnlyConfig,
    MappingType,
    PerAxis,
    PerGroup,
    quantize_,
)
from torchao.quantization.quantize_.workflows import IntxChooseQParamsAlgorithm
from xpu_testing import values_checked

from ao_xpu.intx import packed_linear
from ao_xpu.intx.packed_tensor import IntxPackedTensor, from_numbers, pack

BITS = range(1, 8)
BF16, F16, F32 = torch.bfloat16, torch.float16, torch.float32
ROWS, COLUMNS = 24, 192


def config(bits, group=64, **options):
    """One bit rounds every element to 0 unless zero points are chosen."""
    options = {
        "mapping_type": MappingType.ASYMMETRIC if bits == 1 else MappingType.SYMMETRIC
    } | options
    return IntxWeightOnlyConfig(getattr(torch, f"int{bits}"), PerGroup(group), **options)


def make_layer(bits, group=64, dtype=BF16, **options):
    torch.manual_seed(0)
    layer = torch.nn.Linear(COLUMNS, ROWS, dtype=dtype, device="xpu").requires_grad_(False)
    original = layer.weight.detach().cpu()
    quantize_(layer, config(bits, group, **options))
    return layer, original


def activations(*shape, dtype=BF16):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(1)).to("xpu", dtype)


def unpacked(bits, group, dtype, float_zero=False):
    """Return a tensor of torchao's own class of any numbers of the bits, on the CPU."""
    generator = torch.Generator().manual_seed(bits)
    shape, half = (ROWS, COLUMNS), 1 << bits - 1
    numbers = torch.randint(-half, half, shape, generator=generator, dtype=torch.int8)
    blocks = (ROWS, COLUMNS // group)
    scale = (torch.rand(blocks, generator=generator) + 0.5).to(dtype)
    zero_point = torch.randint(-half, half, blocks, generator=generator, dtype=torch.int8)
    if float_zero:
        zero_point = zero_point.to(dtype) + 0.25
    kind = getattr(torch, f"int{bits}")
    return IntxUnpackedToInt8Tensor(numbers, scale, zero_point, kind, (1, group), dtype, None)


def elements(weight):
    """Return the elements of a weight of torchao's class in float64."""
    numbers = weight.qdata.double().unflatten(1, (weight.scale.shape[1], -1))
    scale, zero_point = (p.double().unsqueeze(-1) for p in (weight.scale, weight.zero_point))
    return (scale * (numbers - zero_point)).flatten(1)


@pytest.mark.values
@pytest.mark.parametrize("dtype", [BF16, F16, F32], ids=str)
@pytest.mark.parametrize("group", [8, 32, 64, COLUMNS])
@pytest.mark.parametrize("bits", BITS)
def test_elements_and_products_are_exact(bits, group, dtype):
    for float_zero in (False, True):
        stock = unpacked(bits, group, dtype, float_zero)
        weight, expected = pack(stock.to("xpu"), bits), elements(stock)
        assert weight.qdata.shape == (ROWS, COLUMNS * bits // 8)
        torch.testing.assert_close(
            weight.dequantize(F32).cpu().double(), expected, rtol=1e-6, atol=1e-6
        )
        for rows in (1, 5, 40):
            x = activations(rows, COLUMNS, dtype=dtype)
            got = torch.nn.functional.linear(x, weight)
            exact = x.cpu().double() @ expected.t()
            assert reference.sqnr(exact, got) > (80 if dtype == F32 else 45)


@pytest.mark.values
@pytest.mark.parametrize("mapping", [MappingType.SYMMETRIC, MappingType.ASYMMETRIC], ids=str)
@pytest.mark.parametrize("group", [32, 192])
@pytest.mark.parametrize("bits", BITS)
def test_configs_keep_what_the_scheme_keeps(bits, group, mapping):
    for dtype in (BF16, F16, F32):
        layer, original = make_layer(bits, group, dtype, mapping_type=mapping)
        on_cpu = torch.nn.Linear(COLUMNS, ROWS, dtype=dtype)
        on_cpu.weight = torch.nn.Parameter(original)
        quantize_(on_cpu, config(bits, group, mapping_type=mapping))
        assert type(layer.weight) is IntxPackedTensor
        assert type(on_cpu.weight) is IntxUnpackedToInt8Tensor
        expected = on_cpu.weight.dequantize()
        if dtype == F32:
            expected = reference.intx(original, bits, group, mapping is MappingType.SYMMETRIC)
        found = reference.sqnr(original, layer.weight.dequantize(F32))
        assert found > reference.sqnr(original, expected) - 0.3


@pytest.mark.values
@pytest.mark.parametrize(
    "options",
    [
        {"intx_choose_qparams_algorithm": IntxChooseQParamsAlgorithm.HQQ_SCALE_ONLY},
        {"scale_dtype": torch.float32},
    ],
    ids=str,
)
def test_options_of_the_config(options):
    layer, original = make_layer(3, **options)
    assert type(layer.weight) is IntxPackedTensor
    assert layer.weight.scale.dtype == options.get("scale_dtype", BF16)
    expected = reference.sqnr(original, reference.intx(original, 3, 64))
    assert reference.sqnr(original, layer.weight.dequantize(F32)) > expected - 0.3


@pytest.mark.values
@pytest.mark.parametrize("bits", BITS)
def test_rows_are_quantized_by_pieces(bits, monkeypatch):
    expected, _ = make_layer(bits)
    monkeypatch.setattr("ao_xpu.intx.configs.PIECE", 5 * COLUMNS)
    got, _ = make_layer(bits)
    for name in IntxPackedTensor.tensor_data_names:
        assert torch.equal(getattr(got.weight, name), getattr(expected.weight, name))


@pytest.mark.values
@pytest.mark.parametrize("bits", BITS)
def test_rows_are_expanded_by_pieces(bits, monkeypatch):
    layer, _ = make_layer(bits)
    x = activations(20, COLUMNS)
    expected, of_weight = layer(x), layer.weight.dequantize()
    monkeypatch.setattr(packed_linear, "MAX_EXPANDED", 7 * COLUMNS)
    torch.testing.assert_close(layer(x), expected)
    assert torch.equal(layer.weight.dequantize(), of_weight)


@pytest.mark.values
@pytest.mark.parametrize("bits", BITS)
def test_activations_may_be_quantized(bits):
    torch.manual_seed(0)
    layer = torch.nn.Linear(COLUMNS, ROWS, dtype=BF16, device="xpu").requires_grad_(False)
    kind, asymmetric = getattr(torch, f"int{bits}"), MappingType.ASYMMETRIC
    config = Int8DynamicActivationIntxWeightConfig(kind, weight_mapping_type=asymmetric)
    quantize_(layer, config)
    x = activations(5, COLUMNS)
    weight = layer.weight
    assert (type(weight), weight.activation_quantization) == (
        IntxPackedTensor,
        "int8_asym_per_token",
    )
    exact = torch.nn.functional.linear(x, weight.dequantize(), layer.bias)
    assert 30 < reference.sqnr(exact, layer(x)) < 60
    assert layer(x[:0]).shape == (0, ROWS)


@pytest.mark.values
@pytest.mark.parametrize("bits", BITS)
def test_files_copies_and_devices(bits):
    layer, _ = make_layer(bits)
    x = activations(3, COLUMNS)
    expected, file = layer(x), io.BytesIO()
    torch.save(layer.state_dict(), file)
    file.seek(0)
    loaded = torch.nn.Linear(COLUMNS, ROWS, dtype=BF16, device="xpu")
    loaded.load_state_dict(torch.load(file, weights_only=True), assign=True)
    copied, _ = make_layer(bits)
    copied.weight.qdata.zero_()
    copied.load_state_dict(layer.state_dict())
    on_cpu = copy.deepcopy(layer).cpu()
    for other in (loaded, copied, copy.deepcopy(layer), copy.deepcopy(on_cpu).xpu()):
        assert type(other.weight) is IntxPackedTensor
        assert torch.equal(other(x), expected)
    assert on_cpu.weight.device.type == on_cpu.weight.qdata.device.type == "cpu"
    assert reference.sqnr(expected, on_cpu(x.cpu())) > 45
    assert torch.equal(on_cpu.weight.dequantize(), layer.weight.dequantize().cpu())
    halves = copy.deepcopy(layer).to(F16)
    assert halves.weight.dtype == halves.weight.scale.dtype == F16
    assert reference.sqnr(expected, halves(x.half())) > 40


def test_files_of_safetensors():
    from torchao.prototype.safetensors import safetensors_support

    layer = torch.nn.Sequential(make_layer(3)[0])
    parts, metadata = safetensors_support.flatten_tensor_state_dict(layer.state_dict())
    assert all(type(part) in (torch.Tensor, torch.nn.Parameter) for part in parts.values())
    state, _ = safetensors_support.unflatten_tensor_state_dict(parts, metadata)
    assert type(state["0.weight"]) is IntxPackedTensor
    assert torch.equal(state["0.weight"].dequantize(), layer[0].weight.dequantize())


@pytest.mark.values
@pytest.mark.parametrize("bits", BITS)
@pytest.mark.parametrize("is_compiled", [False, True])
def test_gradients_reach_activations_and_bias(bits, is_compiled):
    torch._dynamo.reset()
    layer, _ = make_layer(bits)
    layer.bias.requires_grad_()
    called = torch.compile(layer, backend="aot_eager", fullgraph=True) if is_compiled else layer
    x, y = activations(2, 3, COLUMNS).requires_grad_(), activations(2, 3, ROWS)
    called(x).backward(y)
    assert reference.sqnr(y @ layer.weight.dequantize(), x.grad) > 38
    assert reference.sqnr(y.sum((0, 1)), layer.bias.grad) > 38


def test_what_training_saves_is_packed():
    """Adapters are trained over large models: no activation keeps an expanded weight."""
    layer, _ = make_layer(3)
    saved = []
    x = activations(4, COLUMNS).requires_grad_()
    with torch.autograd.graph.saved_tensors_hooks(lambda t: saved.append(t) or t, lambda t: t):
        layer(x)
    assert saved
    assert all(t.numel() <= x.numel() or type(t) is IntxPackedTensor for t in saved)


@pytest.mark.parametrize("bits", [3, 4])
def test_autocast_has_its_type(bits):
    layer, _ = make_layer(bits, dtype=F32)
    x = activations(4, COLUMNS, dtype=F32)
    with torch.autocast("xpu", BF16):
        got = layer(x)
        trained = layer(x.clone().requires_grad_())
    assert got.dtype == trained.dtype == BF16
    torch.testing.assert_close(got.float(), layer(x), rtol=0.05, atol=0.05)
    torch.testing.assert_close(trained.detach(), got, rtol=0.02, atol=0.02)


@pytest.mark.values
@pytest.mark.parametrize("bits", BITS)
def test_embeddings_gather_packed_rows(bits):
    torch.manual_seed(0)
    layer = torch.nn.Embedding(50, 64, padding_idx=0, dtype=BF16, device="xpu")
    options = {"filter_fn": lambda module, _: isinstance(module, torch.nn.Embedding)}
    quantize_(layer, config(bits, 32), **options)
    assert type(layer.weight) is IntxPackedTensor
    places = torch.tensor([[3, 49, 0], [7, 7, 1]], device="xpu")
    expected = layer.weight.dequantize()[places]
    assert torch.equal(layer(places), expected)
    assert torch.equal(torch.ops.aten.embedding(layer.weight, places), expected)
    assert torch.equal(copy.deepcopy(layer).cpu()(places.cpu()), expected.cpu())
    assert layer(places[:0]).shape == (0, 3, 64)
    layer.max_norm = 1.0
    with pytest.raises(NotImplementedError, match="max_norm"):
        layer(places)


@pytest.mark.parametrize("kind", ["axis", "group"])
def test_rows_that_are_not_whole_bytes_stay_bytes(kind):
    granularity = PerAxis(0) if kind == "axis" else PerGroup(4)
    layer = torch.nn.Linear(20, 6, dtype=BF16, device="xpu")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        quantize_(layer, IntxWeightOnlyConfig(torch.int3, granularity))
    assert type(layer.weight) is IntxUnpackedToInt8Tensor
    assert layer(activations(2, 20)).shape == (2, 6)


@pytest.mark.parametrize(
    "make", [IntxWeightOnlyConfig, Int8DynamicActivationIntxWeightConfig], ids=str
)
def test_rows_that_are_no_groups_are_named(make):
    layers = torch.nn.Sequential(torch.nn.Linear(72, 6)).to("xpu", BF16)
    with pytest.warns(UserWarning, match=r"0 \(rows of 72 elements are no groups of 64\)"):
        quantize_(layers, make(torch.int3, PerGroup(64)))
    assert type(layers[0].weight) is torch.nn.Parameter


def test_eight_bits_and_other_devices_keep_the_class_of_torchao():
    assert type(make_layer(8)[0].weight) is IntxUnpackedToInt8Tensor
    on_cpu = torch.nn.Linear(64, 8)
    quantize_(on_cpu, config(3))
    assert type(on_cpu.weight) is IntxUnpackedToInt8Tensor


@pytest.mark.values
@pytest.mark.parametrize("value", [0.0, 1.5, float("nan"), float("inf")])
@pytest.mark.parametrize("bits", [2, 3, 4, 7])
def test_groups_without_range(bits, value):
    """What is no number stays in the group that has it, though its bits lie among others."""
    torch.manual_seed(0)
    layer = torch.nn.Linear(128, 8, bias=False, dtype=BF16, device="xpu")
    with torch.no_grad():
        layer.weight[3, 64:] = value
    weight = layer.weight.detach().cpu()
    quantize_(layer, config(bits, mapping_type=MappingType.ASYMMETRIC))
    got = layer.weight.dequantize(F32).cpu()
    mask = torch.ones(8, 128, dtype=torch.bool)
    mask[3, 64:] = False
    assert reference.sqnr(weight[mask], got[mask]) > 4 * bits - 2
    if value - value == 0:
        torch.testing.assert_close(got[3, 64:], weight[3, 64:].float(), atol=1e-4, rtol=0.01)
    else:
        assert not got[3, 64:].isfinite().any()


def test_memory_of_uintx():
    """HQQ makes many copies, of some rows at a time: they are no more than two layers."""
    layer = torch.nn.Linear(512, 512, False, "xpu", BF16).requires_grad_(False)
    size, before = layer.weight.nbytes, torch.xpu.memory_allocated()
    torch.xpu.reset_peak_memory_stats()
    quantize_(layer, UIntxWeightOnlyConfig(set_inductor_config=False))
    torch.xpu.synchronize()
    assert torch.xpu.max_memory_allocated() - before <= 2 * size
    parts = [getattr(layer.weight, name) for name in IntxPackedTensor.tensor_data_names]
    assert size / sum(part.nbytes for part in parts) >= 0.9 * 16 / 4


@pytest.mark.values
def test_given_zero_points_may_be_large():
    stock = unpacked(5, 64, F32)
    stock.zero_point = torch.full_like(stock.zero_point, 120)
    got = pack(stock.to("xpu"), 5).dequantize()
    torch.testing.assert_close(got.cpu().double(), elements(stock), rtol=1e-6, atol=1e-6)


def test_parts_that_do_not_belong_together_are_rejected():
    weight = make_layer(3)[0].weight
    parts, rest = [weight.qdata, weight.scale, weight.zero_point], (3, (1, 64), 1, BF16)
    for wrong, message in (
        (([parts[0][:, :-1], *parts[1:]], rest), "71 bytes are no groups of 8 numbers of 3 bits"),
        (([parts[0], parts[1][:-1], parts[2]], rest), r"scale: got shape \(23, 3\) for elements"),
        (([*parts[:2], parts[2].t()], rest), r"zero_point: got shape \(3, 24\)"),
        ((parts, (9, *rest[1:])), "got 9 bits"),
        (([parts[0].to(torch.int8), *parts[1:]], rest), r"of torch\.int8"),
        ((parts, (3, (1, 60), 1, BF16)), r"in blocks of \(1, 60\)"),
        ((parts, (3, (64,), 1, BF16)), "2 dimensions"),
        ((parts, (3, (1, 64), 2, BF16)), "packed_dim=2"),
        (([parts[0], *(p[:12] for p in parts[1:])], (3, (2, 64), 1, BF16)), "no groups along"),
    ):
        with pytest.raises(ValueError, match=message):
            IntxPackedTensor(*wrong[0], *wrong[1])


def test_states_of_others_are_rejected():
    state = make_layer(3)[0].state_dict()
    for other in (make_layer(5)[0], make_layer(3, 32)[0]):
        with pytest.raises(RuntimeError, match="metadata mismatch"):
            other.load_state_dict(state)
    with pytest.raises(RuntimeError, match="size mismatch"):
        torch.nn.Linear(COLUMNS, 8, dtype=BF16, device="xpu").load_state_dict(state)


def test_a_weight_is_packed_once():
    layer, _ = make_layer(3)
    with pytest.raises(ValueError, match="quantized already"):
        quantize_(layer, config(3))


@pytest.mark.parametrize("bits", BITS)
def test_numbers_beyond_the_bits_do_not_reach_others(bits):
    numbers = torch.full((2, 16), 1 << bits - 1, dtype=torch.uint8, device="xpu")
    parameters = (torch.ones(2, 1, device="xpu"), torch.zeros(2, 1, device="xpu"))
    expected = from_numbers(numbers, *parameters, bits, F32).dequantize()
    numbers[:, 5] = 255
    got = from_numbers(numbers, *parameters, bits, F32).dequantize()
    if values_checked():
        assert torch.equal(got[:, 5].cpu(), torch.full((2,), 2.0**bits - 1))
        expected[:, 5] = got[:, 5]
        assert torch.equal(got, expected)
