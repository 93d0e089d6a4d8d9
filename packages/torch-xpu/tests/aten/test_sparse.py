"""Sparse tensors, in coordinates and compressed: as on the CPU, forward and backward."""

import pytest
import torch

pytestmark = pytest.mark.filterwarnings("ignore:Sparse")

torch.manual_seed(0)
INDICES = torch.tensor([[0, 2, 1, 2, 0], [1, 0, 3, 0, 1]])
VALUES = torch.randn(5)
PAIRS = torch.randn(5, 2)
OTHER = torch.randn(3)
DENSE = torch.randn(3, 4)
RIGHT = torch.randn(4, 5)
CUBE = torch.randn(2, 3, 4).relu()


def twice(device="cpu", dtype=torch.float32):
    """Some places are stored twice."""
    return torch.sparse_coo_tensor(INDICES.to(device), VALUES.to(device, dtype), (3, 4))


def other(device="cpu"):
    indices = torch.tensor([[0, 1, 2], [1, 1, 0]], device=device)
    return torch.sparse_coo_tensor(indices, OTHER.to(device), (3, 4))


def hybrid(device="cpu"):
    return torch.sparse_coo_tensor(INDICES.to(device), PAIRS.to(device), (3, 4, 2))


def rows(device="cpu"):
    return DENSE.relu().to(device).to_sparse_csr()


def same(got, expected):
    assert got.device.type == "xpu"
    assert (got.layout, got.dtype) == (expected.layout, expected.dtype)
    if expected.layout == torch.sparse_coo:
        assert got.sparse_dim() == expected.sparse_dim()
    torch.testing.assert_close(got.cpu().to_dense(), expected.to_dense())


MADE = {
    "coalesce": lambda d: twice(d).coalesce(),
    "coalesce booleans": lambda d: twice(d, torch.bool).coalesce(),
    "coalesce halves": lambda d: twice(d, torch.float16).coalesce(),
    "coalesce hybrid": lambda d: hybrid(d).coalesce(),
    "indices": lambda d: twice(d).coalesce().indices(),
    "values": lambda d: hybrid(d).coalesce().values(),
    "without a size": lambda d: torch.sparse_coo_tensor(INDICES.to(d), VALUES.to(d)),
    "to_dense": lambda d: hybrid(d).to_dense(),
    "to_sparse": lambda d: DENSE.relu().to(d).to_sparse(),
    "to_sparse one dimension": lambda d: DENSE.relu().to(d).to_sparse(1),
    "to_sparse_csr": lambda d: DENSE.relu().to(d).to_sparse_csr(),
    "to_sparse_csc": lambda d: DENSE.relu().to(d).to_sparse_csc(),
    "to_sparse_bsr": lambda d: CUBE[0, :2].to(d).to_sparse_bsr((2, 2)),
    "csr to dense": lambda d: rows(d).to_dense(),
    "csr to coordinates": lambda d: rows(d).to_sparse(),
    "csr to csc": lambda d: rows(d).to_sparse_csc(),
    "coordinates to csr": lambda d: twice(d).to_sparse_csr(),
    "csr batches": lambda d: torch.ones(2, 3, 4, device=d).to_sparse_csr().to_sparse(),
    "bsr to dense": lambda d: CUBE[0, :2].to(d).to_sparse_bsr((2, 2)).to_dense(),
    "moved": lambda d: twice().to(d),
    "csr moved": lambda d: rows().to(d),
    "clone": lambda d: twice(d).clone(),
    "zero_": lambda d: twice(d).zero_(),
    "double": lambda d: twice(d).double(),
    "copy_": lambda d: twice(d).copy_(other(d)),
    "zeros": lambda d: torch.zeros(3, 4, layout=torch.sparse_coo, device=d),
    "transposed": lambda d: twice(d).t(),
    "permute": lambda d: hybrid(d).permute(1, 0, 2),
    "cat": lambda d: torch.cat([twice(d), other(d)]),
    "select": lambda d: twice(d)[1],
    "index_select": lambda d: twice(d).index_select(0, torch.tensor([2, 0, 2], device=d)),
    "index_select dense": lambda d: hybrid(d).index_select(2, torch.tensor([1], device=d)),
    "narrow_copy": lambda d: twice(d).narrow_copy(1, 1, 2),
    "mask": lambda d: DENSE.to(d).sparse_mask(twice(d).coalesce()),
    "mask of sparse": lambda d: other(d).coalesce().sparse_mask(twice(d).coalesce()),
}
COMPUTED = {
    "add": lambda d: twice(d) + other(d),
    "sub": lambda d: torch.sub(twice(d), other(d), alpha=2),
    "add to dense": lambda d: DENSE.to(d) + twice(d),
    "add to dense in place": lambda d: DENSE.to(d).clone().add_(twice(d), alpha=3),
    "add in place": lambda d: twice(d).add_(other(d)),
    "times a number": lambda d: twice(d) * 2,
    "times a scalar tensor": lambda d: twice(d) * torch.tensor(3.0, device=d),
    "by a number": lambda d: twice(d) / 2,
    "times dense": lambda d: twice(d) * DENSE.to(d),
    "dense times": lambda d: DENSE.to(d) * twice(d),
    "times a row": lambda d: twice(d) * DENSE[:1].to(d),
    "times sparse": lambda d: twice(d) * other(d),
    "times hybrid": lambda d: hybrid(d) * hybrid(d),
    "sin": lambda d: twice(d).sin(),
    "power": lambda d: twice(d) ** 2,
    "sum": lambda d: twice(d).sum(),
    "sum over a dimension": lambda d: torch.sparse.sum(twice(d), 1),
    "norm": lambda d: twice(d).norm(),
    "mm": lambda d: twice(d) @ RIGHT.to(d),
    "dense mm": lambda d: torch.mm(DENSE.t().contiguous().to(d), twice(d)),
    "addmm": lambda d: torch.sparse.addmm(
        torch.ones(3, 5, device=d), twice(d), RIGHT.to(d), beta=0.5, alpha=2
    ),
    "mv": lambda d: twice(d) @ RIGHT[:, 0].to(d),
    "sparse mm": lambda d: torch.sparse.mm(twice(d), other(d).t()),
    "bmm": lambda d: torch.bmm(CUBE.to(d).to_sparse(), torch.ones(2, 4, 5, device=d)),
    "csr mm": lambda d: rows(d) @ RIGHT.to(d),
    "csr mv": lambda d: rows(d) @ RIGHT[:, 0].to(d),
    "csr addmm": lambda d: torch.addmm(torch.ones(3, 5, device=d), rows(d), RIGHT.to(d), beta=2),
    "dense csr mm": lambda d: torch.mm(DENSE.t().contiguous().to(d), rows(d)),
    "csr sparse mm": lambda d: torch.mm(rows(d), rows(d).to_dense().t().to_sparse_csr()),
    "sampled_addmm": lambda d: torch.sparse.sampled_addmm(
        rows(d), RIGHT[:3, :2].to(d), RIGHT[:2, :4].to(d), beta=0.5, alpha=2
    ),
    "softmax": lambda d: torch.sparse.softmax(twice(d), 1),
    "softmax of values": lambda d: torch.sparse.softmax(hybrid(d), 2),
    "log_softmax": lambda d: torch.sparse.log_softmax(hybrid(d), 0),
    "csr add": lambda d: rows(d) + rows(d),
    "csr add to dense": lambda d: DENSE.to(d) + rows(d),
    "csr times a number": lambda d: rows(d) * 2,
    "csr sin": lambda d: rows(d).sin(),
}


@pytest.mark.values
@pytest.mark.parametrize("case", [*MADE, *COMPUTED])
def test_as_on_the_cpu(case):
    make = MADE.get(case) or COMPUTED[case]
    same(make("xpu"), make("cpu"))


GRADIENTS = {
    "to_dense": (lambda x: x.to_dense(), lambda: [twice().coalesce()]),
    "to_sparse": (lambda x: x.to_sparse(), lambda: [DENSE]),
    "values": (
        lambda x: torch.sparse_coo_tensor(INDICES.to(x.device), x, (3, 4)),
        lambda: [VALUES],
    ),
    "times a number": (lambda x: x * 2, lambda: [twice().coalesce()]),
    "mm": (torch.sparse.mm, lambda: [twice().coalesce(), RIGHT]),
    "sparse mm": (torch.sparse.mm, lambda: [twice().coalesce(), other().t().coalesce()]),
    "csr mm": (torch.mm, lambda: [rows(), RIGHT]),
    "csr to dense": (lambda x: x.to_dense(), lambda: [rows()]),
    "softmax": (lambda x: torch.sparse.softmax(x, 1), lambda: [twice().coalesce()]),
    "log_softmax": (lambda x: torch.sparse.log_softmax(x, 0), lambda: [hybrid().coalesce()]),
    "mm of means": (lambda a, b: torch.sparse.mm(a, b, "mean"), lambda: [rows(), RIGHT]),
    "mm of maxima": (lambda a, b: torch.sparse.mm(a, b, "amax"), lambda: [rows(), RIGHT]),
    "sum": (lambda x: torch.sparse.sum(x, 1), lambda: [twice().coalesce()]),
    "sum to dense": (lambda x: torch.sparse.sum(x, (0, 1)), lambda: [hybrid().coalesce()]),
}


@pytest.mark.values
@pytest.mark.parametrize("case", GRADIENTS)
def test_gradients(case):
    function, operands = GRADIENTS[case]
    both = []
    for device in ("xpu", "cpu"):
        leaves = [t.clone().to(device).requires_grad_() for t in operands()]
        out = function(*leaves)
        out = out if out.layout == torch.strided else out.to_dense()
        weights = torch.arange(out.numel(), device=device, dtype=out.dtype).view(out.shape)
        both.append(torch.autograd.grad(out, leaves, weights))
    for got, expected in zip(*both, strict=True):
        same(got, expected)


@pytest.mark.values
@pytest.mark.parametrize("optimizer", ["SGD", "SparseAdam"])
def test_embeddings_with_sparse_gradients(optimizer):
    weights = []
    for device in ("xpu", "cpu"):
        module = torch.nn.Embedding(6, 3, sparse=True).to(device)
        module.weight.data.copy_(torch.arange(18.0).view(6, 3))
        steps = getattr(torch.optim, optimizer)(module.parameters(), lr=0.1)
        for _ in range(2):
            steps.zero_grad()
            module(torch.tensor([1, 4, 1], device=device)).square().sum().backward()
            assert module.weight.grad.is_sparse
            steps.step()
        weights.append(module.weight.detach())
    same(*weights)


@pytest.mark.values
def test_larger_products():
    """Compared with dense ones."""
    dense = torch.randn(300, 200).to("xpu")
    dense = dense.where(dense > 1, 0)
    right = torch.randn(200, 70).to("xpu")
    for sparse in (dense.to_sparse(), dense.to_sparse_csr()):
        torch.testing.assert_close(sparse @ right, dense @ right, rtol=1e-4, atol=1e-4)
        torch.testing.assert_close(
            torch.mm(sparse, dense.t().to_sparse(layout=sparse.layout)).to_dense(),
            dense @ dense.t(),
            rtol=1e-4,
            atol=1e-4,
        )


@pytest.mark.values
def test_invariants():
    starts, places = torch.tensor([0, 1, 2, 2]).to("xpu"), torch.tensor([0, 3]).to("xpu")
    values = torch.ones(2).to("xpu")
    make = torch.sparse_csr_tensor
    assert make(starts, places, values, (3, 4), check_invariants=True)._nnz() == 2
    with pytest.raises(RuntimeError, match="< ncols"):
        make(starts, places, values, (3, 3), check_invariants=True)
    with pytest.raises(RuntimeError, match="not satisfied"):
        make(starts + 1, places, values, (3, 4), check_invariants=True)


@pytest.mark.values
def test_text():
    assert "device='xpu:0', size=(3, 4), nnz=5" in repr(twice("xpu"))


def test_nothing_is_stored():
    empty = torch.sparse_coo_tensor((3, 4), device="xpu")
    assert (empty._nnz(), empty.device.type) == (0, "xpu")
    assert empty.coalesce().to_dense().shape == (3, 4)
    assert (empty + empty)._nnz() == (empty * empty)._nnz() == 0
    assert (empty @ torch.zeros(4, 2, device="xpu")).shape == (3, 2)
