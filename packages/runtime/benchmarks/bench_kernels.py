"""The common kernels: memory bandwidth beside OpenMP, transposes beside numpy, functions beside PyTorch."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
from xpu_bench import Case, Pair, native_library

STREAM = 64 * 2**20  # floats in 256 MB
MATH = 64 * 2**20  # bytes
FUNCTIONS = {
    "exp": ("xpu::exp(a0)", "exp"),
    "tanh": ("xpu::tanh(a0)", "hyperbolic"),
    "erf": ("xpu::erf(a0)", "erf"),
    "gelu": ("xpu::gelu(a0)", "gelu"),
}


def _finish() -> None:
    import xpu_runtime as xr

    xr.current_stream().synchronize()


def _address(array: np.ndarray) -> ctypes.c_void_p:
    return ctypes.c_void_p(array.ctypes.data)


def stream(name: str) -> Pair:
    """Triad or copy over arrays of 256 MB."""
    import xpu_runtime as xr

    peer = native_library(Path(__file__).with_name("stream_peer.cpp"))
    a, b, c = (np.full(STREAM, float(i), np.float32) for i in range(3))
    count = ctypes.c_long(STREAM)
    x, y, z = (xr.from_numpy(host) for host in (a, b, c))
    if name == "copy":
        return Pair(
            ours=lambda: xr.kernels.copy(x, y),
            peer=lambda: peer.copy(_address(a), _address(b), count),
            sync=_finish,
        )
    triad = xr.kernels.Elementwise("triad", "a0 + p0 * a1", inputs=2, scalars=1)
    return Pair(
        ours=lambda: triad(x, [y, z], [2.0]),
        peer=lambda: peer.triad(_address(a), _address(b), _address(c), ctypes.c_float(2), count),
        sync=_finish,
    )


def reduction() -> Pair:
    """The sum of 256 MB beside OpenMP's copy, which reads as much."""
    import xpu_runtime as xr

    peer = native_library(Path(__file__).with_name("stream_peer.cpp"))
    a, b = np.zeros(STREAM, np.float32), np.ones(STREAM, np.float32)
    count = ctypes.c_long(STREAM)
    x, out = xr.from_numpy(b), xr.empty(())
    return Pair(
        ours=lambda: xr.kernels.reduce("sum", out, x, 0),
        peer=lambda: peer.copy(_address(a), _address(b), count),
        sync=_finish,
    )


def transpose(shape: tuple[int, ...], axes: tuple[int, ...], dtype: str) -> Pair:
    """A copy of a transposed view into a contiguous array."""
    import xpu_runtime as xr

    host = (
        np.arange(np.prod(shape))
        .reshape(shape)
        .astype({"bf16": "u2", "f32": "f4", "u8": "u1"}[dtype])
    )
    transposed = host.transpose(axes)
    out = np.empty(transposed.shape, host.dtype)
    src = xr.from_numpy(host, dtype)
    dst = xr.empty(transposed.shape, dtype)
    view = src.transpose(*axes)
    return Pair(
        ours=lambda: xr.kernels.copy(dst, view),
        peer=lambda: np.copyto(out, transposed),
        sync=_finish,
    )


def function(name: str, dtype: str) -> Pair:
    """One function over 64 MB; PyTorch writes to an output of its own too."""
    import torch

    import xpu_runtime as xr

    torch.set_num_threads(2)
    expression, header = FUNCTIONS[name]
    ours = xr.kernels.Elementwise(name, expression, headers=[header])
    count = MATH // (2 if dtype == "bf16" else 4)
    x = torch.randn(count, dtype=torch.bfloat16 if dtype == "bf16" else torch.float32)
    out = torch.empty_like(x)
    bits = x.view(torch.int16).numpy().view(np.uint16) if dtype == "bf16" else x.numpy()
    src, dst = xr.from_numpy(bits, dtype), xr.empty((count,), dtype)
    peers: dict[str, Callable[[], object]] = {
        "exp": lambda: torch.exp(x, out=out),
        "tanh": lambda: torch.tanh(x, out=out),
        "erf": lambda: torch.erf(x, out=out),
        "gelu": lambda: torch._C._nn.gelu(x, out=out),
    }
    return Pair(ours=lambda: ours(dst, [src]), peer=peers[name], sync=_finish)


def layouts(name: str) -> Pair:
    """An addition whose operands lie in other ways than one after another."""
    import torch

    import xpu_runtime as xr

    torch.set_num_threads(2)
    add = xr.kernels.Elementwise("add", "a0 + a1", inputs=2)
    x, y = torch.randn(4096, 4096), torch.randn(4096, 4096)
    out = torch.empty(4096, 4096)
    a, b = xr.from_numpy(x.numpy()), xr.from_numpy(y.numpy())
    o = xr.empty((4096, 4096))
    views = {
        "bias": (lambda t: t[0], lambda t: t.view((4096,), (1,))),
        "column": (lambda t: t[:, :1], lambda t: t.view((4096, 1), (4096, 1))),
        "transposed": (lambda t: t.t(), lambda t: t.transpose()),
    }
    theirs, mine = views[name][0](y), views[name][1](b)
    return Pair(
        ours=lambda: add(o, [a, mine]), peer=lambda: torch.add(x, theirs, out=out), sync=_finish
    )


def cases() -> Iterator[Case]:
    """The rows of the common kernels."""
    for name in ("triad", "copy"):
        yield Case(f"{name} f32 256 MB", lambda name=name: stream(name), "OpenMP", ">= 0.95")
    yield Case("sum f32 256 MB", reduction, "OpenMP copy", ">= 0.95")
    for shape, axes, dtype in (
        ((4096, 4096), (1, 0), "f32"),
        ((4096, 4096), (1, 0), "bf16"),
        ((4096, 4096), (1, 0), "u8"),
        ((32, 512, 8, 64), (0, 2, 1, 3), "f32"),
        ((32, 56, 56, 64), (0, 3, 1, 2), "f32"),
        ((1000, 1000, 3), (2, 0, 1), "u8"),
    ):
        label = f"transpose copy {dtype} {'x'.join(map(str, shape))} by {''.join(map(str, axes))}"
        args = (shape, axes, dtype)
        yield Case(label, lambda args=args: transpose(*args), "numpy", ">= 1.0")
    for dtype in ("f32", "bf16"):
        for name in FUNCTIONS:
            args = (name, dtype)
            yield Case(
                f"{name} {dtype} 64 MB", lambda args=args: function(*args), "torch", ">= 1.0"
            )
    for name in ("bias", "column", "transposed"):
        yield Case(f"add f32 4096x4096, {name}", lambda name=name: layouts(name), "torch", ">= 1.0")
