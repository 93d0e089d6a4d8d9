"""Padding, pooling, interpolation and their kin in the layouts and sizes that operator samples leave out."""

import pytest
import torch
import torch.nn.functional as F

FORMATS = {"planes": torch.contiguous_format, "channels_last": torch.channels_last}
OPERATIONS = {
    "max_pool": lambda t: F.max_pool2d(t, 3, 2, 1),
    "max_pool_dilated": lambda t: F.max_pool2d(t, 3, 2, 1, dilation=2, ceil_mode=True),
    "avg_pool": lambda t: F.avg_pool2d(t, 3, 2, 1, count_include_pad=False),
    "avg_pool_divisor": lambda t: F.avg_pool2d(t, 8, 3, 2, divisor_override=7),
    "adaptive_max_pool": lambda t: F.adaptive_max_pool2d(t, (5, 6)),
    "adaptive_avg_pool": lambda t: F.adaptive_avg_pool2d(t, (3, 2)),
    "reflect": lambda t: F.pad(t, (3, 2, 1, 4), mode="reflect"),
    "replicate": lambda t: F.pad(t, (3, 2, 1, 4), mode="replicate"),
    "nearest": lambda t: F.interpolate(t, size=(40, 20), mode="nearest"),
    "bilinear": lambda t: F.interpolate(t, scale_factor=1.7, mode="bilinear"),
    "bicubic": lambda t: F.interpolate(t, size=(13, 50), mode="bicubic", align_corners=True),
    "bilinear_aa": lambda t: F.interpolate(t, size=(4, 5), mode="bilinear", antialias=True),
    "bicubic_aa": lambda t: F.interpolate(t, size=(7, 50), mode="bicubic", antialias=True),
}


def both(operation, host):
    """Results and gradients on the CPU and on xpu."""
    found = []
    for device in ("cpu", "xpu"):
        x = host.detach().to(device).requires_grad_()
        y = operation(x)
        weights = torch.linspace(-1, 1, y.numel(), dtype=y.dtype).reshape(y.shape).to(device)
        found.append((y.detach().cpu(), *(g.cpu() for g in torch.autograd.grad(y, x, weights))))
    return found


@pytest.mark.values
@pytest.mark.parametrize("size", [(31, 37), (14, 14)], ids=str)
@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("name", OPERATIONS)
def test_layouts(name, format, size):
    torch.manual_seed(3)
    x = torch.randn(2, 20, *size).to(memory_format=FORMATS[format])
    expected, got = both(OPERATIONS[name], x)
    torch.testing.assert_close(got, expected, rtol=1e-4, atol=2e-5)


@pytest.mark.values
def test_a_channel_slice():
    x = torch.randn(2, 9, 12, 14)
    expected, got = both(lambda t: F.max_pool2d(t[:, 1::2, ::2], 2), x)
    torch.testing.assert_close(got, expected)


@pytest.mark.values
def test_the_largest_has_its_place():
    x = torch.randn(2, 3, 14, 14)
    x[0, 0, 3, 3] = float("nan")
    for device_x in (x, x.contiguous(memory_format=torch.channels_last)):
        values, places = F.max_pool2d(device_x.to("xpu"), 3, 2, 1, return_indices=True)
        expected, where = F.max_pool2d(x, 3, 2, 1, return_indices=True)
        torch.testing.assert_close(values.cpu(), expected, equal_nan=True)
        assert torch.equal(places.cpu(), where)


@pytest.mark.values
@pytest.mark.parametrize("mode", ["sum", "mean", "max"])
def test_bags(mode):
    table = torch.randn(30, 21)
    indices = torch.randint(0, 30, (40,))
    offsets = torch.tensor([0, 3, 3, 17])
    expected, got = both(
        lambda t: F.embedding_bag(
            indices.to(t.device), t, offsets.to(t.device), mode=mode, padding_idx=2
        ),
        table,
    )
    torch.testing.assert_close(got, expected, rtol=1e-4, atol=1e-5)
    narrow = F.embedding_bag(
        indices.to("xpu"), table.to("xpu", torch.bfloat16), offsets.to("xpu"), mode="sum"
    )
    exact = F.embedding_bag(indices, table.bfloat16().float(), offsets, mode="sum")
    torch.testing.assert_close(narrow.cpu().float(), exact, rtol=1e-2, atol=1e-2)


@pytest.mark.values
@pytest.mark.parametrize("align", [False, True])
@pytest.mark.parametrize("padding", ["zeros", "border", "reflection"])
@pytest.mark.parametrize("mode", ["bilinear", "nearest", "bicubic"])
def test_grid_sample(mode, padding, align):
    torch.manual_seed(5)
    x, grid = torch.randn(2, 3, 5, 6), torch.randn(2, 4, 8, 2) * 1.3
    for source in (x, grid):
        rest = grid if source is x else x

        def sample(t, source=source, rest=rest):
            other = rest.to(t.device)
            first, second = (t, other) if source is x else (other, t)
            return F.grid_sample(first, second, mode, padding, align)

        expected, got = both(sample, source)
        torch.testing.assert_close(got, expected, rtol=1e-3, atol=1e-4)


@pytest.mark.values
@pytest.mark.parametrize("dims", [2, 3])
def test_fractional_pooling(dims):
    x, samples = torch.randn(2, 3, *(12, 13, 14)[:dims]), torch.rand(2, 3, dims)
    pool = getattr(F, f"fractional_max_pool{dims}d")
    expected, got = both(
        lambda t: pool(t, 2, output_size=(5, 6, 4)[:dims], _random_samples=samples.to(t.device)),
        x,
    )
    torch.testing.assert_close(got, expected)


@pytest.mark.values
def test_columns_and_back():
    x = torch.randn(2, 3, 10, 12)
    for host in (x, x[0]):
        expected, got = both(lambda t: F.unfold(t, (3, 2), 2, 1, 2), host)
        torch.testing.assert_close(got, expected)
        columns = F.unfold(host, (3, 2), (1, 2), 1, 2)
        expected, got = both(lambda t: F.fold(t, (10, 12), (3, 2), (1, 2), 1, 2), columns)
        torch.testing.assert_close(got, expected)


@pytest.mark.values
@pytest.mark.parametrize("format", [torch.contiguous_format, torch.channels_last], ids=str)
def test_a_window_in_the_padding_alone(format):
    host = torch.arange(-150.0, -100).view(1, 2, 5, 5).contiguous(memory_format=format)
    for x in (host, host.repeat(1, 1, 1, 9)):
        for dilation, padding in ((5, 1), (2, 1), ((6, 1), (1, 0))):
            for return_indices in (False, True):
                expected = F.max_pool2d(x, 2, 1, padding, dilation, return_indices=return_indices)
                got = F.max_pool2d(
                    x.to("xpu"), 2, 1, padding, dilation, return_indices=return_indices
                )
                for one, other in zip(
                    *((t if return_indices else (t,)) for t in (got, expected)), strict=True
                ):
                    assert torch.equal(one.cpu(), other)


@pytest.mark.values
def test_antialiasing_in_both_directions():
    # PyTorch's own CPU kernel leaves the rows out where the result has one column; two steps do not.
    host = torch.tensor([[[[10.0, 20.0], [30.0, 40.0]]]])
    got = F.interpolate(host.to("xpu"), size=(7, 1), mode="bilinear", antialias=True)
    rows = F.interpolate(host, size=(7, 2), mode="bilinear", antialias=True)
    torch.testing.assert_close(got.cpu(), rows.mean(-1, keepdim=True))


AVERAGES_OF_INTEGERS = {
    "1d": lambda t: F.avg_pool1d(t[0], 3),
    "2d": lambda t: F.avg_pool2d(t, 2),
    "2d of the inside": lambda t: F.avg_pool2d(t, 3, 2, 1, count_include_pad=False),
    "2d with padding": lambda t: F.avg_pool2d(t, (3, 4), (2, 3), 1, ceil_mode=True),
    "2d of large windows": lambda t: F.avg_pool2d(t, (7, 9), (2, 1), (2, 3)),
    "2d with a divisor": lambda t: F.avg_pool2d(t, 2, divisor_override=3),
    "2d with a negative divisor": lambda t: F.avg_pool2d(t, 2, divisor_override=-3),
    "3d": lambda t: F.avg_pool3d(t[:, :, None].expand(-1, -1, 4, -1, -1), (2, 3, 2), 2, 1),
}


@pytest.mark.values
@pytest.mark.parametrize("name", AVERAGES_OF_INTEGERS)
def test_averages_of_integers_truncate(name):
    operation = AVERAGES_OF_INTEGERS[name]
    x = torch.randint(-50, 40, (2, 3, 13, 17))
    assert torch.equal(operation(x.to("xpu")).cpu(), operation(x))
    large = x + (1 << 60)
    assert torch.equal(operation(large.to("xpu")).cpu(), operation(large))


@pytest.mark.values
@pytest.mark.parametrize("dtype", [torch.int8, torch.uint8, torch.int32, torch.int64], ids=str)
def test_adaptive_averages_of_integers_truncate(dtype):
    """The CPU has none: each window's mean, toward zero."""
    x = torch.randint(0 if dtype == torch.uint8 else -100, 100, (2, 3, 13, 17)).to(dtype)
    expected = torch.empty(2, 3, 5, 4, dtype=dtype)
    for i in range(5):
        for j in range(4):
            rows, columns = (
                slice(k * size // to, -((k + 1) * size // -to))
                for k, size, to in ((i, 13, 5), (j, 17, 4))
            )
            window = x[:, :, rows, columns].flatten(2).long()
            expected[:, :, i, j] = torch.div(window.sum(2), window.shape[2], rounding_mode="trunc")
    assert torch.equal(F.adaptive_avg_pool2d(x.to("xpu"), (5, 4)).cpu(), expected)


def test_bags_name_wrong_indices_and_offsets():
    table = torch.rand(5, 3, device="xpu")
    indices, offsets = (torch.tensor(values, device="xpu") for values in ([1, 4, 7, 0], [0, 2]))
    F.embedding_bag(indices, table, offsets, mode="sum")
    with pytest.raises(Exception, match="index 7 is out of range for a table of 5 rows"):
        torch.xpu.synchronize()
    with torch.no_grad():
        F.embedding_bag(indices % 5, table, offsets * 3, mode="sum")
    with pytest.raises(Exception, match="offset 6 is out of range for 4 indices"):
        torch.xpu.synchronize()


@pytest.mark.values
@pytest.mark.parametrize("mode", ["sum", "mean", "max"])
def test_bags_in_inference_are_those_of_training(mode):
    generator = torch.Generator().manual_seed(5)
    table = torch.randn(40, 70, generator=generator)
    indices = torch.randint(0, 40, (90,), generator=generator)
    offsets = torch.tensor([0, 0, 7, 8, 60, 90])
    for layout in (table, table.t().contiguous().t()):
        expected = F.embedding_bag(indices, layout, offsets, mode=mode, padding_idx=3)
        arguments = [x.xpu() for x in (indices, layout, offsets)]
        with torch.no_grad():
            inferred = F.embedding_bag(*arguments, mode=mode, padding_idx=3)
        trained = F.embedding_bag(
            arguments[0], arguments[1].requires_grad_(), arguments[2], mode=mode, padding_idx=3
        )
        torch.testing.assert_close(inferred.cpu(), expected)
        assert torch.equal(inferred, trained)
