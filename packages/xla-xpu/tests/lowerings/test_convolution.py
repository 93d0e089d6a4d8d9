"""Convolutions of every kind, and their gradients."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from cpu_comparison import compare_with_cpu
from jax import lax

# source, weights, and how
KINDS = {
    "plain": ((2, 3, 9, 10), (4, 3, 3, 2), {}),
    "strides": ((2, 3, 9, 10), (4, 3, 3, 2), {"window_strides": (2, 3), "padding": "SAME"}),
    "dilated": ((2, 3, 9, 10), (4, 3, 3, 2), {"rhs_dilation": (2, 3)}),
    "spread": ((2, 3, 5, 6), (4, 3, 3, 2), {"lhs_dilation": (2, 3), "padding": ((1, 2), (0, 1))}),
    "spread far": (
        (2, 3, 5, 6),
        (4, 3, 2, 2),
        {"lhs_dilation": (2, 1), "padding": ((7, 9), (-1, 5))},
    ),
    "spread with strides": (
        (2, 3, 5, 6),
        (4, 3, 3, 2),
        {"lhs_dilation": (2, 3), "window_strides": (2, 1)},
    ),
    "cropped": ((2, 3, 9, 10), (4, 3, 3, 2), {"padding": ((-1, 2), (-2, -3))}),
    "groups": ((2, 6, 9, 10), (4, 3, 3, 2), {"feature_group_count": 2}),
    "spread groups": (
        (2, 6, 5, 5),
        (4, 3, 3, 2),
        {"feature_group_count": 2, "lhs_dilation": (2, 2)},
    ),
    "groups of the batch": ((4, 3, 9, 10), (6, 3, 3, 2), {"batch_group_count": 2}),
    "depthwise": ((2, 6, 9, 10), (12, 1, 3, 3), {"feature_group_count": 6, "padding": "SAME"}),
    "large window": ((2, 3, 9, 10), (4, 3, 8, 9), {"rhs_dilation": (1, 1)}),
    "channels last": (
        (2, 9, 10, 3),
        (3, 2, 3, 4),
        {"dimension_numbers": ("NHWC", "HWIO", "NHWC"), "padding": "SAME"},
    ),
    "one dimension": ((2, 3, 12), (4, 3, 5), {"window_strides": (2,)}),
    "three dimensions": ((1, 2, 5, 6, 7), (3, 2, 2, 3, 2), {"window_strides": (1, 2, 1)}),
    "four dimensions": ((1, 2, 4, 4, 4, 3), (3, 2, 2, 3, 2, 2), {}),
    "no dimension": ((5, 3), (4, 3), {}),
    "nothing": ((2, 0, 9, 10), (4, 0, 3, 2), {}),
}
DIFFERENTIABLE = [kind for kind in KINDS if kind not in ("four dimensions", "nothing")]


def convolve(x, w, how, **more):
    how = {"window_strides": (1,) * (x.ndim - 2), "padding": "VALID", **how, **more}
    if how["padding"] == "VALID":
        how["padding"] = ((0, 0),) * (x.ndim - 2)
    return lax.conv_general_dilated(x, w, **how)


def arrays(kind, dtype=np.float32):
    rng = np.random.default_rng(0)
    source, weights, how = KINDS[kind]
    draw = [rng.standard_normal(shape) * 2 for shape in (source, weights)]
    if np.issubdtype(dtype, np.complexfloating):
        draw = [x + 1j * rng.standard_normal(x.shape) for x in draw]
    return [x.astype(dtype) for x in draw], how


@pytest.mark.parametrize("kind", KINDS)
def test_kinds(kind):
    (x, w), how = arrays(kind)
    compare_with_cpu(lambda x, w: convolve(x, w, how), x, w)


@pytest.mark.parametrize("kind", DIFFERENTIABLE)
def test_gradients(kind):
    (x, w), how = arrays(kind)
    compare_with_cpu(jax.grad(lambda x, w: (convolve(x, w, how) ** 2).sum() / 100, (0, 1)), x, w)


@pytest.mark.parametrize("kind", ["spread with strides", "spread groups", "groups of the batch"])
@pytest.mark.parametrize("dtype", [np.int32, np.uint8, np.complex64])
def test_dtypes(dtype, kind):
    (x, w), how = arrays(kind, dtype)
    compare_with_cpu(lambda x, w: convolve(x, w, how), x, w)


@pytest.mark.parametrize(
    ("dtype", "preferred"),
    [(jnp.bfloat16, jnp.float32), (np.float16, np.float16), (np.int8, np.int32)],
)
def test_preferred(dtype, preferred):
    (x, w), how = arrays("strides", dtype)
    compare_with_cpu(lambda x, w: convolve(x, w, how, preferred_element_type=preferred), x, w)


def test_turned():
    (x, w), _ = arrays("plain")
    compare_with_cpu(lambda x, w: convolve(x, w[:, :, ::-1, ::-1], {}), x, w)
    compare_with_cpu(
        lambda x, w: lax.conv_transpose(
            x, w, (2, 2), "SAME", dimension_numbers=("NCHW", "OIHW", "NCHW")
        ),
        x,
        w,
    )
