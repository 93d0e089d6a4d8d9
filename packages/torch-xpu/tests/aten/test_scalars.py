"""Numbers of Python that do not fit the dtype are refused, as on the CPU, instead of wrapped."""

import pytest
import torch

TOO_LARGE = [
    (torch.int8, 300),
    (torch.uint8, -300),
    (torch.int32, 2**40),
    (torch.int32, float("nan")),
    (torch.int64, 1j),
    (torch.float16, 1e10),
    (torch.float32, 1e300),
]
CALLS = {
    "fill_": lambda x, v: x.fill_(v),
    "full_like": torch.full_like,
    "masked_fill": lambda x, v: x.masked_fill(x > 0, v),
    "index_fill": lambda x, v: x.index_fill(0, torch.tensor([0], device=x.device), v),
    "scatter": lambda x, v: x.scatter(0, torch.tensor([0], device=x.device), v),
    "pad": lambda x, v: torch.nn.functional.pad(x, (1, 1), value=v),
    "setitem": lambda x, v: x.__setitem__(0, v),
}
ARITHMETIC = {
    "clamp_min": torch.clamp_min,
    "alpha": lambda x, v: torch.add(x, x, alpha=v),
    "addcmul": lambda x, v: torch.addcmul(x, x, x, value=v),
    "threshold": lambda x, v: torch.nn.functional.threshold(x, 0, v),
}


def refuses(call, device, dtype, value):
    try:
        call(torch.ones(3, dtype=dtype, device=device), value)
    except (RuntimeError, TypeError):
        return True
    return False


@pytest.mark.parametrize(("dtype", "value"), TOO_LARGE, ids=str)
@pytest.mark.parametrize("name", CALLS)
def test_filled(name, dtype, value):
    if name == "setitem" and dtype == torch.float16:
        pytest.skip("the CPU has infinity there, CUDA refuses")
    call = CALLS[name]
    assert refuses(call, "xpu", dtype, value) is refuses(call, "cpu", dtype, value)


@pytest.mark.parametrize("name", ARITHMETIC)
def test_computed_with(name):
    for dtype, value in ((torch.int8, 300), (torch.uint8, -300), (torch.int32, 2**40)):
        with pytest.raises(RuntimeError, match="without overflow"):
            ARITHMETIC[name](torch.ones(3, dtype=dtype, device="xpu"), value)


@pytest.mark.values
@pytest.mark.filterwarnings("ignore:index_reduce:UserWarning")
@pytest.mark.parametrize("dtype", [torch.int8, torch.uint8, torch.int32], ids=str)
def test_the_whole_range_fits(dtype):
    info = torch.iinfo(dtype)
    for value in (info.min, info.max):
        assert torch.full((2,), value, dtype=dtype, device="xpu").tolist() == [value] * 2
    x = torch.zeros(2, dtype=dtype, device="xpu")
    index = torch.tensor([0, 0], device="xpu")
    for how in ("amax", "amin", "prod"):
        got = x.index_reduce(0, index, torch.ones_like(x) * 5, how, include_self=False)
        expected = x.cpu().index_reduce(
            0, index.cpu(), torch.ones_like(x.cpu()) * 5, how, include_self=False
        )
        assert torch.equal(got.cpu(), expected)


@pytest.mark.values
def test_numbers_for_floats_alone_change_no_integers():
    x = torch.arange(3, dtype=torch.int8, device="xpu")
    assert torch.nan_to_num(x, nan=1e10, posinf=300.0).tolist() == [0, 1, 2]


def test_integers_are_not_blended():
    with pytest.raises(NotImplementedError, match="not implemented for"):
        torch.lerp(
            torch.ones(2, dtype=torch.int32, device="xpu"),
            torch.ones(2, dtype=torch.int32, device="xpu"),
            2,
        )


@pytest.mark.parametrize("function", [torch.add, torch.sub])
def test_a_factor_of_whole_numbers_is_whole(function):
    """Also where the result is put into floats."""
    x = torch.ones(3, dtype=torch.int8, device="xpu")
    with pytest.raises(RuntimeError, match="must not be a floating point number"):
        function(x, x, alpha=0.5, out=torch.empty(3, device="xpu"))


OF_FLOATS = {
    "std": lambda x, out: torch.std(x, out=out),
    "var": lambda x, out: torch.var(x, 0, out=out),
    "std_complex": lambda x, out: torch.std(torch.complex(x, x), 0, out=out),
    "angle": lambda x, out: torch.angle(x, out=out),
    "histc": lambda x, out: torch.histc(x, 4, out=out),
    "log_sigmoid": lambda x, out: torch.ops.aten.log_sigmoid.out(x, out=out),
    "kthvalue": lambda x, out: torch.kthvalue(x, 2, out=(out, out.clone())),
    "median": lambda x, out: torch.median(x, 0, out=(out, out.clone())),
    "mode": lambda x, out: torch.mode(x, out=(out, out.clone())),
    "batch_norm": lambda x, out: torch.ops.aten.native_batch_norm.out(
        x.view(1, 4),
        None,
        None,
        None,
        None,
        True,
        0.1,
        1e-5,
        out=out,
        save_mean=out,
        save_invstd=out,
    ),
}


@pytest.mark.parametrize("name", OF_FLOATS)
def test_floats_are_not_put_into_whole_numbers(name):
    for device in ("cpu", "xpu"):
        out = torch.zeros(4, dtype=torch.int64, device=device)
        with pytest.raises(RuntimeError, match=r"(?i)dtype|type"):
            OF_FLOATS[name](torch.arange(4.0, device=device), out)


def test_what_is_refused_leaves_the_running_statistics():
    x, mean, var = (torch.ones(shape, device="xpu") for shape in ((5, 4), 4, 4))
    outs = {
        name: torch.empty(0, device="xpu", dtype=torch.int64)
        for name in ("save_mean", "save_invstd")
    }
    with pytest.raises(RuntimeError):
        torch.ops.aten.native_batch_norm.out(
            x * 3, None, None, mean, var, True, 0.1, 1e-5, out=torch.empty_like(x), **outs
        )
    torch.testing.assert_close(mean, torch.ones(4, device="xpu"))
    torch.testing.assert_close(var, torch.ones(4, device="xpu"))
