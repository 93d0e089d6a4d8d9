"""Matrix products, linear layers, convolutions and attention beside stock PyTorch's CPU."""

from __future__ import annotations

from collections.abc import Iterator

from cpu_peer import case
from xpu_bench import Case

DTYPES = ("f32", "bf16")
GEMMS = (
    (512, 512, 512),
    (1024, 1024, 1024),
    (2048, 768, 3072),
    (128, 4096, 4096),
    (2048, 50257, 768),
)
LINEARS = ((2048, 768, 3072), (256, 768, 768), (1, 2048, 8192))
CONVOLUTIONS = (
    # batch, channels, size, filters, kernel, stride, padding, groups
    (8, 3, 224, 64, 7, 2, 3, 1),
    (8, 64, 56, 64, 3, 1, 1, 1),
    (8, 128, 28, 128, 3, 1, 1, 1),
    (8, 256, 14, 1024, 1, 1, 0, 1),
    (8, 96, 56, 96, 7, 1, 3, 96),
)
# batch, heads, length, head size, causal
ATTENTIONS = ((8, 12, 256, 64, True), (4, 12, 1024, 64, False), (1, 8, 4096, 64, True))


def _random(dtype: str, *shapes: tuple[int, ...], grad: bool = False):
    def make(device: str):
        import torch

        of = {"f32": torch.float32, "bf16": torch.bfloat16}[dtype]
        return [torch.randn(s, dtype=of, device=device).requires_grad_(grad) for s in shapes]

    return make


def _train(call):
    """The call with its backward pass."""

    def both(*inputs):
        import torch

        result = call(*inputs)
        return torch.autograd.grad(result, inputs, result.detach())

    return both


def cases() -> Iterator[Case]:
    import torch
    from torch.nn import functional

    for dtype in DTYPES:
        for m, n, k in GEMMS:
            yield case(f"mm {m}x{n}x{k} {dtype}", _random(dtype, (m, k), (k, n)), torch.mm)
        yield case(
            f"bmm 96x256x256x64 {dtype}", _random(dtype, (96, 256, 64), (96, 64, 256)), torch.bmm
        )
        for m, n, k in LINEARS:
            shapes = (m, k), (n, k), (n,)
            yield case(f"linear {m}x{n}x{k} {dtype}", _random(dtype, *shapes), functional.linear)
        m, n, k = LINEARS[0]
        made = _random(dtype, (m, k), (n, k), (n,), grad=True)
        yield case(f"linear {m}x{n}x{k} backward {dtype}", made, _train(functional.linear))
        for b, c, size, f, kernel, stride, padding, groups in CONVOLUTIONS:
            shapes = (b, c, size, size), (f, c // groups, kernel, kernel)

            def convolve(x, w, stride=stride, padding=padding, groups=groups):
                return functional.conv2d(x, w, None, stride, padding, 1, groups)

            name = f"conv {b}x{c}x{size} {f}x{kernel}/{stride} g{groups}"
            yield case(f"{name} {dtype}", _random(dtype, *shapes), convolve)
            made = _random(dtype, *shapes, grad=True)
            yield case(f"{name} backward {dtype}", made, _train(convolve))
        for b, h, length, d, causal in ATTENTIONS:

            def attend(q, k, v, causal=causal):
                return functional.scaled_dot_product_attention(q, k, v, is_causal=causal)

            shape = (b, h, length, d)
            name = f"sdpa {b}x{h}x{length}x{d}{' causal' if causal else ''}"
            yield case(f"{name} {dtype}", _random(dtype, shape, shape, shape), attend)
            made = _random(dtype, shape, shape, shape, grad=True)
            yield case(f"{name} backward {dtype}", made, _train(attend))
