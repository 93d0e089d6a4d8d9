"""Convolutions: what the samples of PyTorch's operators leave out, layouts above all."""

import pytest
import torch
import torch.nn.functional as F

import torch_xpu

TOLERANCES = {
    torch.float64: 1e-12,
    torch.float32: 1e-5,
    torch.float16: 5e-3,
    torch.bfloat16: 4e-2,
}
KINDS = {
    "plain": (F.conv2d, {"stride": 2, "padding": 1}, 1, False),
    "dilated groups": (F.conv2d, {"dilation": 2, "padding": (2, 1), "groups": 2}, 2, False),
    "depthwise": (F.conv2d, {"padding": 1, "groups": 4}, 4, False),
    "transposed": (F.conv_transpose2d, {"stride": 2, "output_padding": (1, 0)}, 1, True),
    "transposed groups": (F.conv_transpose2d, {"stride": 2, "padding": 1, "groups": 2}, 2, True),
}


def run(function, device, x, w, b, options, layout):
    leaves = [t.detach().to(device).to(memory_format=layout) for t in (x, w)]
    leaves = [t.requires_grad_() for t in (*leaves, b.detach().to(device))]
    out = function(*leaves, **options)
    dense = torch.linspace(-1, 1, out.numel(), dtype=torch.float64).reshape(out.shape)
    # What the gradient of a sum is: strides of 0.
    ones = torch.ones((), dtype=x.dtype).to(device).expand(out.shape)
    grads = torch.autograd.grad(out, leaves, dense.to(x.dtype).to(device), retain_graph=True)
    grads += torch.autograd.grad(out, leaves, ones)
    return [out, *grads]


@pytest.mark.values
@pytest.mark.parametrize("dtype", TOLERANCES, ids=str)
@pytest.mark.parametrize("layout", [torch.contiguous_format, torch.channels_last], ids=str)
@pytest.mark.parametrize("kind", KINDS)
def test_against_the_cpu(kind, layout, dtype):
    function, options, groups, transposed = KINDS[kind]
    torch.manual_seed(0)
    x, b = torch.randn(2, 4, 9, 11).to(dtype), torch.randn(8).to(dtype)
    shape = (4, 8 // groups, 3, 3) if transposed else (8, 4 // groups, 3, 3)
    w = torch.randn(shape).to(dtype)
    got = run(function, "xpu", x, w, b, options, layout)
    assert got[0].is_contiguous(memory_format=layout)
    expected = run(function, "cpu", x.double(), w.double(), b.double(), options, layout)
    for ours, theirs in zip(got, expected, strict=True):
        assert ours.dtype == dtype
        error = (ours.detach().cpu().double() - theirs).abs().max()
        assert error <= TOLERANCES[dtype] * theirs.abs().max()


def with_gaps(shape, order):
    """Return a view in that order of dimensions in memory, with gaps between images, channels or rows."""
    sizes = [shape[d] for d in order]
    larger = torch.randn([n + 1 for n in sizes[:2]] + sizes[2:])
    view = larger[1:, 1:] if sizes[1] > 1 else larger[1:, :1]
    return view.permute([order.index(d) for d in range(len(order))])


def keep_strides(t, device):
    """Return a copy on the device with the same strides and offset; what lies in the gaps is copied, too."""
    return t._base.to(device).as_strided(t.size(), t.stride(), t.storage_offset())


@pytest.mark.values
@pytest.mark.parametrize("order", [(0, 1, 2, 3), (0, 2, 3, 1), (1, 0, 2, 3)], ids=str)
@pytest.mark.parametrize("gaps_of", ["gradient", "input", "weight"])
@pytest.mark.parametrize(("kernel", "stride"), [(8, 8), (3, 1), (1, 1)])
def test_operands_with_gaps(kernel, stride, gaps_of, order):
    """A vision transformer's first gradient skips the class token of each image."""
    size = (32 - kernel) // stride + 1
    shapes = {
        "gradient": (2, 32, size, size),
        "input": (2, 3, 32, 32),
        "weight": (32, 3, kernel, kernel),
    }
    grad, x, w = (
        with_gaps(shape, order) if name == gaps_of else torch.randn(1, *shape)[0]
        for name, shape in shapes.items()
    )
    geometry = ([stride] * 2, [0, 0], [1, 1], False, [0, 0], 1)

    def run(grad, x, w):
        y = torch.ops.aten.convolution(x, w, None, *geometry)
        backward = torch.ops.aten.convolution_backward
        return [y, *backward(grad, x, w, [32], *geometry, [True] * 3)]

    expected = run(*(t.double() for t in (grad, x, w)))
    got = run(*(keep_strides(t, "xpu") for t in (grad, x, w)))
    for ours, exact in zip(got, expected, strict=True):
        scale = exact.abs().max().item()
        torch.testing.assert_close(ours.cpu().double(), exact, rtol=0, atol=2e-5 * scale)


@pytest.mark.values
def test_padding_beyond_the_stride():
    x, w = torch.randn(1, 2, 5), torch.randn(2, 3, 3)
    options = {"stride": 2, "dilation": 4, "output_padding": 3}
    got = F.conv_transpose1d(x.to("xpu"), w.to("xpu"), **options)
    torch.testing.assert_close(got.cpu(), F.conv_transpose1d(x, w, **options))


def test_no_images():
    w = torch.ones(4, 3, 3, 3, device="xpu", requires_grad=True)
    out = F.conv2d(torch.ones(0, 3, 8, 8, device="xpu"), w)
    assert out.shape == (0, 4, 6, 6)


def test_refusals():
    x, w = torch.ones(1, 3, 8, 8, device="xpu"), torch.ones(4, 3, 3, 3, device="xpu")
    with pytest.raises(RuntimeError, match="should be the same"):
        F.conv2d(x, w.half())
    with pytest.raises(RuntimeError, match="to have 3 channels"):
        F.conv2d(x[:, :2], w)


@pytest.mark.parametrize("dims", [1, 2, 3])
@pytest.mark.parametrize("kind", ["Conv", "ConvTranspose"])
def test_images_and_weights_on_two_devices_are_refused(kind, dims):
    """Also where operators may run on the host: PyTorch would do so if the images are there."""
    layer = getattr(torch.nn, f"{kind}{dims}d")(1, 2, 3)
    images = torch.ones(1, 1, *[8] * dims)
    with torch_xpu.using_fallback("allow"):
        with pytest.raises(RuntimeError, match="on the same device"):
            layer(images.to("xpu"))
        layer.to("xpu")
        with pytest.raises(RuntimeError, match=r"on the same device.* xpu:0 and cpu"):
            layer(images)


@pytest.mark.parametrize(("size", "padding"), [(2, 2), (1, 2)])
def test_a_transposed_convolution_with_nothing_left_is_refused(size, padding):
    x, weight = torch.ones(1, 1, size, device="xpu"), torch.ones(1, 2, 2, device="xpu")
    with pytest.raises(RuntimeError, match="Output size is too small"):
        torch.nn.functional.conv_transpose1d(x, weight, stride=2, padding=padding)
