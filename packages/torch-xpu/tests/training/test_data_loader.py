"""Loading data: pinned batches, workers, and what a forked worker may not do."""

from multiprocessing.reduction import ForkingPickler
from pathlib import Path

import pytest
import torch
from datasets_of_tests import Numbers, OnTheDevice, ThroughTheDevice
from torch.utils.data import DataLoader
from xpu_testing import run_child


@pytest.mark.parametrize("workers", [0, 2])
def test_pinned_batches(workers):
    torch.ones(1, device="xpu")
    seen = []
    for batch in DataLoader(Numbers(), batch_size=4, pin_memory=True, num_workers=workers):
        assert batch["x"].is_pinned()
        moved = batch["x"].to("xpu", non_blocking=True)
        assert moved.shape == (4, 3)
        seen += batch["i"].tolist()
        torch.xpu.synchronize()
    assert seen == list(range(12))


def test_device_tensors_without_workers():
    (batch,) = DataLoader(OnTheDevice(), batch_size=12)
    assert batch.device.type == "xpu"
    assert batch.shape == (12, 3)


def test_forked_workers_cannot_use_the_device():
    torch.ones(1, device="xpu")
    loader = DataLoader(OnTheDevice(), batch_size=4, num_workers=1, multiprocessing_context="fork")
    with pytest.raises(RuntimeError, match=r"(?s)fork.*spawn"):
        list(loader)


def test_spawned_workers_can():
    loader = DataLoader(
        ThroughTheDevice(), batch_size=12, num_workers=1, multiprocessing_context="spawn"
    )
    (batch,) = loader
    assert batch.shape == (12, 3)


@pytest.mark.parametrize("pinned", [False, True])
def test_spawned_workers_cannot_return_tensors_of_the_device(pinned):
    """The program ends with an error that says what to do; it does not wait for the batch."""
    done = run_child(
        f"""
        import sys
        sys.path.insert(0, {str(Path(__file__).parent)!r})
        from datasets_of_tests import OnTheDevice
        from torch.utils.data import DataLoader

        if __name__ == "__main__":
            list(DataLoader(
                OnTheDevice(), num_workers=1, multiprocessing_context="spawn", pin_memory={pinned}
            ))
        """,
        timeout=60,
    )
    assert done.exit_code == 1
    assert "Workers of a DataLoader return tensors of the CPU" in done.err


TENSORS = {
    "tensor": lambda: torch.ones(3, device="xpu"),
    "empty": lambda: torch.ones(0, device="xpu"),
    "parameter": lambda: torch.nn.Parameter(torch.ones(3, device="xpu")),
    "module": lambda: torch.nn.Linear(2, 2, device="xpu"),
    "storage": lambda: torch.ones(3, device="xpu").untyped_storage(),
}


@pytest.mark.parametrize("kind", TENSORS)
def test_device_tensors_do_not_travel_between_processes(kind):
    with pytest.raises(RuntimeError, match=r"xpu:0 cannot be sent to another process: send tensor"):
        ForkingPickler.dumps(TENSORS[kind]())


@pytest.mark.parametrize("kind", TENSORS)
def test_the_receiver_of_a_queue_hears_of_it(kind):
    queue = torch.multiprocessing.get_context("spawn").Queue()
    queue.put(TENSORS[kind]())
    with pytest.raises(RuntimeError, match=r"xpu:0 cannot be sent to another process: send tensor"):
        queue.get(timeout=30)
    queue.put(torch.ones(3))  # the queue still works
    assert queue.get(timeout=30).tolist() == [1, 1, 1]
