"""Functions for which Inductor writes each kind of Triton kernel that it has, with inputs and settings."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import torch
import torch.nn.functional as F
from language.case import TRITON
from torch.nn.attention.flex_attention import flex_attention

BF16, F16, F64 = torch.bfloat16, torch.float16, torch.float64
EAGER = ""
PRODUCTS = {"max_autotune_gemm": True, "max_autotune_gemm_backends": "TRITON"}


@dataclass(frozen=True)
class Case:
    """A function, its inputs, Inductor's settings, and how close results must be to those of eager mode.

    ``code`` is a text that the compiled code has; EAGER where operators of eager mode compute all of it.
    """

    function: Callable[..., Any]
    inputs: Callable[[], tuple[torch.Tensor, ...]]
    settings: dict[str, Any] = field(default_factory=dict)
    dynamic: bool = False
    tolerance: float = 1e-4
    code: str = "async_compile.triton("


def normal(*shape: int, dtype: torch.dtype = torch.float32) -> torch.Tensor:
    return torch.randn(shape).to(dtype)


def whole(low: int, high: int, *shape: int, dtype: torch.dtype = torch.int64) -> torch.Tensor:
    return torch.randint(low, high, shape).to(dtype)


def _unary(x: torch.Tensor) -> tuple[torch.Tensor, ...]:
    names = (
        *("exp", "log", "sin", "cos", "tanh", "erf", "lgamma", "expm1", "log1p", "sqrt", "rsqrt"),
        *("abs", "floor", "ceil", "round", "trunc", "exp2", "log2", "log10", "acos", "asin"),
        *("atan", "sinh", "cosh", "asinh", "acosh", "atanh", "erfc", "erfinv", "digamma", "i0"),
        *("sign", "isnan", "isinf", "frac", "reciprocal", "signbit", "sigmoid", "square"),
    )
    special = ("i0e", "i1", "i1e", "bessel_j0", "bessel_j1", "ndtri", "log_ndtr", "entr")
    found = [getattr(torch, name)(x) for name in names]
    found += [getattr(torch.special, name)(x) for name in special]
    return (*found, x.pow(3), x.abs().pow(2.5), (x / 3).tan())


def _binary(x: torch.Tensor, y: torch.Tensor) -> tuple[torch.Tensor, ...]:
    names = (
        *("atan2", "fmod", "hypot", "copysign", "nextafter", "maximum", "minimum", "fmax", "fmin"),
        *("div", "floor_divide", "logaddexp", "ldexp"),
    )
    mantissa, exponent = torch.frexp(x)
    found = [getattr(torch, name)(x, y) for name in names]
    found += [mantissa, exponent, torch.lerp(x, y, 0.3), torch.where(x > y, x, y * 2)]
    return (*found, torch.pow(x.abs(), y), torch.remainder(x, y.abs() + 1))


def _integers(x: torch.Tensor, y: torch.Tensor) -> tuple[torch.Tensor, ...]:
    logic = (x & y, x | y, x ^ y, ~x, y.bitwise_not(), x << 2, x >> 1, x == y)
    numbers = (x + y, x // 3, x % 7, x.abs(), torch.gcd(x, x + 6), x.pow(3), y * 1.5)
    return (*logic, *numbers, x.float(), x.to(torch.uint8), x.bool(), x // y, x % y)


def _small_integers(b: torch.Tensor, u: torch.Tensor, s: torch.Tensor) -> tuple[Any, ...]:
    return (~b, b.sum(1), b.any(0), u + s, u.sum(1), s.amax(1), u // 3, s.float(), u.argmax(0))


def _rows(x: torch.Tensor) -> tuple[torch.Tensor, ...]:
    sums = (x.sum(1), x.mean(1), (x / 8 + 1).prod(1), x.var(1), x.std(1), x.norm(dim=1))
    return (*sums, x.amax(1), x.amin(1), x.argmax(1), x.argmin(1), (x > 2).any(1), (x < 3).all(1))


def _columns(x: torch.Tensor) -> tuple[torch.Tensor, ...]:
    return (x.sum(0), x.amax(0), x.var(0), x.argmin(0))


def _scattered(x: torch.Tensor, at: torch.Tensor, v: torch.Tensor) -> tuple[torch.Tensor, ...]:
    # Of equal places of a scatter any may win.
    once = x.scatter(0, at[:1], v[:1])
    return (once, x.scatter_add(0, at, v), x.scatter_reduce(0, at, v, "amax"))


def _attention(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> Any:
    return flex_attention(q, k, v, score_mod=lambda score, b, h, i, j: score + (i - j) * 0.1)


def _resized(x: torch.Tensor) -> tuple[torch.Tensor, ...]:
    larger = F.interpolate(x, scale_factor=2, mode="bilinear")
    return (larger, F.interpolate(x, size=11), F.pad(x, (1, 2, 3, 4), mode="reflect"))


def _pooled(x: torch.Tensor) -> tuple[torch.Tensor, ...]:
    return (F.max_pool2d(x, 3, 2), F.avg_pool2d(x, 2), F.adaptive_avg_pool2d(x, 7))


def _minifloats(x: torch.Tensor, y: torch.Tensor) -> tuple[torch.Tensor, ...]:
    return (x.float() + y.float(), x.to(BF16), y.float().to(torch.float8_e4m3fn))


def _divided(x: torch.Tensor) -> tuple[torch.Tensor, ...]:
    floor, trunc = (torch.div(x, 3.0, rounding_mode=mode) for mode in ("floor", "trunc"))
    return (x.to(F64).exp(), floor, trunc)


def _random(x: torch.Tensor) -> tuple[torch.Tensor, ...]:
    return (torch.rand_like(x), torch.randn_like(x), torch.randint(0, 10, (5, 6), device=x.device))


def _drawn(x: torch.Tensor) -> tuple[torch.Tensor, ...]:
    """Return what does not depend on which numbers are drawn."""
    share = (F.dropout(torch.ones_like(x), 0.3) != 0).float().mean()
    whole_numbers = torch.randint(0, 10, (50, 60), device=x.device)
    moments = (torch.rand_like(x).mean(), torch.randn_like(x).var())
    return (share, *moments, whole_numbers.amin(), whole_numbers.amax())


def _rms_norm(x: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
    return F.rms_norm(x, (1024,), w)


LARGE = 1 << 20
CASES: dict[str, Case] = {
    "pointwise": Case(
        lambda x, y: F.gelu(x) * torch.sigmoid(y) + x.clamp(0, 1),
        lambda: (normal(1000, 33), normal(1000, 33)),
    ),
    "16 bits": Case(
        lambda x, y: F.silu(x).float() * y + x,
        lambda: (normal(512, 64, dtype=BF16), normal(512, 64, dtype=F16)),
        tolerance=1e-2,
    ),
    "functions of one": Case(_unary, lambda: (normal(777),), tolerance=1e-3),
    "functions of two": Case(_binary, lambda: (normal(777), normal(777)), tolerance=1e-3),
    "integers": Case(_integers, lambda: (whole(-99, 99, 777), whole(1, 9, 777, dtype=torch.int32))),
    "small integers": Case(
        _small_integers,
        lambda: (
            whole(0, 2, 300, 300, dtype=torch.bool),
            whole(0, 250, 300, 300, dtype=torch.uint8),
            whole(-999, 999, 300, 300, dtype=torch.int16),
        ),
    ),
    "minifloats": Case(
        _minifloats,
        lambda: (normal(777).to(torch.float8_e4m3fn), normal(777).to(torch.float8_e5m2)),
    ),
    "short rows": Case(_rows, lambda: (normal(64, 100),)),
    "long rows": Case(lambda x: (*_rows(x)[:2], *_rows(x)[3:]), lambda: (normal(64, 5000),)),
    "columns": Case(_columns, lambda: (normal(5000, 64),)),
    "middle dimension": Case(lambda x: (x.sum(1), x.var(1)), lambda: (normal(64, 128, 256),)),
    "all of many": Case(
        lambda x: (x.sum(), x.argmax(), x.var()), lambda: (normal(LARGE),), tolerance=1e-3
    ),
    "cooperative": Case(
        lambda x: (x.sum(), x.amax()),
        lambda: (normal(LARGE),),
        {"triton.cooperative_reductions": True, "triton.force_cooperative_reductions": True},
        tolerance=1e-2,
    ),
    "softmax": Case(lambda x: torch.softmax(x, 1), lambda: (normal(64, 1000),)),
    "softmax of long rows": Case(
        lambda x: (torch.softmax(x, 1), torch.log_softmax(x, 1)), lambda: (normal(64, 20000),)
    ),
    "sums of softmax": Case(
        lambda x: (torch.logsumexp(x, 1), x.softmax(1).sum()), lambda: (normal(64, 1024),)
    ),
    "layer norm": Case(
        lambda x, w, b: F.layer_norm(x, (1024,), w, b),
        lambda: (normal(64, 1024), normal(1024), normal(1024)),
    ),
    "rms norm": Case(_rms_norm, lambda: (normal(64, 1024), normal(1024))),
    "batch norm": Case(
        lambda x, w, b, m, v: F.batch_norm(x, m, v, w, b, training=True),
        lambda: (normal(8, 32, 16, 16), *(normal(32) for _ in range(3)), torch.rand(32)),
    ),
    "group norm": Case(
        lambda x, w, b: F.group_norm(x, 8, w, b),
        lambda: (normal(8, 32, 16, 16), normal(32), normal(32)),
    ),
    "norms of small rows": Case(
        lambda x: (F.layer_norm(x, (32,)), F.instance_norm(x)), lambda: (normal(8, 4, 32, 32),)
    ),
    "running sums": Case(
        lambda x: (x.cumsum(1), (x / 9 + 1).cumprod(1), x.cumsum(0)),
        lambda: (normal(64, 1000),),
        tolerance=1e-3,
    ),
    "running extremes": Case(
        lambda x: (*torch.cummax(x, 1), torch.logcumsumexp(x, 1)),
        lambda: (normal(64, 1000),),
        code=EAGER,
    ),
    "running sum of many": Case(
        lambda x: x.cumsum(0),
        lambda: (normal(LARGE),),
        tolerance=1e-2,
        code=EAGER,
    ),
    "sorted": Case(
        lambda x: (*torch.sort(x, 1), *torch.sort(x, dim=1, descending=True, stable=True)),
        lambda: (normal(64, 200),),
        code=EAGER,
    ),
    "largest": Case(
        lambda x: torch.topk(x, 5),
        lambda: (normal(64, 200),),
        code=EAGER,
    ),
    "median": Case(
        lambda x: x.median(1),
        lambda: (normal(64, 200),),
        code=EAGER,
    ),
    "added to rows": Case(
        lambda x, i, v: x.index_add(0, i, v),
        lambda: (normal(100, 64), whole(0, 100, 1000), normal(1000, 64)),
    ),
    "scattered": Case(
        _scattered, lambda: (normal(100, 64), whole(0, 100, 1000, 64), normal(1000, 64))
    ),
    "16 bits added to rows": Case(
        lambda x, i, v: x.index_put((i,), v, accumulate=True),
        lambda: (normal(100, 64, dtype=BF16), whole(0, 100, 200), normal(200, 64, dtype=BF16)),
        tolerance=0.1,
    ),
    "embedding": Case(
        lambda w, i: F.embedding(i, w), lambda: (normal(100, 64), whole(0, 100, 10, 20))
    ),
    "gathered": Case(
        lambda x, i: (x.gather(1, i.t()[:1].expand(1000, 64)), x[:, i[:, 0]]),
        lambda: (normal(1000, 64), whole(0, 64, 64, 7)),
    ),
    "rows and columns by index": Case(
        lambda x, i: (x[i], x.index_select(1, i)), lambda: (normal(64, 1024), whole(0, 64, 1024))
    ),
    "index of constants": Case(
        lambda x: x[torch.tensor([1, 2, 3], device=x.device)], lambda: (normal(100, 64),)
    ),
    "dropout": Case(
        lambda x: F.dropout(x, 0.3),
        lambda: (normal(64, 1024),),
        {"align_random_eager": True},
        code=EAGER,
    ),
    "random numbers": Case(
        _random,
        lambda: (normal(64, 1024),),
        {"align_random_eager": True},
        code=EAGER,
    ),
    "random numbers by Triton": Case(
        _drawn, lambda: (normal(64, 1024),), tolerance=5e-2, code="tl.rand"
    ),
    "buckets": Case(
        lambda x, b: (torch.bucketize(x, b.sort()[0]), torch.searchsorted(b.sort()[0], x)),
        lambda: (normal(64, 1024), normal(32)),
    ),
    "histogram": Case(
        lambda x: torch.histc(x, 10),
        lambda: (normal(64, 100),),
        code=EAGER,
    ),
    "pooled": Case(_pooled, lambda: (normal(4, 8, 32, 32),)),
    "resized": Case(_resized, lambda: (normal(4, 8, 32, 32),)),
    "joined": Case(
        lambda x, y: (torch.cat([x, y], 1), torch.stack([x, x]), x.transpose(1, 2).contiguous()),
        lambda: (normal(4, 8, 32), normal(4, 16, 32)),
    ),
    "lists": Case(
        lambda x, y, z: (*torch._foreach_add([x, y, z], 1), *torch._foreach_mul([x, z], 2)),
        lambda: (normal(128, 257), normal(128, 257), normal(33)),
    ),
    "two kernels in one": Case(
        lambda x, y: (x.sin(), y.cos() + 1),
        lambda: (normal(LARGE), normal(LARGE // 2)),
        {"combo_kernels": True},
    ),
    "transposed sum": Case(lambda x, y: x.t() + y, lambda: (normal(300, 300), normal(300, 300))),
    "varying sizes": Case(
        lambda x, y: ((x + y).sum(1), x.flatten() * 2),
        lambda: (normal(37, 65), normal(37, 65)),
        dynamic=True,
    ),
    "tiles of two dimensions": Case(
        lambda x, y: x[:, ::2] + y[:, 1::2],
        lambda: (normal(64, 1024), normal(64, 1024)),
        {"triton.prefer_nd_tiling": True},
    ),
    "tensor descriptors": Case(
        lambda x, y: (x + y, (x * y).sum(1)),
        lambda: (normal(64, 1024), normal(64, 1024)),
        {"triton.use_tensor_descriptor": True, "assume_aligned_inputs": True},
        code="make_tensor_descriptor",
    ),
    "casts of eager mode": Case(
        lambda x: (x.bfloat16() * 2).sum(1),
        lambda: (normal(64, 1024),),
        {"emulate_precision_casts": True},
        tolerance=2e-2,
    ),
    "complex numbers": Case(
        lambda x: x * x + 1,
        lambda: (torch.complex(normal(64, 64), normal(64, 64)),),
        code=EAGER,
    ),
    "rounded quotients": Case(_divided, lambda: (normal(1000),)),
    "cross entropy": Case(F.cross_entropy, lambda: (normal(512, 512), whole(0, 512, 512))),
    "masked sum": Case(
        lambda x, m: torch.where(m[:, None], x, 0.0).sum(),
        lambda: (normal(64, 100), whole(0, 2, 64, dtype=torch.bool)),
    ),
    "attention with scores": Case(
        _attention, lambda: tuple(normal(2, 4, 256, 64) for _ in range(3)), tolerance=1e-3
    ),
    "product, sum and relu": Case(
        lambda x, y, z: F.relu(x @ y + z),
        lambda: (normal(256, 128), normal(128, 96), normal(96)),
        PRODUCTS,
        tolerance=1e-3,
        code="triton_tem_fused",
    ),
    "product of 16 bits": Case(
        lambda x, y: F.gelu(x @ y),
        lambda: (normal(128, 64, dtype=BF16), normal(64, 96, dtype=BF16)),
        PRODUCTS,
        tolerance=2e-1,
        code="triton_tem_fused",
    ),
    "sum of a product": Case(
        lambda x, y, z: torch.addmm(z, x, y),
        lambda: (normal(128, 64), normal(64, 96), normal(96)),
        PRODUCTS,
        tolerance=1e-3,
        code="triton_tem_fused",
    ),
    "products of batches": Case(
        lambda x, y: torch.bmm(x, y) + 1,
        lambda: (normal(4, 64, 32), normal(4, 32, 64)),
        PRODUCTS,
        tolerance=1e-3,
        code="triton_tem_fused",
    ),
    "product of bytes": Case(
        torch._int_mm,
        lambda: (
            whole(-99, 99, 64, 128, dtype=torch.int8),
            whole(-99, 99, 128, 96, dtype=torch.int8),
        ),
        PRODUCTS,
        code="triton_tem_fused",
    ),
    "product in a loop": Case(
        lambda x, y: F.relu(x @ y),
        lambda: (normal(64, 128), normal(128, 64)),
        {"triton.native_matmul": True},
        tolerance=1e-3,
        code="tl.dot",
    ),
    "convolution": Case(
        lambda x, w: F.conv2d(x, w, padding=1),
        lambda: (normal(2, 8, 14, 14), normal(16, 8, 3, 3)),
        {"max_autotune": True, "max_autotune_conv_backends": "TRITON"},
        tolerance=1e-3,
        code="extern_kernels.convolution",
    ),
}
if TRITON < (3, 9):
    CASES["block pointers"] = Case(
        lambda x: ((x + 1).sum(1), x * 2),
        lambda: (normal(64, 1024),),
        {"triton.use_block_ptr": True},
        code="make_block_ptr",
    )
