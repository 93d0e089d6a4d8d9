"""copy_, to, fills and item: any layout, any dtype, any pair of devices."""

import pytest
import torch
from xpu_testing import assert_close

FLOATS = [torch.float16, torch.bfloat16, torch.float32]
DTYPES = [torch.bool, torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64, *FLOATS]
LAYOUTS = {
    "dense": lambda t: t,
    "transposed": lambda t: t.transpose(0, -1),
    "sliced": lambda t: t[1:, ::2],
    "expanded": lambda t: t[:1].expand_as(t),
}


def some(shape, dtype=torch.float32):
    return torch.arange(torch.Size(shape).numel()).remainder(7).reshape(shape).to(dtype)


def same(got, expected):
    assert got.dtype == expected.dtype
    wide = torch.complex64 if expected.is_complex() else torch.float32
    got, expected = (t.cpu().resolve_conj().resolve_neg().to(wide) for t in (got, expected))
    assert_close(got.numpy(), expected.numpy())


@pytest.mark.parametrize("dtype", [*DTYPES, torch.complex64], ids=str)
def test_there_and_back(dtype):
    host = some((3, 5, 4), dtype)
    same(host.to("xpu"), host)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_layouts(layout):
    host = some((6, 6))
    view = LAYOUTS[layout]
    device = host.to("xpu")
    same(view(device), view(host))
    same(view(host).to("xpu"), view(host))
    target, expected = torch.zeros(6, 6, device="xpu"), torch.zeros(6, 6)
    if layout != "expanded":
        values = view(host) + 1
        view(target).copy_(values)
        view(expected).copy_(values)
        same(target, expected)


@pytest.mark.parametrize("source", DTYPES, ids=str)
@pytest.mark.parametrize(
    "target", [torch.bool, torch.int32, torch.bfloat16, torch.float32], ids=str
)
def test_conversions(source, target):
    host = some((70,), source)
    same(host.to("xpu").to(target), host.to(target))
    same(host.to("xpu", target), host.to(target))


def test_conjugates_and_negatives():
    host = torch.complex(some((4, 3)), some((4, 3)) - 2)
    device = host.to("xpu")
    same(device.conj().clone(), host.conj().clone())
    same(device.mH, host.mH)
    same(device.conj().imag, host.conj().imag)
    same(host.conj().to("xpu"), host.conj().resolve_conj())


HALVES = pytest.mark.filterwarnings("ignore:ComplexHalf", "ignore:Casting complex")


@HALVES
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", [torch.float16, torch.int32, torch.complex64], ids=str)
def test_complex_halves_are_stored(layout, dtype):
    host = torch.complex(some((6, 6)), some((6, 6)) - 2)
    halves = LAYOUTS[layout](host.to("xpu").to(torch.complex32))
    expected = LAYOUTS[layout](host)
    same(halves.to(dtype), expected.to(dtype))
    same(halves.conj().to(dtype), expected.conj().to(dtype))
    same(halves.conj().imag.to(dtype), expected.conj().imag.to(dtype))
    same(halves.cpu().to(torch.complex64), expected)
    same(expected.to(dtype).to("xpu").to(torch.complex32).to(dtype), expected.to(dtype))


@HALVES
def test_complex_halves_are_filled():
    filled = torch.full((3,), 1 + 2j, dtype=torch.complex32, device="xpu")
    same(filled.to(torch.complex64), torch.full((3,), 1 + 2j))
    same(filled.zero_().real, torch.zeros(3, dtype=torch.float16))
    one, two = (torch.full((2,), n, dtype=torch.float16, device="xpu") for n in (1, 2))
    same(torch.complex(one, two).to(torch.complex64), torch.full((2,), 1 + 2j))
    same(torch.complex(two, one).conj_physical().imag, torch.full((2,), -1, dtype=torch.float16))


def test_broadcast():
    target = torch.zeros(3, 4, device="xpu")
    target.copy_(torch.arange(4.0))
    same(target, torch.arange(4.0).expand(3, 4))


def test_many_dimensions():
    host = some((2,) * 14)
    same(host.to("xpu"), host)
    same(host.to("xpu").to(torch.int32), host.to(torch.int32))


def test_a_copy_onto_itself():
    device, host = torch.arange(6.0, device="xpu"), torch.arange(6.0)
    for x in (device, host):
        x.copy_(x.detach())
        x[1] += 1
        x[:] += 1
        x[::2].copy_(x[::2])
        x.view(2, 3).t().copy_(x.view(2, 3).t())
    same(device, host)
    model = torch.nn.Linear(3, 2, device="xpu")
    model.load_state_dict(model.state_dict())
    z = torch.tensor([1 + 2j], device="xpu")
    same(z.copy_(z.conj()), torch.tensor([1 - 2j]))


PARTIAL = {
    "copy": lambda x: x[1:].copy_(x[:-1]),
    "copy_back": lambda x: x[:-1].copy_(x[1:]),
    "transposed": lambda x: x[:4].view(2, 2).copy_(x[:4].view(2, 2).t()),
    "add": lambda x: torch.add(x[1:], 1, out=x[:-1]),
    "cumsum": lambda x: torch.cumsum(x[1:], 0, out=x[:-1]),
    "logcumsumexp": lambda x: torch.logcumsumexp(x[1:], 0, out=x[:-1]),
    "max": lambda x: torch.max(x.view(2, 4), 0, out=(x[1:5], torch.empty(0).long().to(x.device))),
    "sort": lambda x: torch.sort(x[:4], out=(x[2:6], torch.empty(0).long().to(x.device))),
    "foreach": lambda x: torch._foreach_copy_([x[1:]], [x[:-1]]),
}


@pytest.mark.parametrize("name", PARTIAL)
def test_partial_overlap_is_refused(name):
    for device in ("cpu", "xpu"):
        with pytest.raises(RuntimeError, match="refer to a single memory location"):
            PARTIAL[name](torch.arange(8.0, device=device))


def test_overlapping_target():
    for write in (
        lambda x: x.copy_(torch.ones(4, device=x.device)),
        lambda x: x.add_(1),
        lambda x: x.normal_(),
        lambda x: x.cumsum_(0),
    ):
        with pytest.raises(RuntimeError, match="more than one element"):
            write(torch.zeros(1, device="xpu").expand(4))


@pytest.mark.values
def test_fills_of_expanded_tensors():
    for device in ("cpu", "xpu"):
        x = torch.arange(6.0, device=device).view(3, 2)
        x[:1].expand(3, 2).fill_(7)
        x[1:2, :1].expand(4, 3).zero_()
        with pytest.warns(UserWarning, match="expanded tensors is deprecated"):
            x[2:].expand(3, 2).masked_fill_(torch.eye(3, 2, device=device, dtype=torch.bool), 9)
        assert x.tolist() == [[7, 7], [0, 3], [9, 9]]


def test_masked_scatter_of_itself():
    for device in ("cpu", "xpu"):
        x = torch.arange(8.0, device=device)
        assert x.masked_scatter_(x > 3, x).tolist() == [0, 1, 2, 3, 0, 1, 2, 3]


@pytest.mark.parametrize("value", [0, 3, -2.5, True])
def test_fills(value):
    device, host = torch.empty(5, 7, device="xpu"), torch.empty(5, 7)
    same(device.fill_(value), host.fill_(value))
    same(device[:, ::2].zero_(), host[:, ::2].zero_())
    same(torch.full((3,), value, device="xpu"), torch.full((3,), value))
    same(device.fill_(torch.tensor(2.0, device="xpu")), host.fill_(2.0))


@pytest.mark.values
def test_item():
    assert torch.full((), 7, device="xpu").item() == 7
    assert torch.arange(5.0).to("xpu")[3].item() == 3.0
    assert torch.tensor(True, device="xpu")


def test_empty_tensors():
    assert torch.empty(0, 3, device="xpu").to(torch.int32).cpu().shape == (0, 3)


@pytest.mark.values
@pytest.mark.parametrize("size", [0, 4])
def test_narrow_copy_into(size):
    x = torch.arange(24.0).reshape(4, 6)
    out = torch.empty([4, 2] if size else [0], device="xpu")
    torch.narrow_copy(x.to("xpu"), 1, 3, 2, out=out)
    assert torch.equal(out.cpu(), x[:, 3:5])
    with pytest.raises(RuntimeError, match="expected to have dtype"):
        torch.narrow_copy(x.to("xpu"), 1, 3, 2, out=out.half())


@pytest.mark.parametrize("layout", LAYOUTS)
def test_flips_keep_the_order_of_strides(layout):
    """As on the CPU; compiled code relies on it."""
    x = LAYOUTS[layout](torch.randn(3, 4, 5))
    ours = LAYOUTS[layout](torch.randn(3, 4, 5, device="xpu")).flip(0)
    assert ours.stride() == x.flip(0).stride()
