"""Attention against numpy in float64."""

import numpy as np
import pytest
from dnn_reference import check, fetch, rounded

pytestmark = pytest.mark.usefixtures("device")

# name: images, heads, key heads, queries, keys, D, E
SHAPES = {
    "one": (1, 1, 1, 1, 1, 1, 1),
    "square": (2, 3, 3, 20, 20, 16, 16),
    "more keys": (1, 4, 4, 7, 33, 8, 24),
    "more queries": (1, 2, 2, 40, 9, 8, 8),
    "grouped": (2, 6, 2, 17, 19, 16, 16),
    "one query": (2, 4, 1, 1, 50, 32, 32),
    "blocks of queries": (1, 2, 1, 1100, 1110, 8, 8),
}


def reference(q, k, v, causal=False, mask=None, scale=None):
    """Values and logsumexp."""
    share = q.shape[1] // k.shape[1]
    k, v = (np.repeat(t, share, 1) for t in (k, v))
    scores = np.einsum("nhsd,nhtd->nhst", q, k) * (scale or 1 / np.sqrt(q.shape[-1]))
    if mask is not None:
        scores = np.where(mask, scores, -np.inf) if mask.dtype == bool else scores + mask
    if causal:
        scores = np.where(np.tri(*scores.shape[2:], dtype=bool), scores, -np.inf)
    top = scores.max(-1, keepdims=True)
    shift = np.where(np.isinf(top), 0, top)
    e = np.exp(scores - shift)
    total = e.sum(-1, keepdims=True)
    with np.errstate(divide="ignore"):
        logsumexp = (shift + np.log(total))[..., 0]
    return np.einsum("nhst,nhte->nhse", e / np.where(total == 0, 1, total), v), logsumexp


def operands(rng, shape):
    n, h, g, s, t, d, e = shape
    return [rng.standard_normal(size) for size in ((n, h, s, d), (n, g, t, d), (n, g, t, e))]


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("dtype", ["f32", "bf16", "f16"])
@pytest.mark.parametrize("name", SHAPES)
def test_values_and_logsumexp(xr, rng, name, dtype, causal):
    host = operands(rng, SHAPES[name])
    logsumexp = xr.empty(host[0].shape[:3])
    out = xr.dnn.attention(
        *(xr.from_numpy(t, dtype) for t in host), causal=causal, logsumexp=logsumexp
    )
    expected, of_scores = reference(*(rounded(t, dtype) for t in host), causal)
    check(out.numpy(), expected, dtype)
    check(logsumexp.numpy(), of_scores, "f32")


@pytest.mark.parametrize("kind", ["f32", "bf16", "bool"])
@pytest.mark.parametrize("shape", [(2, 6, 17, 19), (1, 1, 17, 19), (2, 1, 1, 19), (17, 1), ()])
@pytest.mark.parametrize("causal", [False, True])
def test_masks_broadcast(xr, rng, shape, kind, causal):
    host = operands(rng, SHAPES["grouped"])
    mask = rng.standard_normal(shape) if kind != "bool" else np.array(rng.random(shape) < 0.7)
    sent = xr.from_numpy(mask, kind)
    out = xr.dnn.attention(
        *(xr.from_numpy(t, "f32") for t in host), mask=sent, causal=causal, scale=0.3
    )
    seen = mask if kind == "bool" else rounded(mask, kind)
    expected, _ = reference(*(rounded(t, "f32") for t in host), causal, seen, 0.3)
    check(out.numpy(), expected, "f32")


@pytest.mark.parametrize("dtype", ["f32", "bf16"])
def test_heads_inside_of_positions(xr, rng, dtype):
    """N S H D in memory, as projections leave it."""
    host = operands(rng, SHAPES["grouped"])
    placed = [
        xr.from_numpy(np.ascontiguousarray(t.transpose(0, 2, 1, 3)), dtype).transpose(0, 2, 1, 3)
        for t in host
    ]
    out = xr.dnn.attention(*placed)
    expected, _ = reference(*(rounded(t, dtype) for t in host))
    check(fetch(out.transpose(0, 2, 1, 3)).transpose(0, 2, 1, 3), expected, dtype)


def gradients(q, k, v, grad, causal=False, mask=None, dropout_factor=1.0):
    """Of q, k and v; `dropout_factor` is what weights are multiplied by."""
    share = q.shape[1] // k.shape[1]
    wide_k, wide_v = (np.repeat(t, share, 1) for t in (k, v))
    _, logsumexp = reference(q, k, v, causal, mask)
    scale = 1 / np.sqrt(q.shape[-1])
    scores = np.einsum("nhsd,nhtd->nhst", q, wide_k) * scale
    if mask is not None:
        scores = np.where(mask, scores, -np.inf) if mask.dtype == bool else scores + mask
    if causal:
        scores = np.where(np.tri(*scores.shape[2:], dtype=bool), scores, -np.inf)
    weights = np.exp(scores - np.where(np.isinf(logsumexp), 0, logsumexp)[..., None])
    of_weights = np.einsum("nhse,nhte->nhst", grad, wide_v) * dropout_factor
    of_scores = weights * (of_weights - (weights * of_weights).sum(-1, keepdims=True)) * scale
    of_q = np.einsum("nhst,nhtd->nhsd", of_scores, wide_k)
    of_k = np.einsum("nhst,nhsd->nhtd", of_scores, q)
    of_v = np.einsum("nhst,nhse->nhte", weights * dropout_factor, grad)
    groups = (q.shape[0], k.shape[1], share, k.shape[2], -1)
    return of_q, of_k.reshape(groups).sum(2), of_v.reshape(groups).sum(2)


def check_gradients(got, expected, dtype):
    for ours, theirs in zip(got, expected, strict=True):
        error = np.abs(fetch(ours) - theirs).max()
        assert error <= {"f32": 1e-5, "f16": 4e-3, "bf16": 3e-2}[dtype] * max(
            np.abs(theirs).max(), 1
        )


@pytest.mark.values
@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("dtype", ["f32", "bf16", "f16"])
@pytest.mark.parametrize("name", SHAPES)
def test_gradients(xr, rng, name, dtype, causal):
    host = operands(rng, SHAPES[name])
    logsumexp = xr.empty(host[0].shape[:3])
    sent = [xr.from_numpy(t, dtype) for t in host]
    out = xr.dnn.attention(*sent, causal=causal, logsumexp=logsumexp)
    grad = rng.standard_normal(out.shape)
    got = xr.dnn.attention_backward(
        xr.from_numpy(grad, dtype), *sent, out, logsumexp, causal=causal
    )
    expected = gradients(*(rounded(t, dtype) for t in (*host, grad)), causal)
    check_gradients(got, expected, dtype)


@pytest.mark.values
@pytest.mark.parametrize("kind", ["f32", "bool"])
@pytest.mark.parametrize("shape", [(2, 6, 17, 19), (2, 1, 1, 19), (17, 1)])
def test_gradients_with_masks(xr, rng, shape, kind):
    host = operands(rng, SHAPES["grouped"])
    mask = rng.standard_normal(shape) if kind != "bool" else np.array(rng.random(shape) < 0.7)
    logsumexp = xr.empty(host[0].shape[:3])
    sent, sent_mask = [xr.from_numpy(t, "f32") for t in host], xr.from_numpy(mask, kind)
    out = xr.dnn.attention(*sent, mask=sent_mask, logsumexp=logsumexp)
    grad = rng.standard_normal(out.shape)
    got = xr.dnn.attention_backward(
        xr.from_numpy(grad, "f32"), *sent, out, logsumexp, mask=sent_mask
    )
    check_gradients(got, gradients(*host, grad, mask=mask), "f32")


@pytest.mark.values
@pytest.mark.parametrize("name", ["grouped", "blocks of queries"])
@pytest.mark.parametrize("causal", [False, True])
def test_dropout(xr, rng, name, causal):
    """What stays is what a Bernoulli fill from the same state leaves."""
    q, k, v = operands(rng, SHAPES[name])
    share, state = 0.25, (7, 12)
    shape = (*q.shape[:3], k.shape[2])
    dropped = xr.empty(shape)
    xr.kernels.bernoulli(dropped, share, source=state)
    dropout_factor = np.where(dropped.numpy(), 0, 1 / (1 - share))
    logsumexp = xr.empty(q.shape[:3])
    sent = [xr.from_numpy(t, "f32") for t in (q, k, v)]
    options = {"causal": causal, "dropout": share, "random": state}
    out = xr.dnn.attention(*sent, **options, logsumexp=logsumexp)
    scores = np.einsum("nhsd,nhtd->nhst", q, np.repeat(k, q.shape[1] // k.shape[1], 1))
    scores /= np.sqrt(q.shape[-1])
    if causal:
        scores = np.where(np.tri(*scores.shape[2:], dtype=bool), scores, -np.inf)
    weights = np.exp(scores - scores.max(-1, keepdims=True))
    weights = weights / weights.sum(-1, keepdims=True) * dropout_factor
    expected = np.einsum("nhst,nhte->nhse", weights, np.repeat(v, q.shape[1] // k.shape[1], 1))
    check(out.numpy(), expected, "f32")
    grad = rng.standard_normal(out.shape)
    got = xr.dnn.attention_backward(xr.from_numpy(grad, "f32"), *sent, out, logsumexp, **options)
    check_gradients(got, gradients(q, k, v, grad, causal, dropout_factor=dropout_factor), "f32")


def test_many_images_and_heads(xr, rng):
    """More scores than are done at once."""
    host = operands(rng, (5, 6, 3, 600, 700, 4, 4))
    out = xr.dnn.attention(*(xr.from_numpy(t, "f32") for t in host), causal=True)
    check(out.numpy(), reference(*(rounded(t, "f32") for t in host), True)[0], "f32")


@pytest.mark.values
def test_a_query_that_sees_nothing_gives_zeros(xr, rng):
    host = operands(rng, SHAPES["square"])
    mask = np.ones((20, 20), bool)
    mask[3] = False
    logsumexp = xr.empty((2, 3, 20))
    out = xr.dnn.attention(
        *(xr.from_numpy(t, "f32") for t in host), mask=xr.from_numpy(mask), logsumexp=logsumexp
    )
    assert not out.numpy()[:, :, 3].any()
    assert np.isneginf(logsumexp.numpy()[:, :, 3]).all()


@pytest.mark.values
def test_a_nan_spoils_its_query_only(xr, rng):
    q, k, v = operands(rng, SHAPES["square"])
    q[0, 1, 5, 2] = np.nan
    bad = np.isnan(xr.dnn.attention(*(xr.from_numpy(t, "f32") for t in (q, k, v))).numpy())
    assert bad[0, 1, 5].all()
    assert bad.sum() == 16


def test_memory_grows_with_the_length(xr):
    """All scores of 16384 positions would be a gigabyte a head."""
    q = xr.zeros((1, 2, 1 << 14, 8), "bf16")
    xr.synchronize()
    xr.memory.reset_peak()
    before = xr.memory.stats()["allocated_bytes.all.current"]
    xr.dnn.attention(q, q, q)
    assert xr.memory.stats()["allocated_bytes.all.peak"] - before < 128 << 20


def test_wrong_input(xr):
    q, k = xr.zeros((1, 4, 8, 16)), xr.zeros((1, 2, 9, 16))
    with pytest.raises(xr.UsageError, match="shapes do not fit"):
        xr.dnn.attention(q, xr.zeros((1, 3, 9, 16)), k)
    with pytest.raises(xr.UsageError, match="expected f32, bf16 or f16"):
        xr.dnn.attention(q, xr.zeros((1, 2, 9, 16), "bf16"), k)
    with pytest.raises(xr.UsageError, match="broadcast against N H S T"):
        xr.dnn.attention(q, k, k, mask=xr.zeros((8, 8)))
    with pytest.raises(xr.UsageError, match=r"the logsumexp is .*, expected f32\[1,4,8\]"):
        xr.dnn.attention(q, k, k, logsumexp=xr.zeros((1, 4, 9)))
    with pytest.raises(xr.UsageError, match="at least one key"):
        xr.dnn.attention(q, xr.zeros((1, 2, 0, 16)), xr.zeros((1, 2, 0, 16)))
