"""Launches of scans, selections and sorts in the form that GPUs take, which bound how often data are read."""

import pytest

pytestmark = pytest.mark.usefixtures("device")

GENERIC = {"XPU_GENERIC_BACKEND": "1"}

SCANS = [
    ((1 << 20,), 0, ["reduce_rows", "scan_rows"]),
    ((300, 5000), 1, ["scan_rows"]),
    ((300, 50), 1, ["scan_rows"]),
    ((2000, 300), 0, ["reduce_columns", "scan_columns"]),
    ((100_000, 3), 0, ["reduce_columns", "carries", "scan_columns"]),
    ((40, 200_000), 0, ["scan_columns"]),
]


def check(child, call, wanted):
    child(
        f"""
        import xpu_runtime as xr
        {call}
        xr.synchronize()
        xr.trace.start()
        run()
        xr.synchronize()
        launches = [r.name for r in xr.trace.stop() if r.kind.name in ("kernel", "copy", "fill")]
        assert launches == {wanted!r}, launches
        """,
        env=GENERIC,
    ).check()


@pytest.mark.parametrize(("shape", "dim", "wanted"), SCANS, ids=str)
def test_scans(child, shape, dim, wanted):
    """A scan reads its input twice at most."""
    call = f"x = xr.zeros({shape}, 'i32'); run = lambda: xr.kernels.cumsum(x, x, {dim})"
    check(child, call, wanted)


SELECTIONS = [
    ((3, 1000), 10, ["topk_finish"]),
    ((1 << 20,), 10, ["topk_minima", "topk_collect", "topk_finish"]),
    (
        (1 << 20,),
        1000,
        ["fill", *["select_count"] * 3, "select_share", "select_write", "sort_rows"],
    ),
]


@pytest.mark.parametrize(("shape", "k", "wanted"), SELECTIONS, ids=str)
def test_selections(child, shape, k, wanted):
    """Few elements take two reads of long rows; more take one for each digit of 11 bits, and two."""
    out = (*shape[:-1], k)
    call = (
        f"x, values, indices = xr.zeros({shape}), xr.empty({out}), xr.empty({out}, 'i64'); "
        f"run = lambda: xr.kernels.topk(values, indices, x, {k})"
    )
    check(child, call, wanted)


@pytest.mark.parametrize(("dtype", "digits"), [("u8", 1), ("bf16", 2), ("f32", 4), ("i64", 8)])
def test_sorts(child, dtype, digits):
    """A sort of long rows has one pass a digit of 8 bits, and none to write its results."""
    call = (
        f"x, values, indices = (xr.zeros(100_000, t) for t in ('{dtype}', '{dtype}', 'i64')); "
        "run = lambda: xr.kernels.sort(values, indices, x)"
    )
    check(child, call, ["sort_count", "sort_places", "sort_move"] * digits)
