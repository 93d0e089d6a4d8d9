"""Sparse weights, two of four numbers and blocks: values, memory, files, compiled models, wrong weights."""

import copy
import io
import warnings

import pytest
import torch
import torch_xpu
from torchao.sparsity import sparsify_
from torchao.sparsity.sparse_api import BlockSparseWeightConfig, SemiSparseWeightConfig

import ao_xpu
from ao_xpu.sparsity.semi_sparse_tensor import SemiSparseTensor

# What PyTorch says of its own format.
pytestmark = pytest.mark.filterwarnings("ignore:Sparse BSR tensor support")
DTYPES = [torch.float32, torch.bfloat16, torch.float16]
CONFIGS = {"2:4": SemiSparseWeightConfig(), "blocks": BlockSparseWeightConfig(16)}


@pytest.fixture(autouse=True)
def no_operator_on_the_host():
    torch_xpu.reset_fallbacks()
    yield
    assert not torch_xpu.fallbacks()


def pruned(name, shape, dtype=torch.float32):
    """Return a weight of the structure; a quarter of its groups have fewer numbers than they may."""
    generator = torch.Generator().manual_seed(0)
    weight = torch.randn(shape, generator=generator).to(dtype)
    if name == "2:4":
        groups = weight.view(shape[0], -1, 4)
        order = torch.rand(groups.shape, generator=generator).argsort(-1)
        count = torch.randint(1, 9, groups.shape[:2], generator=generator).clamp(max=2)
        return torch.where(order < count[..., None], groups, 0).view(shape)
    blocks = torch.rand(shape[0] // 16, shape[1] // 16, generator=generator) < 0.5
    return weight * blocks.repeat_interleave(16, 0).repeat_interleave(16, 1)


def sparse_layer(name, shape=(48, 64), dtype=torch.float32, bias=True):
    layer = torch.nn.Linear(shape[1], shape[0], bias, "xpu", dtype).requires_grad_(False)
    layer.weight = torch.nn.Parameter(pruned(name, shape, dtype).xpu(), requires_grad=False)
    model = torch.nn.Sequential(copy.deepcopy(layer))
    sparsify_(model, CONFIGS[name])
    assert type(model[0].weight) not in (torch.Tensor, torch.nn.Parameter)
    return layer, model[0]


@pytest.mark.values
@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", CONFIGS)
def test_products_are_those_of_the_floats(name, dtype, bias):
    dense, sparse = sparse_layer(name, dtype=dtype, bias=bias)
    for shape in ((3, 64), (1, 64), (2, 5, 64), (64,), (0, 64)):
        x = torch.randn(shape, dtype=dtype).xpu()
        torch.testing.assert_close(sparse(x), dense(x), rtol=1e-2, atol=1e-2)
    x = torch.randn(64, 6, dtype=dtype).xpu().t()
    torch.testing.assert_close(sparse(x), dense(x), rtol=1e-2, atol=1e-2)


@pytest.mark.values
def test_two_of_four_are_exact():
    weight = pruned("2:4", (32, 80), torch.bfloat16)
    weight[3, 0], weight[5, 7] = float("nan"), float("inf")
    weight[5, 4:7] = torch.tensor([0.0, 0.0, -0.0])
    sparse = SemiSparseTensor.from_dense(weight.xpu())
    got = sparse.dequantize().cpu()
    assert torch.equal(got.nan_to_num(9.0), weight.nan_to_num(9.0))
    assert torch.equal(sparse.to("cpu").dequantize().nan_to_num(9.0), weight.nan_to_num(9.0))


@pytest.mark.values
@pytest.mark.parametrize("rows", [1, 3])
def test_rows_are_expanded_in_pieces(monkeypatch, rows):
    dense, sparse = sparse_layer("2:4")
    x = torch.randn(4, 64).xpu()
    monkeypatch.setattr("ao_xpu.sparsity.semi_sparse_tensor.MAX_EXPANDED", rows * 64)
    torch.testing.assert_close(sparse(x), dense(x))


@pytest.mark.values
def test_memory():
    _, sparse = sparse_layer("2:4", (256, 1024), torch.bfloat16)
    (row,) = ao_xpu.report(torch.nn.Sequential(sparse))
    assert row.bytes_after == row.bytes_before * 9 // 16


@pytest.mark.values
@pytest.mark.parametrize("name", CONFIGS)
def test_gradients_copies_and_compiled_models(name):
    dense, sparse = sparse_layer(name)
    x = torch.randn(4, 64).xpu()
    expected = dense(x)
    for other in (copy.deepcopy(sparse), copy.deepcopy(sparse).to("cpu").to("xpu")):
        torch.testing.assert_close(other(x), expected)
    compiled = torch.compile(sparse, backend="aot_eager", fullgraph=True)
    torch.testing.assert_close(compiled(x), expected)
    if name == "2:4":
        file = io.BytesIO()
        torch.save(sparse.state_dict(), file)
        file.seek(0)
        loaded = copy.deepcopy(dense)
        loaded.load_state_dict(torch.load(file, weights_only=True), assign=True)
        assert torch.equal(loaded(x), sparse(x))
        x.requires_grad_()
        sparse(x).sum().backward()
        torch.testing.assert_close(x.grad, dense.weight.sum(0).expand(4, 64))


@pytest.mark.parametrize(
    ("shape", "reason"), [((8, 64), "more than two of four"), ((8, 24), "multiples of 16")]
)
def test_wrong_weights_are_named(shape, reason):
    layer = torch.nn.Linear(shape[1], shape[0], device="xpu")
    model = torch.nn.Sequential(layer)
    with pytest.warns(UserWarning, match=reason):
        sparsify_(model, SemiSparseWeightConfig())
    assert type(model[0].weight) is torch.nn.Parameter
    assert reason in ao_xpu.report(model)[0].reason


def test_parts_that_do_not_belong_together():
    values = torch.zeros(4, 8)
    with pytest.raises(ValueError, match=r"places: got torch\.uint8 of shape \(4, 3\)"):
        SemiSparseTensor(values, torch.zeros(4, 3, dtype=torch.uint8))


@pytest.mark.values
def test_pruned_models_of_torchao():
    from torchao.sparsity.sparse_api import apply_fake_sparsity

    model = torch.nn.Sequential(torch.nn.Linear(64, 32)).xpu()
    apply_fake_sparsity(model)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        sparsify_(model, SemiSparseWeightConfig())
    assert type(model[0].weight) is SemiSparseTensor
