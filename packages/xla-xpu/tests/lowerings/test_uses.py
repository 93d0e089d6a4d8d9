"""Functions of JAX's public API that lower to windows, scatters, sorts and random bits."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from cpu_comparison import compare_with_cpu
from jax import lax

X = np.random.default_rng(0).standard_normal((6, 40)).astype(np.float32)
IMAGE = np.random.default_rng(0).standard_normal((2, 12, 10, 3)).astype(np.float32)
FILTERS = np.random.default_rng(1).standard_normal((2, 3, 3, 3, 4)).astype(np.float32)
CHANNELS_LAST = ("NHWC", "HWIO", "NHWC")


def convolve(image, weights):
    return lax.conv_general_dilated(
        image[None], weights, (1, 1), "SAME", dimension_numbers=CHANNELS_LAST
    )


def sum_of_squares(weights, image):
    return (convolve(image, weights) ** 2).sum()


def draws(seed):
    one, two, three, four = jax.random.split(jax.random.key(seed), 4)
    return (
        jax.random.gamma(one, 2.0, (9,)),
        jax.random.poisson(two, 4.0, (9,)),
        jax.random.choice(three, 20, (5,), replace=False),
        jax.random.categorical(four, jnp.ones((4, 5))),
    )


# Each is a function and its arguments.
USES = {
    "convolve": (lambda x: (jnp.convolve(x[0], x[1, :5]), jnp.correlate(x[0], x[1], "same")), X),
    "resize": (lambda i: jax.image.resize(i, (2, 24, 7, 3), "cubic"), IMAGE),
    "histogram": (lambda x: jnp.histogram(x, bins=7)[0], X),
    "segments": (lambda x: jax.ops.segment_max(x, jnp.array([0, 1, 0, 2, 1, 0]), 4), X),
    "quantiles": (lambda x: (jnp.median(x, 1), jnp.percentile(x, jnp.array([10.0, 50.0]))), X),
    "unique": (lambda x: jnp.unique(jnp.round(x), size=10), X),
    "transforms": (lambda x: (jnp.fft.irfft2(jnp.fft.rfft2(x)), jnp.fft.fftn(x)), X),
    "draws": (draws, np.int32(3)),
    "patches": (
        lambda i: lax.conv_general_dilated_patches(
            i, (3, 3), (1, 1), "SAME", dimension_numbers=CHANNELS_LAST
        ),
        IMAGE,
    ),
    "filters for each image": (lambda w, i: jax.vmap(convolve)(i, w), FILTERS, IMAGE),
    "gradients for each image": (
        lambda w, i: jax.vmap(jax.grad(sum_of_squares), (None, 0))(w[0], i),
        FILTERS,
        IMAGE,
    ),
    "ragged": (lambda x: lax.ragged_dot(x, jnp.stack([x.T[:, :4]] * 2), jnp.array([2, 4])), X),
    "gradient of a sort": (jax.grad(lambda x: (jnp.sort(x, 1) * jnp.arange(40)).sum()), X),
    "gradients of scans": (
        jax.grad(lambda x: (lax.cumlogsumexp(x, 1) * jnp.cumsum(x, 0) * lax.cummax(x, 1)).sum()),
        X,
    ),
}


# "draws" is marked: its loops (rejection sampling) end depending on the numbers drawn, so they may never
# end where no values are computed.
@pytest.mark.parametrize(
    "use", [pytest.param(use, marks=[pytest.mark.values] * (use == "draws")) for use in USES]
)
def test_uses(use):
    compare_with_cpu(*USES[use])
