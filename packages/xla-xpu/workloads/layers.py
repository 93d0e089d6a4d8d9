"""Layers of neural networks as people write them with jax.numpy, jax.nn and jax.lax."""

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax, nn

from .program import numbers, program, whole

X = numbers(6, 16)
IMAGES = numbers(2, 10, 8, 3)
LAST = ("NHWC", "HWIO", "NHWC")
HEADS = numbers(2, 7, 4, 8)


def weights(*shape, seed=1):
    return numbers(*shape, seed=seed) * np.float32(0.3)


def convolved(x, w, **options):
    options = {"window_strides": (1, 1), "padding": "SAME", **options}
    return lax.conv_general_dilated(x, w, dimension_numbers=LAST, **options)


def layer_norm(x, scale, shift):
    centered = x - x.mean(-1, keepdims=True)
    return centered * lax.rsqrt((centered**2).mean(-1, keepdims=True) + 1e-5) * scale + shift


def pooled(x, kind):
    window = ((1, 2, 2, 1), (1, 2, 2, 1), "SAME")
    return lax.reduce_window(x, *kind, *window)


def multi_head(x, w, out):
    q, k, v = jnp.einsum("btd,cdhe->cbthe", x, w)
    scores = jnp.einsum("bqhe,bkhe->bhqk", q, k) / np.sqrt(q.shape[-1])
    scores = jnp.where(jnp.tril(jnp.ones(scores.shape[-2:], bool)), scores, -1e9)
    return jnp.einsum("bhqk,bkhe,hed->bqd", nn.softmax(scores), v, out)


def rotary(x):
    places = jnp.arange(x.shape[1])[:, None] / 100 ** (jnp.arange(4) / 4)
    even, odd = x[..., ::2], x[..., 1::2]
    sin, cos = jnp.sin(places)[:, None], jnp.cos(places)[:, None]
    return jnp.stack([even * cos - odd * sin, even * sin + odd * cos], -1).reshape(x.shape)


def lstm(x, w, u, b):
    def step(state, x):
        h, c = state
        i, f, g, o = jnp.split(x @ w + h @ u + b, 4, -1)
        c = nn.sigmoid(f) * c + nn.sigmoid(i) * jnp.tanh(g)
        h = nn.sigmoid(o) * jnp.tanh(c)
        return (h, c), h

    start = jnp.zeros((x.shape[1], u.shape[0]))
    return lax.scan(step, (start, start), x)


def gru(x, w, u):
    def step(h, x):
        r, z, n = jnp.split(x @ w, 3, -1)
        hr, hz, hn = jnp.split(h @ u, 3, -1)
        z = nn.sigmoid(z + hz)
        h = (1 - z) * jnp.tanh(n + nn.sigmoid(r + hr) * hn) + z * h
        return h, h

    return lax.scan(step, jnp.zeros((x.shape[1], u.shape[0])), x)[1]


def residual_block(x, first, second, scale):
    def norm(x):
        return (x - x.mean((0, 1, 2))) * lax.rsqrt(x.var((0, 1, 2)) + 1e-5) * scale

    return nn.relu(x + norm(convolved(nn.relu(norm(convolved(x, first))), second)))


def dropout(seed, x):
    return jnp.where(jax.random.bernoulli(jax.random.key(seed), 0.8, x.shape), x / 0.8, 0)


def graph_layer(x, w, of, to):
    sums = jax.ops.segment_sum((x @ w)[of], to, x.shape[0])
    return nn.relu(x + sums / (jnp.zeros(x.shape[0]).at[to].add(1.0)[:, None] + 1))


def experts(x, gate, w):
    best, chosen = lax.top_k(nn.softmax(x @ gate), 2)
    order = jnp.argsort(chosen.reshape(-1))
    rows = jnp.repeat(x, 2, 0)[order]
    sizes = jnp.bincount(chosen.reshape(-1), length=gate.shape[1])
    outputs = jnp.zeros_like(rows).at[order].set(lax.ragged_dot(rows, w, sizes))
    return (outputs.reshape(-1, 2, x.shape[1]) * best[..., None]).sum(1)


def patches(x, w, places):
    b, h, width, c = x.shape
    x = x.reshape(b, h // 2, 2, width // 2, 2, c).swapaxes(2, 3).reshape(b, -1, 4 * c)
    return x @ w + places


def contrasted(a, b):
    a, b = (x / jnp.linalg.norm(x, axis=1, keepdims=True) for x in (a, b))
    return -jnp.diag(nn.log_softmax(a @ b.T / 0.1)).mean()


def selective_scan(x, a, b, c):
    """A state-space layer, its recurrence an associative scan."""
    decay = jnp.exp(-nn.softplus(a) * jnp.ones_like(x)[..., None])
    _, states = lax.associative_scan(
        lambda p, q: (p[0] * q[0], p[1] * q[0] + q[1]), (decay, x[..., None] * b)
    )
    return states @ c


def quantized(x, w):
    """int8 of both, each row and column with its scale."""
    scales = jnp.abs(x).max(1, keepdims=True) / 127, jnp.abs(w).max(0, keepdims=True) / 127
    x, w = (jnp.round(v / s).astype(jnp.int8) for v, s in zip((x, w), scales, strict=True))
    product = lax.dot(x, w, preferred_element_type=jnp.int32)
    return product * scales[0] * scales[1]


def fake_quantized(x, w):
    def rounded(v):
        return v + lax.stop_gradient(jnp.round(v * 16) / 16 - v)

    return rounded(x) @ rounded(w)


def as_eights(x, w):
    x, w = x.astype(jnp.float8_e4m3fn), w.astype(jnp.float8_e4m3fn)
    return lax.dot(x, w, preferred_element_type=jnp.float32)


def fours(x, w, scales):
    return x @ (w.astype(jnp.int4).astype(jnp.float32) * scales)


def masked_attention(q, k, v):
    return nn.dot_product_attention(q, k, v, is_causal=True)


def beam(logits):
    """The three best paths through a table of scores."""

    def step(best, row):
        scores, at = lax.top_k((best[:, None] + nn.log_softmax(row)).reshape(-1), 3)
        return scores, (at // row.shape[-1], at % row.shape[-1])

    return lax.scan(step, jnp.array([0, -jnp.inf, -jnp.inf]), logits)


WORKLOADS = {
    "activations": program(
        lambda x: [
            f(x)
            for f in (
                nn.relu,
                nn.gelu,
                nn.silu,
                nn.elu,
                nn.softplus,
                nn.selu,
                nn.celu,
                nn.mish,
                nn.leaky_relu,
                nn.hard_tanh,
                nn.log_sigmoid,
                nn.soft_sign,
                nn.squareplus,
            )
        ],
        X,
    ),
    "gated": program(lambda x, w: nn.glu(x @ w) * nn.swish(x[:, :8]), X, weights(16, 16)),
    "layer norm": program(layer_norm, X, weights(16), weights(16, seed=2)),
    "rms norm": program(
        lambda x, s: x * lax.rsqrt((x**2).mean(-1, keepdims=True) + 1e-6) * s, X, weights(16)
    ),
    "group norm": program(lambda x: nn.standardize(x.reshape(6, 4, 4), -1).reshape(x.shape), X),
    "softmax": program(lambda x: (nn.softmax(x), nn.log_softmax(x, 0)), X),
    "perceptron": program(
        lambda x, w, b, v: nn.log_softmax(nn.relu(x @ w + b) @ v),
        X,
        weights(16, 32),
        weights(32),
        weights(32, 5),
    ),
    "cross entropy": program(
        lambda x, y: -(nn.one_hot(y, 16) * nn.log_softmax(x)).sum(-1).mean(), X, whole(16, 6)
    ),
    "embedding": program(lambda table, at: table[at].sum(1), weights(20, 8), whole(20, 4, 5)),
    "dropout": program(dropout, np.int32(3), X),
    "convolution": program(
        lambda x, w, b: nn.relu(convolved(x, w) + b), IMAGES, weights(3, 3, 3, 8), weights(8)
    ),
    "strided convolution": program(
        lambda x, w: convolved(x, w, window_strides=(2, 2)), IMAGES, weights(3, 3, 3, 8)
    ),
    "convolution for each channel": program(
        lambda x, w: convolved(x, w, feature_group_count=3), IMAGES, weights(3, 3, 1, 6)
    ),
    "dilated convolution": program(
        lambda x, w: convolved(x, w, rhs_dilation=(2, 2)), IMAGES, weights(3, 3, 3, 4)
    ),
    "transposed convolution": program(
        lambda x, w: lax.conv_transpose(x, w, (2, 2), "SAME", dimension_numbers=LAST),
        IMAGES,
        weights(3, 3, 3, 4),
    ),
    "causal convolution": program(
        lambda x, w: lax.conv_general_dilated(
            x[None], w, (1,), [(2, 0)], dimension_numbers=("NWC", "WIO", "NWC")
        ),
        X,
        weights(3, 16, 4),
    ),
    "convolution of volumes": program(
        lambda x, w: lax.conv(x, w, (1, 1, 1), "VALID"),
        numbers(1, 2, 5, 6, 4),
        weights(3, 2, 2, 3, 2),
    ),
    "largest of windows": program(lambda x: pooled(x, (-jnp.inf, lax.max)), IMAGES),
    "means of windows": program(lambda x: pooled(x, (0.0, lax.add)) / 4, IMAGES),
    "residual block": program(
        residual_block,
        numbers(2, 8, 8, 4),
        weights(3, 3, 4, 4),
        weights(3, 3, 4, 4, seed=2),
        weights(4, seed=3),
    ),
    "attention": program(masked_attention, HEADS, HEADS + 1, HEADS * 2),
    "attention in half precision": program(
        lambda x: nn.dot_product_attention(*[x.astype(jnp.bfloat16) + n for n in range(3)]), HEADS
    ),
    "heads": program(multi_head, numbers(2, 7, 16), weights(3, 16, 4, 4), weights(4, 4, 16)),
    "rotary places": program(rotary, HEADS),
    "one more token": program(
        lambda cache, x, at: (
            cache := lax.dynamic_update_slice(cache, x, (0, at, 0, 0)),
            nn.dot_product_attention(x, cache, cache, key_value_seq_lengths=at[None] + 1),
        ),
        HEADS[:1],
        HEADS[1:, :1],
        np.int32(4),
    ),
    "patches": program(patches, IMAGES, weights(12, 16), weights(20, 16)),
    "lstm": program(lstm, numbers(9, 2, 6), weights(6, 32), weights(8, 32), weights(32)),
    "gru": program(gru, numbers(9, 2, 6), weights(6, 24), weights(8, 24)),
    "state space": program(selective_scan, X, weights(16, 4), weights(16, 4), weights(4)),
    "graph": program(graph_layer, X, weights(16, 16), whole(6, 20), whole(6, 20, seed=1)),
    "experts": program(experts, X, weights(16, 4), weights(4, 16, 16)),
    "contrasted": program(contrasted, X, X[::-1] * 0.5 + X),
    "beam": program(beam, numbers(6, 8), no_gradient="it returns choices"),
    "8-bit product": program(quantized, X, weights(16, 9), no_gradient="rounding has none"),
    "learnt rounding": program(fake_quantized, X, weights(16, 9)),
    "8-bit floats": program(as_eights, X, weights(16, 9)),
    "4-bit weights": program(fours, X, whole(8, 16, 9), np.abs(weights(9)) + 0.1),
}
