"""More work than a device takes work-groups in the slower dimensions of a launch."""

from __future__ import annotations

import numpy as np
import pytest

pytestmark = pytest.mark.values


def values(xr, rng, *shape):
    """Small whole numbers, whose products are exact in every order."""
    host = rng.integers(-4, 5, shape).astype(np.float32)
    return host, xr.from_numpy(host)


@pytest.fixture
def rng():
    return np.random.default_rng(5)


def test_products_of_many_batches(xr, rng):
    (a, on_a), (b, on_b) = values(xr, rng, 70_000, 2, 3), values(xr, rng, 70_000, 3, 2)
    with xr.dnn.only_candidate("sycl"):
        assert np.array_equal(xr.dnn.matmul(on_a, on_b).numpy(), a @ b)


def test_products_of_many_rows(xr, rng):
    (a, on_a), (b, on_b) = values(xr, rng, 64 * 65_536 + 1, 2), values(xr, rng, 2, 2)
    with xr.dnn.only_candidate("sycl"):
        assert np.array_equal(xr.dnn.matmul(on_a, on_b).numpy(), a @ b)


def test_products_of_many_rows_columns_and_batches(xr, rng):
    (a, on_a), (b, on_b) = values(xr, rng, 3, 1, 130, 20), values(xr, rng, 2, 20, 200)
    with xr.dnn.only_candidate("sycl"):
        assert np.array_equal(xr.dnn.matmul(on_a, on_b).numpy(), a @ b)


def test_attention_of_many_heads(xr, rng):
    (q, on_q), (k, on_k), (v, on_v) = (values(xr, rng, 1, 70_000, 2, 4) for _ in range(3))
    with xr.dnn.only_candidate("sycl"):
        got = xr.dnn.attention(on_q, on_k, on_v).numpy()
    scores = np.exp(q @ k.swapaxes(2, 3) / 2)
    np.testing.assert_allclose(got, scores / scores.sum(3, keepdims=True) @ v, rtol=1e-4, atol=1e-4)


def test_the_same_where_a_device_takes_few_groups(child):
    """As on a device that takes 3 in the slower dimensions."""
    child(
        """
        import numpy as np
        import xpu_runtime as xr
        rng = np.random.default_rng(5)

        def values(*shape):
            return rng.integers(-4, 5, shape).astype(np.float32)

        for a, b in (
            (values(5, 2, 3), values(5, 3, 2)),
            (values(300, 2), values(2, 300)),
            (values(2, 2, 130, 20), values(20, 200)),
        ):
            with xr.dnn.only_candidate("sycl"):
                c = xr.dnn.matmul(xr.from_numpy(a), xr.from_numpy(b))
            assert np.array_equal(c.numpy(), a @ b)
        """,
        env={"XPU_TEST_WORK_GROUPS": "3"},
    ).check()
