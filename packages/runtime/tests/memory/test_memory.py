"""The pools: statistics, limits, streams, private pools, pinned memory, logs and snapshots."""

from __future__ import annotations

import csv
import gc
import threading
from pathlib import Path

import numpy as np
import pytest

MB = 1 << 20
GROUPS = ["allocation", "segment", "active", "inactive_split", "allocated_bytes", "reserved_bytes"]
GROUPS += ["active_bytes", "inactive_split_bytes", "requested_bytes"]


@pytest.fixture
def memory(xr, device):
    """The module, with the limit and the cache as they were afterwards."""
    gc.collect()
    yield xr.memory
    xr.memory.set_limit(0)
    xr.memory.log(None)
    gc.collect()
    xr.memory.empty_cache()


def current(memory, name="allocated_bytes.all"):
    return memory.stats()[f"{name}.current"]


def test_stats_have_torch_names_and_add_up(xr, memory):
    held = [xr.empty((n,), "f32") for n in (1, 1000, MB, 10 * MB)]
    stats = memory.stats()
    for group in GROUPS:
        for pool in ("all", "small_pool", "large_pool"):
            key = f"{group}.{pool}"
            assert stats[f"{key}.allocated"] - stats[f"{key}.freed"] == stats[f"{key}.current"]
            assert stats[f"{key}.peak"] >= stats[f"{key}.current"] >= 0
    assert {"num_alloc_retries", "num_ooms", "num_device_alloc", "num_device_free"} <= set(stats)
    assert stats["requested_bytes.all.current"] >= sum(4 * a.size for a in held)


def test_peaks_and_totals_begin_anew(child):
    """In a process of its own: other tests add the totals up."""
    child(f"""
        import xpu_runtime as xr

        held = xr.empty(({MB},), "f32")
        before = xr.memory.stats()["allocated_bytes.all.current"]
        xr.empty(({MB},), "f32")
        assert xr.memory.stats()["allocated_bytes.all.peak"] > before > 0
        xr.memory.reset_peak()
        assert xr.memory.stats()["allocated_bytes.all.peak"] == before
        xr.memory.reset_accumulated()
        assert xr.memory.stats()["allocation.all.allocated"] == 0
        """).check()


def test_owners_are_told_apart(xr, memory):
    stream = xr.current_stream()
    native = xr._native.C
    pointer = native.allocate(5 * MB, stream, native.memory_owner("a framework"))
    try:
        assert memory.owners()["a framework"] == 5 * MB
        found = memory.find(pointer + 4 * MB)
        assert (found["address"], found["owner"], found["requested"]) == (
            pointer,
            "a framework",
            5 * MB,
        )
        assert found["device"] == 0
        assert found["stream"] == stream
    finally:
        native.deallocate(pointer)
    assert memory.owners()["a framework"] == 0
    assert memory.find(pointer) is None


def test_out_of_memory_says_everything_and_work_goes_on(xr, memory):
    memory.empty_cache()
    assert memory.set_limit(256 * MB) == 0
    assert memory.limit() == 256 * MB
    held = [xr.zeros((5 * MB,), "f32") for _ in range(12)]
    with pytest.raises(xr.OutOfMemory) as caught:
        xr.zeros((5 * MB,), "f32")
    text = str(caught.value)
    for words in (
        "asked: 20.00 MiB",
        "free on the device",
        "reserved by the pool",
        "allocated:",
        "by xpu:",
        "largest free block",
        "limit: 256.00 MiB",
        "set_limit",
        "XPU_MEMORY_LIMIT",
        "empty_cache",
    ):
        assert words in text
    held.clear()
    # The cache holds everything in pieces of 20 MB; it is given back for this one.
    big = xr.zeros((50 * MB,), "f32")
    assert big.size == 50 * MB
    assert memory.set_limit(0) == 256 * MB


def test_limit_from_the_environment(child):
    child(
        """
        import xpu_runtime as xr
        assert xr.memory.limit() == 64 << 20
        try:
            xr.empty((100 << 20,), "u8")
        except xr.OutOfMemory as error:
            assert "limit: 64.00 MiB" in str(error)
        else:
            raise SystemExit("no error")
        """,
        env={"XPU_MEMORY_LIMIT": "64M"},
    ).check()


def test_more_than_the_device_allows(xr, memory):
    with pytest.raises(xr.OutOfMemory, match="asked"):
        xr.empty((xr.devices()[0].max_allocation + 1,), "u8")


def test_empty_cache_gives_back(xr, memory):
    array = xr.zeros((30 * MB,), "u8")
    reserved = current(memory, "reserved_bytes.all")
    del array
    given = memory.empty_cache()
    assert current(memory, "reserved_bytes.all") <= reserved - 30 * MB
    assert given == 0 or given >= 30 * MB  # strict memory keeps nothing to give


@pytest.mark.parametrize("k", [1, 2, 7])
def test_injected_failure(xr, memory, k):
    before = current(memory)
    held = []
    with memory.fail_allocation(k):
        for _ in range(k - 1):
            held.append(xr.empty((100,), "f32"))
        with pytest.raises(xr.OutOfMemory, match="fail_allocation"):
            xr.empty((100,), "f32")
        held.append(xr.empty((100,), "f32"))
    held.clear()
    assert current(memory) == before


@pytest.mark.values
def test_bad_frees_are_logged_not_fatal(child):
    done = child(
        """
        import logging
        logging.basicConfig()
        import xpu_runtime as xr
        from xpu_runtime._native import C
        pointer = C.allocate(1000, xr.current_stream())
        C.deallocate(pointer)
        C.deallocate(pointer)
        C.deallocate(12345678)
        C.deallocate(0)
        assert xr.zeros((10,)).numpy().sum() == 0
        """
    ).check()
    assert done.err.count("nothing was done") == 2


def test_snapshot_has_the_shape_of_memory_viz(xr, memory, tmp_path):
    path = tmp_path / "log.csv"
    memory.log(path)
    array = xr.zeros((3 * MB,), "u8")
    other = xr.zeros((10,), "u8")
    del other
    memory.log(None)
    snapshot = memory.snapshot(log=path)
    total = 0
    for segment in snapshot["segments"]:
        assert segment["segment_type"] in ("small", "large")
        address = segment["address"]
        for block in segment["blocks"]:
            assert block["address"] == address
            address += block["size"]
            assert block["state"] in ("active_allocated", "active_pending_free", "inactive")
            assert bool(block["frames"]) == (block["state"] != "inactive")
            total += block["size"] if block["state"] == "active_allocated" else 0
        assert address == segment["address"] + segment["total_size"]
    assert total == current(memory)
    actions = [event["action"] for event in snapshot["device_traces"][0]]
    assert actions == ["alloc", "alloc", "free_requested", "free_completed"]
    assert snapshot["device_traces"][0][0]["addr"] == array.pointer


def test_log_is_a_line_for_each_allocation(xr, memory, tmp_path):
    path = tmp_path / "log.csv"
    with memory.log(path):
        array = xr.empty((1000,), "f32")
        pointer = array.pointer
        del array
    xr.empty((1000,), "f32")  # after the end: not logged
    with path.open() as file:
        lines = list(csv.DictReader(file))
    assert [line["action"] for line in lines] == ["allocate", "free"]
    assert all(int(line["address"], 16) == pointer and line["bytes"] == "4000" for line in lines)
    assert lines[0]["owner"] == "xpu"
    with pytest.raises(xr.UsageError, match="cannot write the allocation log"):
        memory.log(tmp_path / "absent" / "log.csv")


def test_summary_is_a_table(xr, memory):
    array = xr.zeros((3 * MB,), "u8")
    text = memory.summary()
    assert "limit none" in text
    row = next(line for line in text.splitlines() if line.startswith("allocated"))
    assert f"{current(memory) / MB:.1f} MiB" in row
    assert array.size == 3 * MB


def test_private_pool(xr, memory):
    pool = memory.Pool()
    with pool.use():
        inside = xr.zeros((1000,), "f32")
    outside = xr.zeros((1000,), "f32")
    pools = {
        block["address"]: segment["segment_pool_id"][1]
        for segment in memory.snapshot()["segments"]
        for block in segment["blocks"]
    }
    assert pools[inside.pointer] == pool.id
    assert pools[outside.pointer] == 0
    del pool
    assert all(s["segment_pool_id"] == (0, 0) for s in memory.snapshot()["segments"])


def test_pinned_memory(xr, memory):
    native = xr._native.C
    pointer = native.host_allocate(MB)
    assert native.is_pinned(pointer)
    assert native.is_pinned(pointer + MB - 1)
    assert not native.is_pinned(np.zeros(4).ctypes.data)
    assert memory.host_stats()["allocated_bytes.current"] >= MB
    native.host_deallocate(pointer)
    assert native.host_allocate(MB) == pointer
    native.host_deallocate(pointer)
    assert memory.host_empty_cache() >= MB


def test_info(xr, memory):
    free, total = memory.info()
    assert 0 < free <= total == xr.devices()[0].total_memory


def test_threads(xr, memory):
    before = memory.stats()
    failures = []

    def work(seed):
        rng = np.random.default_rng(seed)
        stream = xr.Stream()
        native = xr._native.C
        held = []
        try:
            for _ in range(500):
                if held and rng.random() < 0.5:
                    native.deallocate(held.pop(rng.integers(len(held))))
                else:
                    held.append(native.allocate(int(rng.integers(1, 1 << 18)), stream))
            for pointer in held:
                native.deallocate(pointer)
        except xr.Error as error:
            failures.append(error)

    threads = [threading.Thread(target=work, args=(i,)) for i in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures
    after = memory.stats()
    assert after["allocated_bytes.all.current"] == before["allocated_bytes.all.current"]
    assert after["active.all.current"] == after["allocation.all.current"]


ENDINGS = {
    "held by a module": "import sys; sys.held = xr.zeros((1 << 20,))",
    "held by a cycle": "a = [xr.zeros((1 << 20,))]; a.append(a)",
    "in a thread": """
import threading
from pathlib import Path
held = []
thread = threading.Thread(target=lambda: held.append(xr.zeros((1 << 20,))))
thread.start(); thread.join()""",
    "work still running": "held = xr.zeros((1 << 26,)); more = xr.zeros((1 << 26,))",
    "freed by atexit": "import atexit; held = [xr.zeros((8,))]; atexit.register(held.clear)",
}
IMPORTS = ("import numpy, xpu_runtime as xr", "import xpu_runtime as xr, numpy")


@pytest.mark.parametrize("ending", ENDINGS)
@pytest.mark.parametrize("imports", IMPORTS)
def test_the_process_ends_cleanly(child, imports, ending):
    done = child(f"{imports}\n{ENDINGS[ending].strip()}").check()
    assert done.out == done.err == ""


@pytest.mark.values
def test_forked_child_frees_quietly(child):
    child(
        """
        import os, warnings
        warnings.simplefilter("ignore")
        import xpu_runtime as xr
        held = xr.zeros((1000,))
        if os.fork() == 0:
            del held
            try:
                xr.zeros((1000,))
            except xr.DeviceError as error:
                os._exit(0 if "spawn" in str(error) else 3)
            os._exit(4)
        assert os.waitstatus_to_exitcode(os.wait()[1]) == 0
        assert held.numpy().sum() == 0
        """
    ).check()


@pytest.mark.cpu_device
def test_large_allocations_decide_on_large_pages(child):
    if not Path("/sys/kernel/mm/transparent_hugepage").exists():
        pytest.skip("this kernel has no large pages")
    code = """
        import re
        import xpu_runtime as xr
        middle = xr.empty((64 << 20,), "u8").pointer + (32 << 20)
        for mapping in re.split(r"(?m)^(?=[0-9a-f]+-[0-9a-f]+ )", open("/proc/self/smaps").read()):
            found = re.match(r"([0-9a-f]+)-([0-9a-f]+) ", mapping)
            if found and int(found[1], 16) <= middle < int(found[2], 16):
                # Asked for, or refused where the first was slow to come.
                assert {"hg", "nh"} & set(re.search(r"VmFlags:(.*)", mapping)[1].split()), mapping
                break
        else:
            raise AssertionError("no mapping holds the array")
    """
    child(code, env={"XPU_STRICT_MEMORY": "0"}).check()


def test_a_pool_may_live_until_the_process_ends(child):
    done = child(
        """
        import xpu_runtime as xr
        pool = xr.memory.Pool()
        with pool.use():
            array = xr.empty((5,), "f32")
        keep = [pool]
        keep.append(keep)
        """
    )
    done.check()
    assert done.err == ""
