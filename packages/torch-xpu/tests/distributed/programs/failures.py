"""What a rank sees when another one is killed, stalls, leaves or never comes; one scenario in a process."""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import torch
import torch.distributed as dist
from two_ranks import DEVICE, start

BACKEND = sys.argv[2] if len(sys.argv) > 2 else "xccl"


def seconds_until_raised(call: Callable[[], object], *texts: str) -> float:
    begin = time.perf_counter()
    try:
        call()
    except Exception as error:  # noqa: BLE001 - the text tells whether it is the right one
        took = time.perf_counter() - begin
        for text in texts:
            assert text in str(error), f"{text!r} is not in: {error}"
        return took
    raise AssertionError("nothing was raised")


def tensor() -> torch.Tensor:
    return torch.ones(1024, 3, device=DEVICE)


def killed() -> None:
    rank = start(BACKEND, timeout=30)
    x = tensor()
    dist.all_reduce(x)
    torch.xpu.synchronize()
    if rank == 1:
        os.kill(os.getpid(), signal.SIGKILL)
    dist.all_reduce(x)
    took = seconds_until_raised(
        lambda: x.sum().item(),
        "rank 0 of 2",
        "all_reduce number 2",
        "Float [1024, 3]",
        "failed after",
    )
    assert took < 2, took
    # The group is of no use any more, and says why; the device is.
    assert seconds_until_raised(lambda: dist.all_reduce(x), "cannot be used any more") < 1
    assert torch.ones(3, device=DEVICE).sum().item() == 3
    begin = time.perf_counter()
    dist.destroy_process_group()
    assert time.perf_counter() - begin < 2


def waited() -> None:
    """Wait for a work and for its future after the other rank was killed: both raise."""
    rank = start(BACKEND, timeout=30)
    dist.all_reduce(tensor())
    torch.xpu.synchronize()
    if rank == 1:
        os.kill(os.getpid(), signal.SIGKILL)
    work = dist.all_reduce(tensor(), async_op=True)
    took = seconds_until_raised(
        lambda: work.wait(timeout=timedelta(seconds=20)), "all_reduce number 2"
    )
    assert took < 2, took
    seconds_until_raised(work.get_future().wait, "all_reduce number 2")
    assert work.is_completed()
    assert work.exception() is not None
    dist.destroy_process_group()


def stalled() -> None:
    rank = start(BACKEND, timeout=3)
    dist.barrier()
    if rank == 1:
        time.sleep(8)
        os._exit(0)
    x = tensor()
    dist.all_reduce(x)
    took = seconds_until_raised(
        torch.xpu.synchronize, "all_reduce number 2", "timed out after", "did not come in time: 1"
    )
    assert 2 < took < 4.5, took
    dist.destroy_process_group()


def recorded() -> None:
    """The message of a timeout names what is pending beside it, and the flight record if there is one."""
    rank = start(BACKEND, timeout=3)
    x = tensor()
    for _ in range(2):
        dist.all_reduce(x)
    torch.xpu.synchronize()
    prefix = os.environ.get("TORCH_FR_DUMP_TEMP_FILE") or os.environ.get(
        "TORCH_NCCL_DEBUG_INFO_TEMP_FILE"
    )
    if rank == 1:
        time.sleep(6)
        if prefix:
            Path(f"{prefix}1").write_bytes(torch._C._distributed_c10d._dump_fr_trace())
        os._exit(0)
    dist.all_reduce(x)
    for _ in range(6):
        dist.broadcast(x, 0)
    seconds_until_raised(
        torch.xpu.synchronize,
        "all_reduce number 3",
        "also pending: broadcast number 4, broadcast number 5, broadcast number 6, "
        "broadcast number 7 and 2 more",
        f"are in {prefix}0" if prefix else "did not come in time: 1",
    )
    dist.destroy_process_group()


def short_wait() -> None:
    """A wait's own timeout passes; the collective goes on and completes."""
    rank = start(BACKEND, timeout=30)
    dist.barrier()
    if rank == 1:
        time.sleep(1)
    x = tensor()
    work = dist.all_reduce(x, async_op=True)
    if rank == 0:
        took = seconds_until_raised(
            lambda: work.wait(timeout=timedelta(milliseconds=300)), "within 300 ms"
        )
        assert took < 0.6, took
    work.wait()
    assert x.sum().item() == 2 * x.numel()
    dist.barrier()
    dist.destroy_process_group()


def aborted() -> None:
    rank = start(BACKEND, timeout=30)
    dist.barrier()
    if rank == 1:
        time.sleep(2)
        os._exit(0)
    work = dist.all_reduce(tensor(), async_op=True)
    threading.Timer(0.3, dist.group.WORLD._get_backend(DEVICE).abort).start()
    took = seconds_until_raised(lambda: work.wait(timeout=timedelta(seconds=20)), "was aborted")
    assert took < 1.5, took
    seconds_until_raised(lambda: dist.all_reduce(tensor()), "aborted the group")
    begin = time.perf_counter()
    dist.destroy_process_group()
    assert time.perf_counter() - begin < 1


def interrupted() -> None:
    """Ctrl-C ends the waits of a collective that does not come."""
    rank = start(BACKEND, timeout=30)
    dist.barrier()
    if rank == 1:
        time.sleep(6)
        os._exit(0)
    x = tensor()
    for i, wait in enumerate(
        (
            lambda: torch.xpu.synchronize(),
            lambda: x.sum().item(),
            lambda: dist.all_reduce(x, async_op=True).wait(timeout=timedelta(seconds=20)),
            lambda: dist.barrier(),
        )
    ):
        dist.all_reduce(x)
        threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()
        begin = time.perf_counter()
        try:
            wait()
        except KeyboardInterrupt:
            assert time.perf_counter() - begin < 1.2
        else:
            raise AssertionError(f"the wait {i} was not interrupted")
    print("done", flush=True)


def pending_at_exit() -> None:
    """A process ends soon, and with its own status, although collectives wait for a rank that never comes."""
    rank = start(BACKEND, timeout=30)
    dist.barrier()
    store = dist.distributed_c10d._get_default_store()
    if rank == 1:
        other = int(store.get("process"))
        begin = time.perf_counter()
        while is_running(other):
            assert (
                time.perf_counter() - begin < 15
            )  # of which a loaded machine needs some to end Python
            time.sleep(0.05)
        os._exit(0)
    for _ in range(3):
        dist.all_reduce(tensor())
    dist.irecv(torch.zeros(3, device=DEVICE), 1)
    store.set("process", str(os.getpid()))


def is_running(process: int) -> bool:
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def completed_at_exit() -> None:
    """Collectives that were enqueued just before the end still reach the other rank."""
    rank = start(BACKEND, timeout=30)
    x = tensor()
    works = [dist.all_reduce(x, async_op=True) for _ in range(3)]
    if rank == 1:
        for work in works:
            work.wait()
        assert x.sum().item() == 8 * x.numel()


def forked() -> None:
    """A child of fork is refused, and its end harms nobody."""
    start(BACKEND, timeout=30)
    x = tensor()
    dist.all_reduce(x)
    torch.xpu.synchronize()
    child = os.fork()
    if child == 0:
        try:
            dist.all_reduce(x)
        except Exception as error:  # noqa: BLE001 - the text tells whether it is the right one
            os._exit(0 if "fork" in str(error) else 2)
        os._exit(3)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    dist.all_reduce(x)
    assert x.sum().item() == 4 * x.numel()
    dist.barrier()
    dist.destroy_process_group()


globals()[sys.argv[1]]()
