"""Attention of few queries, in one pass over keys and values, against numpy in float64."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from dnn_reference import check, rounded
from test_attention import reference

pytestmark = pytest.mark.usefixtures("device")

MANY = """
import numpy as np
import xpu_runtime as xr
q, k, v = (xr.from_numpy(np.ones((3, 3, n, 32), "f4"), "f32") for n in (1, 9, 9))
out = xr.dnn.attention(q, k, v)
xr.synchronize()
if xr.devices()[0].type == "cpu": assert np.allclose(out.numpy(), 1)
"""


def kernels_of(xr, call):
    """The names of the kernels that a call runs."""
    xr.trace.start()
    try:
        call()
        xr.synchronize()
    finally:
        records = xr.trace.stop()
    return {record.name for record in records if record.kind.name in ("kernel", "dnn")}


def placed(xr, values, dtype, kind):
    """On the device: dense, with heads inside of positions, or with gaps."""
    if kind == "dense":
        return xr.from_numpy(values, dtype)
    if kind == "inside":
        return xr.from_numpy(np.ascontiguousarray(values.transpose(0, 2, 1, 3)), dtype).transpose(
            0, 2, 1, 3
        )
    # The last number of a row is followed by a NaN.
    wide = np.full((*values.shape[:3], values.shape[3] + 1), np.nan)
    wide[..., :-1] = values
    strides = [stride // wide.itemsize for stride in wide.strides]
    return xr.from_numpy(wide, dtype).view(values.shape, strides)


def values_of(array):
    """What an array of either order of heads and positions holds."""
    if array.contiguous:
        return array.numpy()
    return array.transpose(0, 2, 1, 3).numpy().transpose(0, 2, 1, 3)


def mask_of(rng, kind, shape):
    """A mask that broadcasts against the scores, with long stretches hidden from all queries."""
    broadcast = [size if rng.random() < 0.5 else 1 for size in shape[:3]]
    hidden = rng.random((*broadcast, shape[3])) < 0.4
    begin = int(rng.integers(0, shape[3]))
    hidden[..., begin : begin + int(rng.integers(0, shape[3]))] = True
    if kind == "bool":
        return ~hidden
    return np.where(hidden, -np.inf, rng.standard_normal(hidden.shape))


@pytest.mark.values
@pytest.mark.parametrize("seed", range(60))
def test_values_of_any_shape(xr, seed):
    rng = np.random.default_rng(seed)
    groups, share, queries = (int(rng.choice(c)) for c in ((1, 2, 3), (1, 2, 3), (1, 1, 2)))
    images, keys = int(rng.integers(1, 4)), int(rng.choice([1, 7, 8, 33, 64, 100, 513]))
    d, e = (int(rng.choice([32, 64])) for _ in range(2))
    shapes = (
        (images, groups * share, queries, d),
        (images, groups, keys, d),
        (images, groups, keys, e),
    )
    dtype = str(rng.choice(["f32", "bf16", "f16"]))
    host = [rng.standard_normal(shape) for shape in shapes]
    sent = [placed(xr, t, dtype, str(rng.choice(["dense", "inside", "gaps"]))) for t in host]
    kind = str(rng.choice(["none", "bool", "f32"]))
    scores = (images, groups * share, queries, keys)
    mask = None if kind == "none" else mask_of(rng, kind, scores)
    options = {"causal": bool(rng.random() < 0.3), "scale": 0.2, "logsumexp": xr.empty(scores[:3])}
    if mask is not None:
        options["mask"] = xr.from_numpy(mask, kind)
    out = []
    names = kernels_of(xr, lambda: out.append(xr.dnn.attention(*sent, **options)))
    assert names == {"attention_few_queries", "attention_join"}
    expected, of_scores = reference(
        *(rounded(t, dtype) for t in host), options["causal"], mask, options["scale"]
    )
    check(values_of(out[0]), expected, dtype)
    check(np.exp(options["logsumexp"].numpy()), np.exp(of_scores), "f32")


def test_keys_that_all_queries_miss_are_not_read(xr, rng):
    """What lies there may be anything, as in a cache that is not full."""
    q, k, v = (rng.standard_normal((1, heads, n, 64)) for heads, n in ((4, 1), (2, 256), (2, 256)))
    mask = np.arange(256) < 96
    expected, _ = reference(q, k, v, mask=mask)
    k[..., 128:, :] = v[..., 128:, :] = np.nan
    out = xr.dnn.attention(*(xr.from_numpy(t, "f32") for t in (q, k, v)), mask=xr.from_numpy(mask))
    check(out.numpy(), expected, "f32")


def test_a_replayed_graph_looks_at_the_mask_again(xr, rng):
    host = [rng.standard_normal((1, heads, n, 32)) for heads, n in ((4, 1), (2, 200), (2, 200))]
    sent, mask = [xr.from_numpy(t, "f32") for t in host], xr.from_numpy(np.arange(200) < 1)
    out = xr.dnn.attention(*sent, mask=mask)
    graph = xr.Graph()
    with graph.capture():
        xr.dnn.attention(*sent, mask=mask, out=out)
    for visible in (7, 150, 200):
        mask.copy_from(np.arange(200) < visible)
        graph.replay()
        expected, _ = reference(*(rounded(t, "f32") for t in host), mask=np.arange(200) < visible)
        check(out.numpy(), expected, "f32")


@pytest.mark.values
def test_threads_do_not_share_parts(xr):
    """The parts of a result lie in memory of the call's own."""

    def results(seed):
        rng = np.random.default_rng(seed)
        shapes = ((2, 4, 1, 64), (2, 2, 300, 64), (2, 2, 300, 64))
        with xr.stream(xr.Stream()):
            sent = [xr.from_numpy(rng.standard_normal(shape), "f32") for shape in shapes]
            return [out.numpy() for out in [xr.dnn.attention(*sent) for _ in range(20)]]

    expected = [results(seed)[0] for seed in range(4)]
    with ThreadPoolExecutor(4) as pool:
        for alone, outs in zip(expected, pool.map(results, range(4)), strict=True):
            for out in outs:
                np.testing.assert_array_equal(out, alone)


def test_more_images_than_a_launch_has_work_groups(child):
    """Such a call takes another way."""
    child(MANY, env={"XPU_TEST_WORK_GROUPS": "2"}).check()


@pytest.mark.values
@pytest.mark.parametrize("place", ["q", "k", "v"])
def test_a_nan_spoils_what_depends_on_it(xr, rng, place):
    host = {
        name: rng.standard_normal((1, heads, n, 32))
        for name, heads, n in (("q", 4, 1), ("k", 2, 40), ("v", 2, 40))
    }
    host[place][0, 1, 0] = np.nan
    out = xr.dnn.attention(*(xr.from_numpy(t, "f32") for t in host.values())).numpy()
    spoiled = {"q": [1], "k": [2, 3], "v": [2, 3]}[place]
    assert [head for head in range(4) if np.isnan(out[0, head]).all()] == spoiled
    assert np.isnan(out).any(-1).sum() == len(spoiled)


def test_large_scores_do_not_overflow(xr, rng):
    q, k, v = (
        rng.standard_normal((1, 1, n, 32)) * size for n, size in ((1, 100), (90, 100), (90, 1))
    )
    out = xr.dnn.attention(*(xr.from_numpy(t, "f32") for t in (q, k, v)))
    check(out.numpy(), reference(*(rounded(t, "f32") for t in (q, k, v)))[0], "f32")
