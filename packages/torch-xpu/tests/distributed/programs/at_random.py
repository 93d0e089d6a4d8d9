"""Small collectives at random for a time, beside threads of Python that come and go.

The argument is the time in seconds. A crash that one of some 100,000 collectives met was found by this.
"""

from __future__ import annotations

import os
import random
import sys
import threading
import time
from collections.abc import Callable

import torch
import torch.distributed as dist
from two_ranks import DEVICE, start

ROUND = 500
MAX_PENDING = 20


def start_threads(stop: threading.Event) -> None:
    """Let threads of Python come and go until the event is set."""

    def run() -> None:
        while not stop.wait(0.002):
            thread = threading.Thread(target=lambda: [object() for _ in range(100)])
            thread.start()
            thread.join()

    threading.Thread(target=run, daemon=True).start()


def actions(rank: int) -> list[Callable[[torch.Tensor], dist.Work | None]]:
    """Return the collectives, of which each takes a tensor of ones and may return work to wait for."""

    def exchange(x: torch.Tensor) -> None:
        work = dist.isend(x, 1 - rank)
        received = torch.zeros_like(x)
        dist.recv(received, 1 - rank)
        work.wait()
        assert received.sum().item() == len(x)

    def gather(x: torch.Tensor) -> None:
        both = x.new_zeros(2 * len(x))
        dist.all_gather_into_tensor(both, x)
        assert both.sum().item() == 2 * len(x)

    def call_back(x: torch.Tensor) -> None:
        dist.all_reduce(x, async_op=True).get_future().then(lambda done: done.value()[0] * 2)

    def reduce(x: torch.Tensor) -> None:
        dist.all_reduce(x)
        assert x.sum().item() == 2 * len(x)

    # In strict mode a tensor that is dropped waits for its stream, with the lock that the callback needs.
    callbacks = [] if os.environ.get("XPU_STRICT_MEMORY") == "1" else [call_back]
    return [
        *callbacks,
        exchange,
        gather,
        reduce,
        lambda x: dist.all_reduce(x, async_op=True),
        lambda x: dist.broadcast(x, 0, async_op=True),
        lambda x: dist.all_gather([torch.zeros_like(x) for _ in range(2)], x, async_op=True),
    ]


def main() -> None:
    rank = start()
    end = time.monotonic() + float(sys.argv[1])
    stop = threading.Event()
    start_threads(stop)
    draw = random.Random(5)  # both ranks draw the same
    possible, pending, count = actions(rank), [], 0
    votes = dist.new_group(backend="gloo")
    ended = torch.zeros(1)
    while not ended:
        for _ in range(ROUND):
            work = draw.choice(possible)(torch.ones(draw.choice([2, 100, 5000]), device=DEVICE))
            count += 1
            if work is not None:
                pending.append(work)
            if len(pending) > MAX_PENDING:
                pending.pop(draw.randrange(MAX_PENDING)).wait()
            if draw.random() < 0.02:
                pending.clear()
        ended[0] = time.monotonic() > end
        dist.all_reduce(ended, group=votes)
    stop.set()
    dist.destroy_process_group()
    print(f"{count} collectives")


main()
