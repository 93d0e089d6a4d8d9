"""Matrix work: matmul beside a bare oneDNN primitive and PyTorch; convolutions, attention."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Callable, Iterator

from runtime_library import runtime_library
from xpu_bench import Case, Pair

SIZES = (128, 256, 512, 1024, 2048)
TORCH_TYPES = {"f32": "float32", "bf16": "bfloat16", "f16": "float16", "i8": "int8", "i32": "int32"}
BATCH = 4
# Input channels, output channels, input size, kernel, stride.
CONVOLUTIONS = (
    (3, 64, 224, 7, 2),
    *((64, 64, 56, 1, 1), (64, 64, 56, 3, 1), (64, 256, 56, 1, 1), (256, 64, 56, 1, 1)),
    *((256, 128, 56, 1, 1), (128, 128, 56, 3, 2), (128, 512, 28, 1, 1), (256, 512, 56, 1, 2)),
    *((512, 128, 28, 1, 1), (128, 128, 28, 3, 1)),
    *((512, 256, 28, 1, 1), (256, 256, 28, 3, 2), (256, 1024, 14, 1, 1), (512, 1024, 28, 1, 2)),
    *((1024, 256, 14, 1, 1), (256, 256, 14, 3, 1)),
    *((1024, 512, 14, 1, 1), (512, 512, 14, 3, 2), (512, 2048, 7, 1, 1), (1024, 2048, 14, 1, 2)),
    *((2048, 512, 7, 1, 1), (512, 512, 7, 3, 1)),
)


def modules():
    """Ours, and torch held to the same threads."""
    import torch

    import xpu_runtime as xr

    torch.set_num_threads(int(os.environ.get("OMP_NUM_THREADS", "2")))
    return xr, torch


def matmul_library() -> ctypes.CDLL:
    library = runtime_library("matmul_cost.cpp", ("matmul_ours", "matmul_bare"), ("sycl", "dnnl"))
    library.matmul_open.restype = ctypes.c_void_p
    return library


class Bare:
    """The two sides of one square matmul in C++."""

    def __init__(self, dtype: str, n: int) -> None:
        self.library = matmul_library()
        self.bench = ctypes.c_void_p(self.library.matmul_open(dtype.encode(), ctypes.c_int64(n)))

    @classmethod
    def possible(cls, dtype: str) -> bool:
        """Whether oneDNN has it for the first device."""
        sides = cls(dtype, 8)
        if sides.bench.value is None:
            return False
        sides.close()
        return True

    def time(self, side: str, calls: int, host: bool = False) -> float:
        call = getattr(self.library, f"matmul_{side}")
        return call(self.bench, ctypes.c_int(calls), ctypes.c_bool(host))

    def close(self) -> None:
        self.library.matmul_close(self.bench)


def beside_primitive(dtype: str, n: int) -> Case:
    def setup() -> Pair:
        sides = Bare(dtype, n)
        calls = max(1, min(200, round(2e9 / n**3)))
        return Pair(
            ours=lambda: sides.time("ours", calls),
            peer=lambda: sides.time("bare", calls),
            self_timed=True,
            close=sides.close,
        )

    return Case(f"matmul {dtype} {n}", setup, peer_name="bare oneDNN primitive", bar=">= 0.98")


def call_overhead() -> Case:
    """What a cached call costs the host beyond the primitive's own execute."""

    def setup() -> Pair:
        sides = Bare("f32", 8)
        return Pair(
            ours=lambda: sides.time("ours", 100, True) - sides.time("bare", 100, True),
            self_timed=True,
            close=sides.close,
        )

    return Case("matmul f32 8: call above execute", setup, bar="<= 3 us")


def beside_torch(dtype: str, n: int) -> Case:
    def setup() -> Pair:
        xr, torch = modules()
        kind = getattr(torch, TORCH_TYPES[dtype])
        whole = dtype == "i8"
        host = [
            torch.randint(-9, 9, (n, n)).to(kind) if whole else torch.randn(n, n).to(kind)
            for _ in range(2)
        ]
        out = torch.empty(n, n, dtype=torch.int32 if whole else kind)
        a, b = (to_device(xr, torch, t, dtype) for t in host)
        c = xr.empty((n, n), "i32" if whole else dtype)
        multiply = torch._int_mm if whole else torch.mm
        return Pair(
            ours=lambda: xr.dnn.matmul(a, b, c),
            peer=lambda: multiply(*host, out=out),
            sync=xr.synchronize,
        )

    return Case(f"matmul {dtype} {n}, torch", setup, peer_name="torch", bar=">= 1.0")


def to_device(xr, torch, t, dtype: str):
    """A device array of the same values and strides."""
    order = sorted(range(t.ndim), key=lambda d: (-t.stride(d), d))
    dense = t.permute(order).contiguous()
    bits = {1: torch.int8, 2: torch.int16, 4: torch.int32}[t.element_size()]
    array = xr.from_numpy(dense.view(bits).numpy().view(_numpy_type(dtype)), dtype)
    return array.transpose(*(order.index(d) for d in range(t.ndim)))


def _numpy_type(dtype: str) -> str:
    return {"f32": "f4", "bf16": "u2", "f16": "f2", "i8": "i1"}[dtype]


def convolution(what: str, dtype: str, shape: tuple[int, ...]) -> Case:
    inputs, outputs, size, kernel, stride = shape

    def setup() -> Pair:
        xr, torch = modules()
        kind, padding = getattr(torch, TORCH_TYPES[dtype]), kernel // 2
        result = (size + 2 * padding - kernel) // stride + 1
        x, w, y = (
            torch.randn(s).to(kind)
            for s in (
                (BATCH, inputs, size, size),
                (outputs, inputs, kernel, kernel),
                (BATCH, outputs, result, result),
            )
        )
        dx, dw, dy = (to_device(xr, torch, t, dtype) for t in (x, w, y))
        sides: dict[str, tuple[Callable, Callable]] = {
            "forward": (
                lambda: xr.dnn.convolution(dx, dw, dy, stride=stride, padding=padding),
                lambda: torch.nn.functional.conv2d(x, w, None, stride, padding),
            ),
            "data": (
                lambda: xr.dnn.convolution_backward_data(
                    dy, dw, dx, stride=stride, padding=padding
                ),
                lambda: backward([True, False, False]),
            ),
            "weights": (
                lambda: xr.dnn.convolution_backward_weights(
                    dx, dy, dw, stride=stride, padding=padding
                ),
                lambda: backward([False, True, False]),
            ),
        }

        def backward(wanted: list[bool]) -> object:
            pair, one = [stride, stride], [1, 1]
            return torch.ops.aten.convolution_backward(
                y, x, w, None, pair, [padding, padding], one, False, [0, 0], 1, wanted
            )

        ours, peer = sides[what]
        return Pair(ours=ours, peer=peer, sync=xr.synchronize)

    step = f"/{stride}" if stride > 1 else ""
    name = f"conv {what} {dtype} {inputs}-{outputs} {size}x{size} k{kernel}{step}"
    return Case(name, setup, peer_name="torch", bar=">= 1.0", repetitions=7)


def attention(dtype: str, shape: tuple[int, int, int, int], causal: bool) -> Case:
    def setup() -> Pair:
        xr, torch = modules()
        host = [torch.randn(shape).to(getattr(torch, TORCH_TYPES[dtype])) for _ in range(3)]
        arrays = [to_device(xr, torch, t, dtype) for t in host]
        out = xr.empty(shape, dtype)
        peer = torch.nn.functional.scaled_dot_product_attention
        return Pair(
            ours=lambda: xr.dnn.attention(*arrays, causal=causal, out=out),
            peer=lambda: peer(*host, is_causal=causal),
            sync=xr.synchronize,
        )

    name = f"attention{' causal' if causal else ''} {dtype} {'x'.join(map(str, shape))}"
    return Case(name, setup, peer_name="torch", bar=">= 1.0", repetitions=15)


def cases() -> Iterator[Case]:
    yield call_overhead()
    for dtype in ("f32", "bf16", "f16", "i8"):
        for n in SIZES:
            if Bare.possible(dtype):
                yield beside_primitive(dtype, n)
            yield beside_torch(dtype, n)
    for what in ("forward", "data", "weights"):
        for dtype in ("f32", "bf16"):
            for shape in CONVOLUTIONS:
                yield convolution(what, dtype, shape)
    for dtype in ("f32", "bf16", "f16"):
        for shape in ((4, 12, 384, 64), (1, 16, 1024, 64), (1, 4, 2048, 128)):
            for causal in (False, True):
                yield attention(dtype, shape, causal)
