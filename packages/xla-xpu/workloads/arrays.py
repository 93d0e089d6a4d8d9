"""jax.numpy: what programs do with arrays before anything is learnt or solved."""

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from .program import WHOLE, between, numbers, program, whole

X = numbers(12, 17)
Y = numbers(12, 17, seed=1)
VECTOR = numbers(64)
SORTED = np.sort(numbers(30, seed=2))
COUNTS = whole(9, 200)
IMAGE = numbers(9, 11, 3)

WORKLOADS = {
    "polynomial": program(jnp.polyval, numbers(6), VECTOR),
    "standard scores": program(lambda x: (x - x.mean(0)) / (x.std(0) + 1e-3), X),
    "moments": program(lambda x: (x.var(1, ddof=1), jnp.cov(x), jnp.corrcoef(x)), X),
    "distances": program(lambda x, y: jnp.sqrt(((x[:, None] - y[None]) ** 2).sum(-1) + 1e-6), X, Y),
    "einsum of three": program(
        lambda a, b, c: jnp.einsum("ij,jk,kl->il", a, b, c), X, numbers(17, 5), numbers(5, 8)
    ),
    "einsum with a diagonal": program(
        lambda a: jnp.einsum("bii->bi", a) + jnp.einsum("bij->bj", a), numbers(3, 6, 6)
    ),
    "tensor products": program(
        lambda a, b: (jnp.tensordot(a, b, ((1,), (0,))), jnp.kron(a[:3, :2], b[:2, :3])),
        X,
        numbers(17, 4, 3),
    ),
    "masked mean": program(
        lambda x, keep: jnp.where(keep, x, 0).sum(1) / keep.sum(1), X, np.float32(-2) < X
    ),
    "running sums": program(lambda x: (jnp.cumsum(x, 0), jnp.cumprod(x * 0.3 + 1, 1)), X),
    "sorted": program(lambda x: jnp.sort(x, axis=0, descending=True), X),
    "ranks": program(lambda x: jnp.argsort(jnp.argsort(x, 1), 1), X, no_gradient=WHOLE),
    "picked by rank": program(lambda x: jnp.take_along_axis(x, jnp.argsort(x, 1), 1), X),
    "lexical order": program(
        lambda a, b: jnp.lexsort((a, b)), COUNTS, COUNTS[::-1].copy(), no_gradient=WHOLE
    ),
    "largest": program(lambda x: lax.top_k(x, 4), X),
    "found and interpolated": program(
        lambda x, at, y: (jnp.searchsorted(at, x), jnp.interp(x, at, y)), VECTOR, SORTED, SORTED**2
    ),
    "turned": program(
        lambda x: (jnp.roll(x, (2, -3), (0, 1)), jnp.rot90(x), jnp.flip(x, 0), x.T), X
    ),
    "tiled": program(lambda x: (jnp.tile(x, (2, 3)), jnp.repeat(x, 3, 1)), X),
    "repeated by counts": program(
        lambda x, n: jnp.repeat(x, n, total_repeat_length=40), VECTOR[:10], COUNTS[:10]
    ),
    "triangles": program(lambda x: (jnp.tril(x, 1), jnp.triu(x), jnp.trace(x), jnp.diag(x)), X),
    "counted": program(
        lambda n: (jnp.bincount(n, length=9), jnp.unique(n, size=9)), COUNTS, no_gradient=WHOLE
    ),
    "binned": program(
        lambda x: (jnp.histogram(x, 8)[0], jnp.digitize(x, jnp.linspace(-1, 1, 5))),
        VECTOR,
        no_gradient=WHOLE,
    ),
    "smoothed": program(lambda x, w: jnp.convolve(x, w, "same"), VECTOR, numbers(7)),
    "quantiles": program(lambda x: jnp.quantile(x, jnp.array([0.1, 0.5, 0.9]), 1), X),
    "without NaNs": program(
        lambda x: (jnp.nanmean(jnp.where(x > 0, x, jnp.nan), 0), jnp.nanmax(x, 1)), X
    ),
    "rounded": program(
        lambda x: (jnp.round(x, 1), jnp.clip(x, -0.5, 1), jnp.floor(x), jnp.sign(x)), X
    ),
    "remainders": program(
        lambda x, y: (x % (y**2 + 1), x // (y**2 + 1), jnp.fmod(x, 0.7), jnp.divmod(x, 2.5)), X, Y
    ),
    "sums of logarithms": program(
        lambda x, y: (jnp.logaddexp(x, y), jax.nn.logsumexp(x, 1), jnp.log1p(y**2)), X, Y
    ),
    "angles": program(
        lambda x, y: (jnp.arctan2(x, y), jnp.hypot(x, y), jnp.sinc(x), jnp.unwrap(x * 4)), X, Y
    ),
    "complex numbers": program(
        lambda x, y: (jnp.abs(x + 1j * y), jnp.angle(x + 1j * y), jnp.exp(1j * x) * y), X, Y
    ),
    "roots of a polynomial": program(
        lambda p: jnp.sort(jnp.abs(jnp.roots(p, strip_zeros=False))),
        between(1, 2, 6),
        no_gradient="JAX has no derivative of eigenvectors of general matrices that are sorted",
    ),
    "scattered": program(
        lambda x, at, y: (x.at[at].add(y), x.at[at].max(y), x.at[at, 0].mul(2.0)),
        X,
        np.array([3, 0, 11, 7], np.int32),
        Y[:4],
    ),
    "gathered": program(lambda x, at: (x[at], x[at, at[::-1]], x[:, None, at[0]]), X, whole(12, 5)),
    "strided": program(lambda x: (x[::2, 1::3] * x[-1, -2], x[::-1, 3:9:2].sum(0)), X),
    "written slices": program(
        lambda x, y, at: lax.dynamic_update_slice(x, y * 2, (at, at + 1)), X, Y[:3, :4], np.int32(2)
    ),
    "padded": program(
        lambda x: [jnp.pad(x, 3, mode) for mode in ("reflect", "wrap", "edge", "constant")], IMAGE
    ),
    "slopes": program(lambda x: (jnp.gradient(x), jnp.diff(x, 2), jnp.trapezoid(x)), X),
    "joined": program(
        lambda x, y: (jnp.stack([x, y], 1), jnp.concatenate([x, y.T[:12, :5]], 1), jnp.split(x, 3)),
        X,
        Y,
    ),
    "chosen": program(
        lambda x: (
            jnp.select([x > 1, x < -1], [x**2, -x], 0.5),
            jnp.piecewise(x, [x < 0], [jnp.sin, jnp.exp]),
        ),
        X,
    ),
    "vectorized": program(
        jnp.vectorize(lambda a, b: jnp.outer(a, b) @ b, signature="(n),(m)->(n)"), X[:4], Y[0, :6]
    ),
    "along an axis": program(
        lambda x: jnp.apply_along_axis(lambda v: jnp.sort(v)[-3:] / v.sum(), 0, x**2), X
    ),
    "bits": program(
        lambda n: (n << 3 ^ n >> 1, ~n & 0xFF, lax.population_count(n), jnp.packbits(n > 4)),
        COUNTS,
        no_gradient=WHOLE,
    ),
    "bit patterns": program(
        lambda x: (lax.bitcast_convert_type(x, jnp.int32), jnp.frexp(x), x.view(jnp.uint16)),
        X,
        no_gradient=WHOLE,
    ),
    "places that are not zero": program(
        lambda n: (jnp.nonzero(n > 6, size=40, fill_value=-1), jnp.argmax(n), (n > 3).any()),
        COUNTS,
        no_gradient=WHOLE,
    ),
    "sets": program(
        lambda n: (jnp.isin(n, jnp.array([1, 5])), jnp.intersect1d(n, n + 4, size=9)),
        COUNTS,
        no_gradient=WHOLE,
    ),
    "meshes": program(
        lambda a, b: sum(x * y for x, y in zip(jnp.meshgrid(a, b), jnp.ix_(b, a), strict=True)),
        VECTOR[:5],
        VECTOR[:8],
    ),
    "half precision": program(
        lambda x, y: (x.astype(jnp.bfloat16) @ y.T.astype(jnp.bfloat16), x.astype(jnp.float16)),
        X,
        Y,
        half=True,
    ),
    "whole numbers": program(
        lambda n: (n * n // 7, n % 5 - 9, jnp.gcd(n, 12), n.astype(jnp.int8) * 30, n.mean()),
        COUNTS,
        no_gradient=WHOLE,
    ),
    "doubles": program(
        lambda x, y: jnp.cumsum(x.astype(jnp.float64) / 3) + y.astype(jnp.float64)[0, 0],
        VECTOR,
        Y,
        marks="fp64",
    ),
    "resized": program(lambda i: jax.image.resize(i, (14, 7, 3), "bilinear"), IMAGE),
    "a window over it": program(
        lambda x: lax.reduce_window(x, 0.0, lax.add, (3, 4), (2, 1), "SAME"), X
    ),
    "segments": program(
        lambda x, at: (
            jax.ops.segment_sum(x, at, 5),
            jax.ops.segment_max(x, at, 5),
            jax.ops.segment_min(x, at, 5),
        ),
        X,
        np.array([4, 0, 2, 2, 1, 0, 4, 3, 3, 1, 0, 2], np.int32),
    ),
}
