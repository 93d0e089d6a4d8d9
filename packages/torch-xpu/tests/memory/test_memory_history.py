"""What happened to device memory, as PyTorch's viewer of memory reads it."""

import pickle
from contextlib import contextmanager

import pytest
import torch
import xpu_runtime
from torch.cuda import _memory_viz

MB = 1 << 20


@contextmanager
def history(enabled="all", **options):
    torch.xpu.memory._record_memory_history(enabled, clear_history=True, **options)
    try:
        yield
    finally:
        torch.xpu.memory._record_memory_history(None)


def events(address=None):
    found = torch.xpu.memory._snapshot()["device_traces"][torch.xpu.current_device()]
    if address is None:
        return found
    of_block = ("alloc", "free_requested", "free_completed")
    return [e for e in found if e.get("addr") == address and e["action"] in of_block]


def make_a_tensor(size=3 * MB):
    return torch.empty(size, dtype=torch.uint8, device="xpu")


def names(frames):
    return [frame["name"] for frame in frames]


def test_a_block_from_its_allocation_to_its_end():
    with history():
        tensor = make_a_tensor()
        address = tensor.data_ptr()
        del tensor
        found = events(address)
    assert [e["action"] for e in found] == ["alloc", "free_requested", "free_completed"]
    assert {e["size"] for e in found} == {3 * MB}
    assert "make_a_tensor" in names(found[0]["frames"])
    assert found[0]["time_us"] <= found[-1]["time_us"]


def test_living_blocks_know_who_made_them():
    with history():
        tensor = make_a_tensor()
        blocks = [b for s in torch.xpu.memory._snapshot()["segments"] for b in s["blocks"]]
    block = next(b for b in blocks if b["address"] == tensor.data_ptr())
    assert block["state"] == "active_allocated"
    assert "make_a_tensor" in names(block["frames"])
    assert block["frames"][-1].keys() >= {"filename", "line", "name"}


def test_segments_come_and_go():
    torch.xpu.empty_cache()
    with history():
        tensor = make_a_tensor(64 * MB)
        del tensor
        torch.xpu.empty_cache()
        found = events()
    actions = [e["action"] for e in found]
    made = next(e for e in found if e["action"] == "segment_alloc")
    gone = next(e for e in found if e["action"] == "segment_free" and e["addr"] == made["addr"])
    assert made["size"] == gone["size"] >= 64 * MB
    assert actions.index("segment_alloc") < actions.index("alloc") < actions.index("segment_free")


def test_memory_of_other_frameworks_is_there_too():
    with history():
        array = xpu_runtime.empty((MB,), "u8")
        found = events()
    assert "alloc" in [e["action"] for e in found if e["size"] == MB]
    del array


def test_out_of_memory():
    with history():
        with pytest.raises(torch.OutOfMemoryError):
            make_a_tensor(1 << 50)
        found = [e for e in events() if e["action"] == "oom"]
    assert found[0]["size"] >= 1 << 50
    assert found[0]["device_free"] > 0
    assert "make_a_tensor" in names(found[0]["frames"])


def test_only_the_last_entries_are_kept():
    with history(max_entries=4):
        for _ in range(10):
            make_a_tensor()
        assert len(events()) == 4


def test_actions_to_skip():
    with history(skip_actions=["free_requested", "snapshot"]):
        make_a_tensor()
        found = {e["action"] for e in events()}
    assert {"alloc", "free_completed"} <= found
    assert not {"free_requested", "snapshot"} & found


def test_state_keeps_no_events():
    with history("state"):
        tensor = make_a_tensor()
        assert events(tensor.data_ptr()) == []


def test_context_of_allocations_only():
    with history(context="alloc", stacks="python"):
        tensor = make_a_tensor()
        address = tensor.data_ptr()
        del tensor
        made, asked, _ = events(address)
    assert made["frames"]
    assert not asked["frames"]


def test_unknown_options():
    with pytest.raises(ValueError, match="enabled: got 'some'"):
        torch.xpu.memory._record_memory_history("some")


def test_the_viewer_reads_a_dump(tmp_path):
    path = tmp_path / "snapshot.pickle"
    with history():
        tensor = make_a_tensor(32 * MB)
        torch.xpu.memory._dump_snapshot(str(path))
    snapshot = pickle.loads(path.read_bytes())
    assert "segments: " in _memory_viz.segsum(snapshot)
    assert "entries" in _memory_viz.trace(snapshot)
    assert "<html" in _memory_viz.trace_plot(snapshot).lower()
    assert "<html" in _memory_viz.segment_plot(snapshot).lower()
    del tensor
