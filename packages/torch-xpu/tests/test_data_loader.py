"""Loading data: pinned batches, workers, and what a forked worker may not do."""

import pytest
import torch
from datasets_of_tests import Numbers, OnTheDevice, ThroughTheDevice
from torch.utils.data import DataLoader


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


def test_device_tensors_do_not_travel_between_processes():
    from multiprocessing.reduction import ForkingPickler

    with pytest.raises(RuntimeError, match="only available on CPU"):
        ForkingPickler.dumps(torch.ones(3, device="xpu"))
