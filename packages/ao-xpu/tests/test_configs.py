"""Configs as they come: results, files, copies, devices, shapes of activations."""

import copy
import io

import pytest
import reference
import torch
import torch_xpu
from schemes import CASES, SCHEMES, int4
from torchao.quantization import (
    Float8DynamicActivationFloat8WeightConfig,
    Float8DynamicActivationInt4WeightConfig,
    Int4PreshuffledTensor,
    Int4Tensor,
    Int4TilePackedTo4dTensor,
    Int4WeightOnlyConfig,
    Int8DynamicActivationInt8WeightConfig,
    PerRow,
    quantize_,
)

BF16_SCHEMES = [scheme for scheme in SCHEMES if torch.bfloat16 in scheme.dtypes]


def ids(value):
    return str(getattr(value, "name", value)).removeprefix("torch.")


def small_model(dtype=torch.bfloat16, device="xpu"):
    torch.manual_seed(0)
    layers = (torch.nn.Linear(256, 384), torch.nn.GELU(), torch.nn.Linear(384, 128))
    return torch.nn.Sequential(*layers).to(device, dtype).requires_grad_(False)


def quantized(scheme, dtype=torch.bfloat16, device="xpu"):
    model = small_model(dtype, device)
    quantize_(model, scheme.config())
    return model


def activations(*shape, dtype=torch.bfloat16):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(1)).to(dtype)


@pytest.fixture(autouse=True)
def no_operator_on_the_host():
    torch_xpu.reset_fallbacks()
    yield
    assert not torch_xpu.fallbacks()


@pytest.mark.values
@pytest.mark.parametrize(("scheme", "dtype"), CASES, ids=ids)
def test_results_are_those_of_the_scheme(scheme, dtype):
    x = activations(32, 256, dtype=dtype)
    original = small_model(dtype, "cpu")
    exact = copy.deepcopy(original).double()(x.double())
    if scheme.quantize is None:
        expected = quantized(scheme, dtype, "cpu")(x)
    else:
        expected = reference.simulate(original, scheme.quantize, scheme.quantize_input)(x.double())
    got = quantized(scheme, dtype)(x.xpu())
    assert got.dtype == dtype
    assert reference.sqnr(exact, got) > reference.sqnr(exact, expected) - 0.3


STRIDES = {
    "transposed": lambda x: x.transpose(0, 1),
    "sliced": lambda x: x[:, ::2],
    "sliced along the rows": lambda x: torch.cat([x, x], -1)[..., 256:],
    "expanded": lambda x: x[:1].expand(3, -1, -1),
}


@pytest.mark.values
@pytest.mark.parametrize("view", STRIDES)
@pytest.mark.parametrize(
    "scheme",
    # PyTorch's product of two float8 matrices has no gradient.
    [s for s in BF16_SCHEMES if s.name not in ("float8 dynamic tensor", "float8 blocks")],
    ids=ids,
)
def test_layers_train_with_activations_of_any_strides(scheme, view):
    """Results and gradients, where the class has them, are those of contiguous copies."""
    layer = quantized(scheme)[0]
    pairs = []
    for contiguous in (True, False):
        x = activations(2, 4, 256).xpu().requires_grad_()
        given = STRIDES[view](x)
        got = layer(given.contiguous() if contiguous else given)
        if got.requires_grad:
            got.float().square().sum().backward()
        pairs.append((got.detach(), x.grad))
    for expected, got in zip(*pairs, strict=True):
        torch.testing.assert_close(got, expected, rtol=0.02, atol=0.02)


@pytest.mark.values
@pytest.mark.parametrize("scheme", BF16_SCHEMES, ids=ids)
def test_files_and_copies_are_bit_equal(scheme):
    x = activations(3, 256).xpu()
    model = quantized(scheme)
    expected = model(x)
    file = io.BytesIO()
    torch.save(model.state_dict(), file)
    loaded = small_model()
    file.seek(0)
    state = torch.load(file, weights_only=True)
    loaded.load_state_dict(state, assign=True)
    moved = copy.deepcopy(model).to("cpu").to("xpu")
    for other in (loaded, copy.deepcopy(model), moved):
        assert type(other[0].weight) is type(model[0].weight)
        assert torch.equal(other(x), expected)


@pytest.mark.parametrize("scheme", BF16_SCHEMES, ids=ids)
def test_activations_have_any_shape_and_strides(scheme):
    model = quantized(scheme)
    x = activations(2, 3, 4, 256).xpu()
    expected = model(x.view(24, 256))
    for shape in ((24, 256), (1, 24, 256), (6, 4, 256), (2, 3, 4, 256)):
        got = model(x.view(shape))
        assert got.shape == (*shape[:-1], 128)
        torch.testing.assert_close(got.view(24, 128), expected)
    transposed = x.view(24, 256).t().contiguous().t()
    assert not transposed.is_contiguous()
    torch.testing.assert_close(model(transposed), expected)
    torch.testing.assert_close(model(x.expand(2, 2, 3, 4, 256)[1]).view(24, 128), expected)
    assert model(x[:0].reshape(0, 256)).shape == (0, 128)


@pytest.mark.parametrize(
    "scheme",
    [s for s in BF16_SCHEMES if "dynamic" not in s.name and "blocks" not in s.name],
    ids=ids,
)
def test_a_single_row_may_have_one_dimension(scheme):
    model = quantized(scheme)
    x = activations(256).xpu()
    assert model(x).shape == (128,)
    torch.testing.assert_close(model(x), model(x[None])[0])


@pytest.mark.values
@pytest.mark.parametrize("packing", ["plain_int32", "tile_packed_to_4d"])
def test_hqq_is_better_than_rounding(packing):
    torch.manual_seed(0)
    weight = torch.randn(256, 1024).to(torch.bfloat16)
    ratios = []
    for algorithm in ("tinygemm", "hqq"):
        layer = torch.nn.Linear(1024, 256, bias=False, dtype=torch.bfloat16, device="xpu")
        layer.weight = torch.nn.Parameter(weight.xpu())
        quantize_(layer, int4(packing, algorithm)())
        ratios.append(reference.sqnr(weight, layer.weight.dequantize(torch.float32)))
    assert ratios[1] > ratios[0] + 0.3


@pytest.mark.values
@pytest.mark.parametrize(
    "scheme",
    [s for s in BF16_SCHEMES if s.name in ("int4 plain", "int4 tile_packed", "int8 rows")],
    ids=ids,
)
def test_scales_of_activations_are_applied(scheme):
    """AWQ and SmoothQuant leave them in the weights."""
    model, x = quantized(scheme), activations(4, 256).xpu()
    scale = torch.rand(256, device="xpu").bfloat16() + 0.5
    expected = model[0](x * scale)
    model[0].weight.act_pre_scale = scale
    assert torch.equal(model[0](x), expected)


@pytest.mark.values
@pytest.mark.parametrize("packing", ["plain", "plain_int32", "tile_packed_to_4d"])
def test_awq_scales_activations(packing):
    from torchao.prototype.awq import AWQConfig

    x = activations(64, 256).xpu() * torch.logspace(-1, 1, 256, device="xpu").bfloat16()
    expected, rounded, model = small_model()(x), small_model(), small_model()
    quantize_(rounded, int4(packing)())
    quantize_(model, AWQConfig(int4(packing)(), step="prepare"))
    model(x)
    quantize_(model, AWQConfig(int4(packing)(), step="convert"))
    assert model[0].weight.act_pre_scale is not None
    assert reference.sqnr(expected, model(x)) > reference.sqnr(expected, rounded(x)) - 0.5


@pytest.mark.values
def test_smoothquant_is_better_than_dynamic_quantization():
    from torchao.prototype.smoothquant import SmoothQuantConfig

    x = activations(64, 256).xpu() * torch.logspace(-1, 1, 256, device="xpu").bfloat16()
    expected, dynamic, model = small_model()(x), small_model(), small_model()
    base = Int8DynamicActivationInt8WeightConfig()
    quantize_(dynamic, base)
    quantize_(model, SmoothQuantConfig(base, step="prepare"))
    model(x)
    quantize_(model, SmoothQuantConfig(base, step="convert"))
    assert reference.sqnr(expected, model(x)) > reference.sqnr(expected, dynamic(x)) + 1


@pytest.mark.values
@pytest.mark.parametrize("scheme", BF16_SCHEMES, ids=ids)
def test_what_is_stored_has_no_history(scheme):
    """A graph of autograd would keep the float weight."""
    model = small_model().requires_grad_(True)
    quantize_(model, scheme.config())
    weight = model[0].weight
    names, _ = weight.__tensor_flatten__()
    assert not any(getattr(weight, name).requires_grad for name in names)
    assert not any(getattr(weight, name).is_inference() for name in names)
    x = activations(4, 256).xpu().requires_grad_()
    model[0](x)  # parameters of bias still require gradients
    copy.deepcopy(model)


@pytest.mark.parametrize("scheme", BF16_SCHEMES, ids=ids)
def test_compiled_models_are_one_graph(scheme):
    torch._dynamo.reset()
    model, x = quantized(scheme), activations(4, 256).xpu()
    got = torch.compile(model, backend="aot_eager", fullgraph=True)(x)
    torch.testing.assert_close(got, model(x), rtol=0, atol=0)


@pytest.mark.values
@pytest.mark.parametrize(
    "name", ["int4 as it comes", "int4 tile_packed", "int8 rows", "float8 rows"]
)
def test_adapters_train_over_quantized_weights(name):
    """Gradients of activations are those over the elements of the weight."""
    (scheme,) = (s for s in SCHEMES if s.name == name)
    layer = quantized(scheme)[0]
    x = activations(4, 256).xpu().requires_grad_()
    layer(x).square().sum().backward()
    got, x.grad = x.grad, None
    weight = layer.weight.dequantize()
    torch.nn.functional.linear(x, weight, layer.bias).square().sum().backward()
    assert reference.sqnr(x.grad, got) > 38


@pytest.mark.values
@pytest.mark.parametrize("scheme", BF16_SCHEMES, ids=ids)
def test_captured_graphs_replay_what_eager_mode_gives(scheme):
    model, x = quantized(scheme), activations(4, 256).xpu()
    expected = model(x)
    graph = torch.xpu.XPUGraph()
    with torch.xpu.graph(graph):
        got = model(x)
    for _ in range(2):
        graph.replay()
        assert torch.equal(got, expected)
        x.copy_(activations(5, 256)[1:])
        expected = model(x)


class Batches(torch.nn.Module):
    def __init__(self, shape):
        super().__init__()
        self.weight = torch.nn.Parameter(activations(*shape).xpu(), requires_grad=False)

    def forward(self, x):
        return torch.bmm(x, self.weight)


BATCHES = {
    "plain": (lambda: Int4WeightOnlyConfig(32), reference.float_zero, 40),
    "preshuffled": (
        lambda: Int4WeightOnlyConfig(32, int4_packing_format="preshuffled"),
        reference.float_zero,
        40,
    ),
    "float8": (Float8DynamicActivationInt4WeightConfig, reference.two_scales, 25),
}


@pytest.mark.values
@pytest.mark.parametrize(("config", "quantize", "ratio"), BATCHES.values(), ids=BATCHES)
def test_batches_of_matrices(config, quantize, ratio):
    """As in torchao, the weight of bmm is transposed like that of a linear layer."""
    model, x = Batches((4, 64, 128)), activations(4, 5, 128).xpu()
    group = 128 if quantize is reference.two_scales else 32
    elements = torch.stack([quantize(matrix, group) for matrix in model.weight.cpu()])
    quantize_(model, config(), filter_fn=lambda *_: True)
    expected = torch.bmm(x.cpu().double(), elements.mT)
    assert reference.sqnr(expected, model(x)) > ratio
    assert model(x[:, :0]).shape == (4, 0, 64)
    with pytest.raises(ValueError, match=r"bmm of \(3, 5, 128\)"):
        model(x[:3])
    with pytest.raises(NotImplementedError, match="no matrix"):
        torch.nn.functional.linear(x, model.weight)


@pytest.mark.values
def test_batches_of_float8_have_scales_of_rows():
    config = Float8DynamicActivationFloat8WeightConfig(granularity=PerRow())
    model, x = Batches((4, 64, 128)), activations(4, 5, 128).xpu()
    elements = torch.stack([reference.e4m3_rows(matrix) for matrix in model.weight.cpu()])
    quantize_(model, config, filter_fn=lambda *_: True)
    model.weight = torch.nn.Parameter(model.weight.transpose(1, 2), requires_grad=False)
    rows = torch.stack([reference.e4m3_rows(matrix) for matrix in x.cpu()])
    assert reference.sqnr(torch.bmm(rows, elements.mT), model(x)) > 35
    assert model(x[:, :0]).shape == (4, 0, 64)
    model.weight = torch.nn.Parameter(model.weight.transpose(1, 2), requires_grad=False)
    with pytest.raises(NotImplementedError, match="a scale for each column"):
        model(x)


@pytest.mark.values
@pytest.mark.parametrize("activation_dtype", [torch.bfloat16, torch.float8_e4m3fn])
def test_plain_becomes_preshuffled(activation_dtype):
    weight, x = activations(64, 256).xpu(), activations(4, 256).xpu()
    plain = Int4Tensor.from_hp(weight, [1, 128], activation_dtype)
    linear = torch.nn.functional.linear
    got = linear(x, Int4PreshuffledTensor.from_int4_tensor(plain))
    assert reference.sqnr(linear(x, plain), got) > 24
    if activation_dtype == torch.bfloat16:
        assert torch.equal(got, linear(x, Int4PreshuffledTensor.from_hp(weight, [1, 128])))


@pytest.mark.values
@pytest.mark.parametrize("scheme", BF16_SCHEMES, ids=ids)
def test_weights_may_be_transposed(scheme):
    layer = torch.nn.Linear(256, 128, dtype=torch.bfloat16, device="xpu").requires_grad_(False)
    other, x = copy.deepcopy(layer), activations(4, 256).xpu()
    other.weight = torch.nn.Parameter(layer.weight.t().contiguous().t(), requires_grad=False)
    quantize_(layer, scheme.config())
    quantize_(other, scheme.config())
    assert torch.equal(layer(x), other(x))


@pytest.mark.values
@pytest.mark.parametrize("value", [0.0, 1.5, float("nan"), float("inf")])
def test_groups_without_range(value):
    """All elements alike, and what is no number, stay what they are in the groups that have them."""
    weight = activations(8, 128)
    weight[3, 64:] = value
    for packing in ("plain", "tile_packed_to_4d"):
        layer = torch.nn.Linear(128, 8, bias=False, dtype=torch.bfloat16, device="xpu")
        layer.weight = torch.nn.Parameter(weight.xpu())
        quantize_(layer, int4(packing)())
        got = layer.weight.dequantize(torch.float32).cpu()
        assert reference.sqnr(weight[:3], got[:3]) > 18
        if value - value == 0:
            torch.testing.assert_close(got[3, 64:], weight[3, 64:].float(), atol=1e-4, rtol=0.01)
        else:
            assert not got[3, 64:].isfinite().any()


@pytest.mark.parametrize("packing", ["plain", "preshuffled", "tile_packed_to_4d"])
def test_quantizing_twice_is_rejected(packing):
    model = small_model()
    quantize_(model, int4(packing)())
    with pytest.raises(ValueError, match="quantized already"):
        quantize_(model, int4(packing)())


def test_layouts_of_cuda_are_rejected():
    x = activations(2, 256).xpu()
    data = torch.zeros(64, 128, dtype=torch.int8, device="xpu")
    scale = activations(2, 64).xpu()
    shuffled = Int4PreshuffledTensor(data, scale, [1, 128], (64, 256), group_zero=scale)
    with pytest.raises(ValueError, match="preshuffled weight in CUDA's order"):
        torch.nn.functional.linear(x, shuffled)
    tiles = torch.zeros(8, 2, 32, 4, dtype=torch.int32, device="xpu")
    tiled = Int4TilePackedTo4dTensor(tiles, activations(2, 64, 2).xpu(), [1, 128], (64, 256))
    with pytest.raises(ValueError, match="tile_packed_to_4d weight in CUDA's layout"):
        torch.nn.functional.linear(x, tiled)


def test_wrong_weights_are_rejected():
    weight = activations(8, 100).xpu()
    with pytest.raises(ValueError, match="rows of 100 elements are no groups of 64"):
        Int4Tensor.from_hp(weight, [1, 64])
    for tensor in (Int4Tensor, Int4PreshuffledTensor, Int4TilePackedTo4dTensor):
        for wrong in ([2, 50], [50]):
            with pytest.raises(AssertionError, match="groups along the last dimension"):
                tensor.from_hp(weight, wrong)
    for tensor in (Int4Tensor, Int4PreshuffledTensor):
        with pytest.raises(AssertionError, match=r"no activations of torch\.float16"):
            tensor.from_hp(weight, [1, 50], activation_dtype=torch.float16)
    with pytest.raises(ValueError, match=r"takes bfloat16, not torch\.float32"):
        Int4TilePackedTo4dTensor.from_hp(weight.float(), [1, 50])
