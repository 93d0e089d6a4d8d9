"""torch_xpu.low_bit_linear and dequantize_low_bit: weights of eight and four bits under float activations."""

from concurrent.futures import ThreadPoolExecutor

import pytest
import torch
from xpu_testing import values_checked

linear = torch.ops.torch_xpu.low_bit_linear
dequantize = torch.ops.torch_xpu.dequantize_low_bit

N, K = 24, 256
E2M1 = torch.tensor([0, 0.5, 1, 1.5, 2, 3, 4, 6])
E2M1 = torch.cat([E2M1, -E2M1])
FORMATS = ("int8", "uint8", "e4m3", "e5m2", "int4", "uint4", "e2m1")
FLOATS = (torch.float32, torch.bfloat16, torch.float16)


@pytest.fixture(autouse=True)
def seed():
    torch.manual_seed(0)


def make_weight(form, n=N, k=K):
    """Return the stored weight and its numbers in float64."""
    if form == "int8":
        stored = torch.randint(-128, 128, (n, k), dtype=torch.int8)
        return stored, stored.double()
    if form == "uint8":
        stored = torch.randint(0, 256, (n, k), dtype=torch.uint8)
        return stored, stored.double()
    if form in ("e4m3", "e5m2"):
        dtype = torch.float8_e4m3fn if form == "e4m3" else torch.float8_e5m2
        stored = torch.randn(n, k).to(dtype)
        return stored, stored.double()
    bits = torch.randint(0, 16, (n, k), dtype=torch.uint8)
    stored = bits[:, ::2] | bits[:, 1::2] << 4
    numbers = {"int4": (bits.double() + 8) % 16 - 8, "uint4": bits.double()}.get(form)
    return stored, E2M1[bits.long()].double() if numbers is None else numbers


def meaning(numbers, scale=None, zero=None, offset=None):
    """Return scale * (numbers - zero) + offset in float64."""

    def spread(x):
        x = x.double().reshape(-1, x.shape[-1]) if x.dim() else x.double().reshape(1, 1)
        return x.repeat_interleave(numbers.shape[1] // x.shape[1], 1)

    values = numbers if zero is None else numbers - spread(zero)
    values = values if scale is None else values * spread(scale)
    return values if offset is None else values + spread(offset)


def on_xpu(*tensors):
    return [t if t is None else t.to("xpu") for t in tensors]


def check(got, expected, dtype):
    assert (got.dtype, got.shape, got.device.type) == (dtype, expected.shape, "xpu")
    if got.numel() and values_checked():
        error = (got.cpu().double() - expected).abs().max()
        assert error <= max(2 * torch.finfo(dtype).eps, 1e-5) * expected.abs().max().clamp_min(1e-3)


@pytest.mark.parametrize("groups", [0, 1, 2, 8])
@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("form", FORMATS)
def test_formats(form, dtype, groups):
    stored, numbers = make_weight(form)
    scale = torch.rand(N, groups) + 0.1 if groups else torch.tensor(0.25)
    zero = torch.randint(-3, 4, scale.shape, dtype=torch.int8)
    offset, bias = torch.randn(scale.shape), torch.randn(N).to(dtype)
    for extras in ((scale, None, None), (scale, zero, None), (scale, None, offset)):
        weight, *given = on_xpu(stored, *extras)
        expected = meaning(numbers, *extras)
        check(dequantize(weight, form, *given, torch.float32), expected, torch.float32)
        for rows in (1, 7, 33):
            x = torch.randn(rows, K).to(dtype)
            got = linear(x.to("xpu"), weight, form, *given, bias.to("xpu"))
            check(got, x.double() @ expected.t() + bias.double(), dtype)


@pytest.mark.parametrize("kind", [torch.bfloat16, torch.float16, torch.float8_e4m3fn, "e8m0"])
def test_types_of_scales(kind):
    stored, numbers = make_weight("e2m1")
    scale = torch.rand(N, K // 32) + 0.5
    if kind == "e8m0":
        scale = torch.randint(120, 130, scale.shape, dtype=torch.uint8).view(torch.float8_e8m0fnu)
        values = torch.exp2(scale.view(torch.uint8).double() - 127)
    else:
        scale = scale.to(kind)
        values = scale.double()
    x = torch.randn(3, K)
    got = linear(x.to("xpu"), stored.to("xpu"), "e2m1", scale.to("xpu"), None, None, None)
    check(got, x.double() @ meaning(numbers, values).t(), torch.float32)


def test_layouts():
    """Rows of larger matrices, words of packed numbers, scales in any order, and activations of any shape."""
    stored, numbers = make_weight("int4", 2 * N)
    scale = torch.rand(K // 64, 2 * N).t()
    expected = meaning(numbers, scale)
    x = torch.randn(2, 3, 5, K)
    weight, given, ours = on_xpu(stored, scale, x)
    check(linear(ours, weight, "int4", given, None, None, None), x.double() @ expected.t(), x.dtype)
    got = linear(ours, weight[N:], "int4", given[N:], None, None, None)
    check(got, x.double() @ expected[N:].t(), x.dtype)
    got = linear(ours, weight.view(torch.int32), "int4", given, None, None, None)
    check(got, x.double() @ expected.t(), x.dtype)
    got = linear(ours[0, 0, 0], weight, "int4", given, None, None, None)
    check(got, x[0, 0, 0].double() @ expected.t(), x.dtype)
    got = linear(ours.transpose(0, 2), weight, "int4", given, None, None, None)
    check(got, x.transpose(0, 2).double() @ expected.t(), x.dtype)
    # A part of each row: its first number may begin in the middle of a word.
    got = linear(ours[..., 4:], weight[:, 2:], "int4", None, None, None, None)
    check(got, x[..., 4:].double() @ numbers[:, 4:].t(), x.dtype)
    rows = linear(ours[:0], weight, "int4", given, None, None, None)
    assert rows.shape == (0, 3, 5, 2 * N)


@pytest.mark.parametrize("rows", [2, 40])
@pytest.mark.parametrize("form", ["int8", "uint4", "e4m3"])
def test_gradients(form, rows):
    stored, numbers = make_weight(form)
    scale, zero = torch.rand(N, 4) + 0.1, torch.randint(0, 5, (N, 4), dtype=torch.int8)
    weight, *given = on_xpu(stored, scale, zero)
    x, bias = torch.randn(rows, K), torch.randn(N)
    ours, our_bias = (t.to("xpu").requires_grad_() for t in (x, bias))
    dense = meaning(numbers, scale, zero)
    reference, reference_bias = (t.double().requires_grad_() for t in (x, bias))
    upstream = torch.randn(rows, N)
    linear(ours, weight, form, *given, None, our_bias).backward(upstream.to("xpu"))
    (reference @ dense.t() + reference_bias).backward(upstream.double())
    check(ours.grad, reference.grad, torch.float32)
    check(our_bias.grad, reference_bias.grad, torch.float32)


def test_scales_have_no_gradients():
    """An error says so: a gradient must not be missing in silence."""
    stored, _ = make_weight("int8")
    scale = torch.ones(N, 1, device="xpu", requires_grad=True)
    with pytest.raises(NotImplementedError, match="have no gradients"):
        dequantize(stored.to("xpu"), "int8", scale, None, None, torch.float32)
    with torch.no_grad():
        dequantize(stored.to("xpu"), "int8", scale, None, None, torch.float32)


def test_work_and_weights_outlive_their_caller():
    """Operands are dropped while the work is pending, and other threads call meanwhile."""
    stored, _ = make_weight("int8", 512, 512)
    weight, x = on_xpu(stored, torch.randn(4, 512))
    expected = linear(x, weight, "int8", None, None, None, None).cpu()

    def drop_and_compare():
        for _ in range(20):
            result = linear(x.clone(), weight.clone(), "int8", None, None, None, None)
        return torch.equal(result.cpu(), expected)

    with ThreadPoolExecutor(4) as pool:
        equal = list(pool.map(lambda _: drop_and_compare(), range(8)))
    assert all(equal) or not values_checked()


def test_large_weights_are_widened_in_pieces():
    n, k = 300, 1 << 18
    stored = torch.randint(-128, 128, (n, k), dtype=torch.int8)
    x = torch.zeros(17, k)
    x[:, ::1000] = torch.randn(17, x[:, ::1000].shape[1])
    scale, bias = torch.rand(n, 1), torch.randn(n)
    got = linear(x.to("xpu"), stored.to("xpu"), "int8", scale.to("xpu"), None, None, bias.to("xpu"))
    expected = x.double() @ (stored.double() * scale.double()).t() + bias.double()
    check(got, expected, torch.float32)


def test_compilers_know_shapes():
    x = torch.empty(2, 3, K, device="meta", dtype=torch.bfloat16)
    weight = torch.empty(N, K // 2, device="meta", dtype=torch.uint8)
    assert linear(x, weight, "int4", None, None, None, None).shape == (2, 3, N)
    assert dequantize(weight, "int4", None, None, None, torch.float16).shape == (N, K)
    assert dequantize(weight, "int8", None, None, None, torch.float16).shape == (N, K // 2)


@pytest.mark.values
def test_compiled_and_captured():
    stored, _ = make_weight("int4")
    weight, scale, x = on_xpu(stored, torch.rand(N, 2), torch.randn(2, K))

    def apply(x):
        return torch.relu(linear(x, weight, "int4", scale, None, None, None)) + 1

    expected = apply(x)
    assert torch.allclose(torch.compile(apply, fullgraph=True, backend="aot_eager")(x), expected)
    graph = torch.xpu.XPUGraph()
    with torch.xpu.graph(graph):
        result = apply(x)
    x.mul_(2)
    graph.replay()
    assert torch.equal(result, apply(x))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"form": "int3"}, "format: got 'int3', expected one of uint8"),
        ({"scale": torch.ones(N, 3)}, "scale: got shape"),
        ({"scale": torch.ones(N)}, "scale: got shape"),
        ({"zero": torch.ones(N + 1, 1)}, "zero_point: got shape"),
        ({"bias": torch.ones(N + 1)}, "bias: got shape"),
        ({"x": torch.ones(2, K + 1)}, "cannot be multiplied"),
        ({"x": torch.ones(2, K, dtype=torch.float64)}, "expected float32, float16 or bfloat16"),
        ({"weight": torch.ones(N, K)}, "expected bytes"),
        ({"zero": torch.ones(N, 1, dtype=torch.complex64)}, "zero_point: got ComplexFloat"),
        ({"scale": torch.ones(N, 1, requires_grad=True)}, "low-bit weights have no gradients"),
    ],
)
def test_errors_name_the_argument(arguments, message):
    given = {"x": torch.ones(2, K), "weight": torch.ones(N, K, dtype=torch.int8), "form": "int8"}
    given |= {"scale": None, "zero": None, "bias": None} | arguments
    x, weight, scale, zero, bias = on_xpu(
        *(given[name] for name in ("x", "weight", "scale", "zero", "bias"))
    )
    with pytest.raises((RuntimeError, ValueError, TypeError), match=message):
        linear(x, weight, given["form"], scale, zero, None, bias)
