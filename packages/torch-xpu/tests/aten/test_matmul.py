"""Products of matrices: every dtype, layouts as they come, what is added and how it is scaled."""

import pytest
import torch

FLOATS = [torch.float32, torch.float64, torch.bfloat16, torch.float16]
INTEGERS = [torch.int64, torch.int32, torch.int16, torch.int8, torch.uint8]
COMPLEX = [torch.complex64, torch.complex128]


def some(dtype, *shape):
    if dtype.is_floating_point or dtype.is_complex:
        return torch.randn(shape, dtype=dtype)
    return torch.randint(0, 50, shape).to(dtype)


def check(function, *tensors):
    got = function(*(t.to("xpu") for t in tensors)).cpu()
    half = got.dtype in (torch.bfloat16, torch.float16)
    tolerances = {"rtol": 2e-2, "atol": 1e-1} if half else {}
    torch.testing.assert_close(got, function(*tensors), **tolerances)


@pytest.mark.values
@pytest.mark.parametrize("dtype", [*FLOATS, *INTEGERS, *COMPLEX], ids=str)
def test_products(dtype):
    torch.manual_seed(0)
    a, b, c, row = some(dtype, 7, 11), some(dtype, 11, 5), some(dtype, 7, 5), some(dtype, 5)
    check(torch.mm, a, b)
    check(lambda a, b: torch.mm(a, b.contiguous().t()), a, some(dtype, 5, 11))
    check(lambda a, b: torch.mm(a[:, ::2], b[::2]), a, b)
    check(torch.addmm, c, a, b)
    check(torch.addmm, row, a, b)
    check(lambda c, a, b: torch.addmm(c, a, b, alpha=2, beta=3), row, a, b)
    check(lambda c, a, b: c.clone().addmm_(a, b), c, a, b)
    check(lambda c, a, b: c.clone().addmm_(a, b, alpha=2, beta=3), c, a, b)
    check(lambda a, b: torch.bmm(a.expand(3, 7, 11), b.expand(3, 11, 5)), a, b)
    check(lambda c, a, b: torch.baddbmm(c, a.expand(3, 7, 11), b.expand(3, 11, 5)), c, a, b)
    check(lambda a, b: torch.mv(a, b[:, 0]), a, b)
    check(lambda a, b: torch.dot(a[0], b[:, 1]), a, b)


@pytest.mark.values
@pytest.mark.parametrize("dtype", [torch.float32, torch.int64, torch.complex64], ids=str)
def test_nothing_to_sum(dtype):
    a, b, c = some(dtype, 7, 0), some(dtype, 0, 5), some(dtype, 7, 5)
    check(torch.mm, a, b)
    check(torch.addmm, c, a, b)
    check(lambda c, a, b: torch.addmm(c[:0], a[:0], b), c, a, b)


@pytest.mark.values
def test_what_beta_leaves_out_may_be_nan():
    c = torch.full((4, 4), torch.nan)
    check(lambda c, a: torch.addmm(c, a, a, beta=0), c, some(torch.float32, 4, 4))


@pytest.mark.values
def test_conjugates():
    a, b = some(torch.complex64, 7, 11), some(torch.complex64, 5, 11)
    check(lambda a, b: torch.mm(a.conj(), b.t()), a, b)
    check(lambda a, b: torch.mm(a, b.mH), a, b)
    check(lambda a, b: torch.mm(a.conj(), b.mH), a, b)
    check(lambda a, b: torch.vdot(a[0], b[1]), a, b)


@pytest.mark.values
def test_wider_results():
    a, b = some(torch.int8, 32, 16), some(torch.int8, 16, 8)
    check(torch._int_mm, a, b)
    a, b = some(torch.bfloat16, 8, 16).to("xpu"), some(torch.bfloat16, 16, 4).to("xpu")
    wide = torch.mm(a, b, out_dtype=torch.float32).cpu()
    torch.testing.assert_close(wide, a.cpu().float() @ b.cpu().float())


@pytest.mark.values
@pytest.mark.parametrize("gelu", [False, True])
def test_activations(gelu):
    a, b, c = (some(torch.float32, *shape) for shape in ((6, 8), (8, 4), (4,)))
    check(lambda c, a, b: torch._addmm_activation(c, a, b, use_gelu=gelu), c, a, b)
    a, b, c = a.double(), b.double(), c.double()
    check(lambda c, a, b: torch._addmm_activation(c, a, b, beta=2, use_gelu=gelu), c, a, b)


def test_refusals():
    a = torch.ones(3, 4, device="xpu")
    with pytest.raises(RuntimeError, match="cannot be multiplied"):
        torch.mm(a, a)
    with pytest.raises(RuntimeError, match="same dtype"):
        torch.mm(a, torch.ones(4, 3, device="xpu", dtype=torch.float16))
    with pytest.raises(RuntimeError, match="same device"):
        torch.mm(a, torch.ones(4, 3))
    with pytest.raises(NotImplementedError, match="Bool"):
        torch.mm(a.bool(), a.bool().t())


@pytest.mark.parametrize(
    ("name", "sizes"),
    [
        ("addmm_", [(4,), (3, 2), (2, 4)]),
        ("addmm_", [(1, 4), (3, 2), (2, 4)]),
        ("baddbmm_", [(1, 3, 4), (2, 3, 2), (2, 2, 4)]),
        ("addmv_", [(1,), (3, 2), (2,)]),
    ],
)
def test_what_is_written_to_does_not_broadcast(name, sizes):
    tensors = [torch.ones(size, device="xpu") for size in sizes]
    with pytest.raises(RuntimeError, match="Bad in-place call"):
        getattr(tensors[0], name)(*tensors[1:])
    assert tensors[0].shape == sizes[0]
