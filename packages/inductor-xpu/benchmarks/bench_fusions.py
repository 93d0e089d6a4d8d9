"""Products and convolutions that take the steps after them, beside those with a kernel for the steps."""

from __future__ import annotations

import os
import types
from collections.abc import Callable, Iterator
from typing import Any

from xpu_bench import Case, Mean, Pair

UNFUSED = "torch xpu, compiled without post-ops"


def _torch() -> Any:
    import torch

    torch.set_num_threads(len(os.sched_getaffinity(0)))
    return torch


def _functional() -> Any:
    return _torch().nn.functional


def random(*sizes: int, half: bool = False, scale: float = 1.0) -> Any:
    torch = _torch()
    values = torch.randn(*sizes, device="xpu") * scale
    return values.to(torch.bfloat16) if half else values


def _linear(rows: int, inputs: int, outputs: int, half: bool) -> tuple[Any, ...]:
    scale = inputs**-0.5
    return (
        random(rows, inputs, half=half),
        random(outputs, inputs, half=half, scale=scale),
        random(outputs, half=half),
    )


def _convolution(
    batch: int, channels: int, features: int, size: int, window: int, half: bool
) -> tuple[Any, ...]:
    scale = (channels * window * window) ** -0.5
    return (
        _channels_last(random(batch, channels, size, size, half=half)),
        _channels_last(random(features, channels, window, window, half=half, scale=scale)),
        random(features, half=half),
    )


def _channels_last(tensor: Any) -> Any:
    return tensor.to(memory_format=_torch().channels_last)


F = _functional
Function = Callable[..., Any]
LINEAR: dict[str, tuple[Function, Callable[[bool], tuple[Any, ...]]]] = {
    "linear, gelu": (
        lambda x, w, b: F().gelu(F().linear(x, w, b)),
        lambda h: _linear(2048, 256, 1024, h),
    ),
    "linear, relu": (
        lambda x, w, b: F().relu(F().linear(x, w, b)),
        lambda h: _linear(4096, 128, 512, h),
    ),
    "linear, add": (
        lambda x, w, b, r: F().linear(x, w, b) + r,
        lambda h: (*_linear(2048, 1024, 256, h), random(2048, 256, half=h)),
    ),
    "silu of one times another": (
        lambda x, w, v: F().silu(F().linear(x, w)) * F().linear(x, v),
        lambda h: (*_linear(1024, 256, 704, h)[:2], random(704, 256, half=h, scale=1 / 16)),
    ),
    "batched product, mask": (
        lambda q, k, m: _torch().bmm(q, k) * 0.125 + m,
        lambda h: (
            random(24, 256, 64, half=h),
            random(24, 64, 256, half=h),
            random(256, 256, half=h),
        ),
    ),
}
CONVOLUTIONS: dict[str, tuple[Function, Callable[[bool], tuple[Any, ...]]]] = {
    "convolution, relu": (
        lambda x, w, b: F().relu(F().conv2d(x, w, b, padding=1)),
        lambda h: _convolution(8, 64, 64, 56, 3, h),
    ),
    "1x1 convolution, hardswish": (
        lambda x, w, b: F().hardswish(F().conv2d(x, w, b)),
        lambda h: _convolution(16, 64, 128, 28, 1, h),
    ),
    "1x1 convolution, bias": (
        lambda x, w, b: F().conv2d(x, w, b),
        lambda h: _convolution(16, 64, 128, 28, 1, h),
    ),
    "3x3 convolution, silu": (
        lambda x, w, b: F().silu(F().conv2d(x, w, b, padding=1)),
        lambda h: _convolution(16, 32, 32, 56, 3, h),
    ),
    "convolution, add, relu": (
        lambda x, w, b, r: F().relu(F().conv2d(x, w, b, padding=1) + r),
        lambda h: (
            *_convolution(8, 64, 64, 56, 3, h),
            _channels_last(random(8, 64, 56, 56, half=h)),
        ),
    ),
    "transposed convolution, relu": (
        lambda x, w, b: F().relu(F().conv_transpose2d(x, w, b, stride=2, padding=1)),
        lambda h: (
            _channels_last(random(8, 64, 28, 28, half=h)),
            _channels_last(random(64, 32, 4, 4, half=h, scale=1 / 32)),
            random(32, half=h),
        ),
    ),
}


def _copy(function: Function, name: str) -> Function:
    """Return a function with code of its own, since Dynamo keeps what it compiled by code."""
    code = function.__code__.replace(co_name=name)
    return types.FunctionType(code, function.__globals__, name, function.__defaults__)


def _setup(
    function: Function, make: Callable[[bool], tuple[Any, ...]], half: bool
) -> Callable[[], Pair]:
    def setup() -> Pair:
        torch = _torch()
        from inductor_xpu import settings

        torch.manual_seed(0)
        torch._dynamo.reset()
        inputs = make(half)

        def compiled(name: str, post_ops: bool | None) -> Callable[[], None]:
            call = torch.compile(_copy(function, name), dynamic=False)

            def once() -> None:
                with torch.no_grad():
                    call(*inputs)

            with settings.patch(post_ops=post_ops):
                once()
            return once

        ours, peer = compiled("fused", None), compiled("unfused", False)
        return Pair(ours, peer, torch.xpu.synchronize, torch.xpu.synchronize)

    return setup


def cases() -> Iterator[Case | Mean]:
    for name, (function, make) in (LINEAR | CONVOLUTIONS).items():
        for half in (False, True):
            title = f"fusion: {name}{', bf16' if half else ''}"
            yield Case(title, _setup(function, make, half), UNFUSED, ">= 0.97")
    yield Mean("fusions, geometric mean", "fusion: *", ">= 1.1")
