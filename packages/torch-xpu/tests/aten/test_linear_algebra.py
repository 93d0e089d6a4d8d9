"""Dense linear algebra in sizes that are worked on block by block, and what it refuses."""

import pytest
import torch

import torch_xpu

DTYPES = (torch.float32, torch.float64, torch.complex64, torch.complex128)
SHAPES = {"one": (100,), "batch": (3, 70), "batches": (2, 2, 33)}


def matrices(shape, dtype):
    torch.manual_seed(5)
    *batch, n = shape
    return torch.randn(*batch, n, n, dtype=dtype)


def positive(a):
    return a @ a.mH + a.shape[-1] * torch.eye(a.shape[-1], dtype=a.dtype)


def close(got, expected):
    """Errors grow with the matrix: they are measured by its largest element."""
    wide = expected.dtype in (torch.float64, torch.complex128)
    bound = (1e-10 if wide else 2e-4) * expected.abs().max().item()
    torch.testing.assert_close(got.cpu(), expected, rtol=0, atol=bound, check_stride=False)


@pytest.mark.values
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)
def test_factors_and_solutions(shape, dtype):
    torch_xpu.reset_fallbacks()
    a = matrices(shape, dtype)
    b = matrices(shape, dtype)[..., :5]
    x, y = a.to("xpu"), b.to("xpu")
    p, low, high = torch.linalg.lu(x)
    close(p @ low @ high, a)
    assert low.abs().max().item() < 1.5
    close(x @ torch.linalg.solve(x, y), b)
    close(torch.linalg.solve(x, y.mT, left=False) @ x, b.mT)
    close(torch.linalg.inv(x) @ x, torch.eye(shape[-1], dtype=dtype).expand(a.shape))
    sign, size = torch.linalg.slogdet(x)
    expected = torch.linalg.slogdet(a)
    close(sign, expected.sign)
    close(size, expected.logabsdet)
    for upper in (False, True):
        spd = positive(a)
        factor = torch.linalg.cholesky(spd.to("xpu"), upper=upper)
        close(factor, torch.linalg.cholesky(spd, upper=upper))
        close(spd.to("xpu") @ torch.cholesky_solve(y, factor, upper=upper), b)
    assert not torch_xpu.fallbacks()


@pytest.mark.values
@pytest.mark.parametrize("size", [(90, 40), (40, 90)], ids=str)
@pytest.mark.parametrize("pivot", [True, False])
def test_lu_of_rectangles(size, pivot):
    torch.manual_seed(6)
    a = torch.randn(2, *size, dtype=torch.float64)
    a.diagonal(0, -2, -1).add_(0 if pivot else 30)
    if pivot:
        expected = torch.linalg.lu_factor(a)
        factors, pivots = torch.linalg.lu_factor(a.to("xpu"))
        assert torch.equal(pivots.cpu(), expected.pivots)
        close(factors, expected.LU)
    p, low, high = torch.linalg.lu(a.to("xpu"), pivot=pivot)
    close(p @ low @ high if pivot else low @ high, a)


@pytest.mark.values
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("upper", [False, True])
@pytest.mark.parametrize("unit", [False, True])
def test_triangles(dtype, upper, unit):
    a = matrices((2, 1, 150), dtype) / 150
    a.diagonal(0, -2, -1).add_(2)
    b = matrices((3, 150), dtype)
    solved = torch.linalg.solve_triangular(
        a.to("xpu"), b.to("xpu"), upper=upper, unitriangular=unit
    )
    close(solved, torch.linalg.solve_triangular(a, b, upper=upper, unitriangular=unit))
    right = torch.linalg.solve_triangular(
        a.to("xpu").mH, b.to("xpu"), upper=not upper, left=False, unitriangular=unit
    )
    close(
        right,
        torch.linalg.solve_triangular(a.mH, b, upper=not upper, left=False, unitriangular=unit),
    )


@pytest.mark.values
def test_singular_matrices_are_told():
    a = torch.randn(3, 50, 50)
    a[1, :, 7] = 0
    with pytest.raises(torch.linalg.LinAlgError, match="Batch element 1"):
        torch.linalg.inv(a.to("xpu"))
    info = torch.linalg.lu_factor_ex(a.to("xpu")).info
    assert info.tolist() == [0, 8, 0]
    spd = positive(a)
    spd[2, 40, 40] = -1
    assert torch.linalg.cholesky_ex(spd.to("xpu")).info.tolist() == [0, 0, 41]
    with pytest.raises(torch.linalg.LinAlgError, match="Batch element 2"):
        torch.linalg.cholesky(spd.to("xpu"))


@pytest.mark.values
def test_exponentials_of_all_sizes():
    for scale in (0, 1e-3, 0.3, 1, 4):
        a = matrices((3, 20), torch.float64) * scale
        close(torch.linalg.matrix_exp(a.to("xpu")), torch.linalg.matrix_exp(a))
    a = matrices((3, 20), torch.float32)
    close(torch.linalg.matrix_exp(a.to("xpu")), torch.linalg.matrix_exp(a))
    endless = torch.full((2, 2), float("inf")).to("xpu")
    assert not torch.linalg.matrix_exp(endless).isfinite().any()


@pytest.mark.parametrize("left", [True, False])
@pytest.mark.parametrize("conjugate", [True, False])
def test_strides_of_solutions_are_those_of_the_cpu(left, conjugate):
    """Compiled code relies on them."""
    a = positive(matrices((2, 5), torch.complex64))
    b = torch.randn(2, 5, 5, dtype=torch.complex64)

    def strides(device):
        matrix = a.to(device).mH if conjugate else a.to(device)
        return torch.linalg.solve_triangular(matrix, b.to(device), upper=True, left=left).stride()

    assert strides("xpu") == strides("cpu")
    ours, theirs = (torch.cholesky_inverse(b[0].to(device)) for device in ("xpu", "cpu"))
    assert ours.stride() == theirs.stride()


@pytest.mark.values
@pytest.mark.filterwarnings("ignore:torch.cholesky is deprecated")
@pytest.mark.parametrize("name", ["cholesky", "cholesky_inverse"])
def test_results_go_into_what_can_hold_them(name):
    if not hasattr(torch.ops.aten, name):
        pytest.skip("PyTorch 2.14 has no torch.cholesky")
    spd = positive(torch.randn(7, 7))
    for dtype in (torch.float64, torch.complex64):
        expected, got = (
            getattr(torch, name)(spd.to(device), out=torch.empty(7, 7, dtype=dtype, device=device))
            for device in ("cpu", "xpu")
        )
        torch.testing.assert_close(got.cpu(), expected, rtol=1e-3, atol=1e-4, check_stride=False)
    with pytest.raises(RuntimeError, match="safely castable"):
        getattr(torch, name)(spd.to("xpu"), out=torch.empty(7, 7, dtype=torch.int32, device="xpu"))
