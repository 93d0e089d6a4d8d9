"""Compressed sparse matrices as on the CPU: between layouts, reduced, masked, and solved with."""

import pytest
import torch

pytestmark = pytest.mark.filterwarnings(
    "ignore:Sparse", "ignore:torch.triangular_solve", "ignore:The PyTorch API"
)

TYPES = [
    torch.float32, torch.float64, torch.float16, torch.bfloat16, torch.int64, torch.int32, torch.int16,
    torch.int8, torch.uint8, torch.bool, torch.complex64,
]  # fmt: skip
LAYOUTS = {
    "to_sparse_csr": (torch.sparse_csr, ()),
    "to_sparse_csc": (torch.sparse_csc, ()),
    "to_sparse_bsr": (torch.sparse_bsr, ((2, 3),)),
    "to_sparse_bsc": (torch.sparse_bsc, ((2, 3),)),
}
FLIPS = {
    "to_sparse_csr": "to_sparse_csc", "to_sparse_csc": "to_sparse_csr",
    "to_sparse_bsr": "to_sparse_bsc", "to_sparse_bsc": "to_sparse_bsr",
}  # fmt: skip


def values(dtype=torch.float32, shape=(4, 6)):
    generator = torch.Generator().manual_seed(1)
    t = torch.randn(shape, generator=generator).mul(3) * (
        torch.rand(shape, generator=generator) > 0.5
    )
    return t.abs().to(dtype) if dtype == torch.uint8 else t.to(dtype)


def parts(t):
    if t.layout in (torch.sparse_csr, torch.sparse_bsr):
        return [t.crow_indices(), t.col_indices(), t.values()]
    return [t.ccol_indices(), t.row_indices(), t.values()]


def same(make):
    expected, got = make("cpu"), make("xpu")
    assert got.device.type == "xpu"
    assert (got.layout, got.dtype, got.shape) == (expected.layout, expected.dtype, expected.shape)
    torch.testing.assert_close(got.cpu().to_dense(), expected.to_dense())
    return got, expected


@pytest.mark.values
@pytest.mark.parametrize("start", FLIPS)
@pytest.mark.parametrize("dtype", TYPES, ids=str)
def test_between_rows_and_columns(start, dtype):
    dense = values(dtype)

    def by_method(device):
        made = getattr(dense.to(device), start)(*LAYOUTS[start][1])
        return getattr(made, FLIPS[start])(*LAYOUTS[start][1])

    def by_layout(device):
        made = getattr(dense.to(device), start)(*LAYOUTS[start][1])
        layout, blocksize = LAYOUTS[FLIPS[start]]
        return made.to_sparse(layout=layout, blocksize=blocksize[0] if blocksize else None)

    for make in (by_method, by_layout):
        got, expected = same(make)
        torch.testing.assert_close([t.cpu() for t in parts(got)], parts(expected))


@pytest.mark.values
@pytest.mark.parametrize("start", FLIPS)
def test_between_rows_and_columns_in_batches(start):
    # Every batch must hold as many elements, and blocks.
    one = values()
    one[:2, :3] = 0
    dense = torch.stack([one, one.flip(0, 1), one.roll(3, 1)])
    got, expected = same(
        lambda device: getattr(getattr(dense.to(device), start)(*LAYOUTS[start][1]), FLIPS[start])(
            *LAYOUTS[start][1]
        )
    )
    torch.testing.assert_close([t.cpu() for t in parts(got)], parts(expected))


@pytest.mark.values
def test_between_rows_and_columns_of_nothing():
    for start, target in FLIPS.items():
        blocks = LAYOUTS[start][1]
        for device in ("cpu", "xpu"):
            empty = getattr(torch.zeros(4, 6, device=device), start)(*blocks)
            converted = getattr(empty, target)(*blocks)
            assert (converted.layout, converted._nnz()) == (LAYOUTS[target][0], 0)


@pytest.mark.values
@pytest.mark.parametrize("reduce", ["_sparse_csr_sum", "_sparse_csr_prod"])
@pytest.mark.parametrize("dims", [(0,), (1,), (0, 1)], ids=str)
@pytest.mark.parametrize("dtype", [t for t in TYPES if t != torch.bool], ids=str)
def test_reductions(reduce, dims, dtype):
    dense = values(dtype)
    if dtype.itemsize == 1:
        dense = dense.sign()  # the CPU multiplies in eight bits
    dense[2] = 0
    got, expected = same(lambda d: getattr(torch, reduce)(dense.to(d).to_sparse_csr(), dims, True))
    torch.testing.assert_close([t.cpu() for t in parts(got)][:2], parts(expected)[:2])


@pytest.mark.values
def test_reductions_of_another_type_and_of_nothing():
    same(
        lambda d: torch._sparse_csr_sum(
            values(torch.half).to(d).to_sparse_csr(), (1,), True, dtype=torch.float64
        )
    )
    for dims in ((0,), (1,), (0, 1)):
        out = torch._sparse_csr_sum(torch.zeros(3, 4, device="xpu").to_sparse_csr(), dims, True)
        assert (out._nnz(), out.to_dense().sum().item()) == (0, 0)
    with pytest.raises(RuntimeError, match="keepdim=False is unsupported"):
        torch._sparse_csr_sum(values().to("xpu").to_sparse_csr(), (1,), False)


@pytest.mark.values
@pytest.mark.parametrize("dtype", TYPES, ids=str)
def test_dense_and_compressed_added(dtype):
    dense = values(dtype)
    same(lambda d: torch.add(dense.to(d).to_sparse_csr(), dense.to(d)))
    same(lambda d: torch.add(dense.to(d), dense.to(d).to_sparse_csr()))
    if dtype != torch.bool:
        same(lambda d: torch.add(dense.to(d).to_sparse_csr(), dense.to(d), alpha=2))


@pytest.mark.values
@pytest.mark.parametrize("name", ["isposinf", "isneginf", "signbit", "isnan", "isinf"])
@pytest.mark.parametrize("make", [*FLIPS, "to_sparse"])
def test_predicates(name, make):
    dense = torch.tensor([[1.0, -2, 0], [-torch.inf, 0, torch.inf]]).repeat(1, 2)
    blocks = LAYOUTS[make][1] if make in LAYOUTS else ()
    same(lambda d: getattr(torch, name)(getattr(dense.to(d), make)(*blocks)))


@pytest.mark.values
@pytest.mark.parametrize("name", ["sum", "prod", "amax", "amin", "mean"])
@pytest.mark.parametrize("make", ["to_dense", "to_sparse", "to_sparse_csr"])
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.int32], ids=str)
def test_masked(name, make, dtype):
    if name == "mean" and make == "to_sparse":
        pytest.skip("PyTorch has no mean of that layout")
    dense, mask = values(dtype), torch.arange(24).view(4, 6) % 3 > 0

    def reduced(device):
        t, m = (getattr(x.to(device), make)() for x in (dense, mask))
        return getattr(torch.masked, name)(t, 1, keepdim=True, mask=m)

    try:
        reduced("cpu")
    except (TypeError, ValueError, RuntimeError, NotImplementedError):
        pytest.skip("nor has the CPU")
    same(reduced)


@pytest.mark.values
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.complex64], ids=str)
@pytest.mark.parametrize("upper", [False, True])
@pytest.mark.parametrize("transpose", [False, True])
@pytest.mark.parametrize("unitriangular", [False, True])
def test_triangular_solve(dtype, upper, transpose, unitriangular):
    matrix = values(dtype, (5, 5)) + 3 * torch.eye(5, dtype=dtype)
    matrix, right = matrix.triu() if upper else matrix.tril(), values(dtype, (5, 2)) + 1
    options = {"upper": upper, "transpose": transpose, "unitriangular": unitriangular}
    got, again = torch.triangular_solve(
        right.to("xpu"), matrix.to("xpu").to_sparse_csr(), **options
    )
    expected = torch.triangular_solve(right, matrix, **options)[0]
    assert again.numel() == 0
    torch.testing.assert_close(got.cpu(), expected, rtol=1e-4, atol=1e-4)
    out, other = (
        torch.empty(0, dtype=dtype, device="xpu"),
        torch.empty(0, dtype=dtype, device="xpu"),
    )
    torch.triangular_solve(
        right.to("xpu"), matrix.to("xpu").to_sparse_csr(), **options, out=(out, other)
    )
    torch.testing.assert_close(out, got)


@pytest.mark.values
@pytest.mark.parametrize("reduce", ["amax", "amin"])
def test_segments_by_their_other_names(reduce):
    data, lengths = values(shape=(6, 3)), torch.tensor([2, 1, 3])
    same(lambda d: torch.segment_reduce(data.to(d), reduce, lengths=lengths.to(d)))
