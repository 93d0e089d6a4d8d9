"""Random work in several threads, while low-priority helpers are killed and the cache is emptied."""

import contextlib
import os
import random
import signal
import threading
import time

from wanted_kernels import CACHE, WORKS, low_priority_helpers, want


def work(seed):
    order = random.Random(seed)
    for number in order.sample(range(len(WORKS)), 10):
        want(number)
        time.sleep(order.random() / 20)


def run(seed, threads, kills, empties):
    random.seed(seed)
    workers = [threading.Thread(target=work, args=(seed * 10 + k,)) for k in range(threads)]
    failed = []
    threading.excepthook = lambda about: failed.append(about.exc_value)
    for thread in workers:
        thread.start()
    while any(thread.is_alive() for thread in workers):
        time.sleep(random.random() / 4)
        for pid in low_priority_helpers() if kills else ():
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        for file in CACHE.glob("*.bin") if empties else ():
            file.unlink(missing_ok=True)
    if failed:
        raise failed[0]
    print("done")
