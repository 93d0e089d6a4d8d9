"""Loads a package in a process that has compiled nothing: ``run_package.py FILE [exit]``.

Prints the seconds until the first result, and what it is; with `exit`, ends with status 7 and work queued.
"""

import logging
import sys
import time

import package_case
import torch
import torch._inductor.codecache
import torch._inductor.package

logging.basicConfig()
logging.getLogger("xpu_runtime").setLevel(logging.DEBUG)  # where kernels come from
given = package_case.inputs(16)
torch.xpu.synchronize()
start = time.perf_counter()
call = torch._inductor.aoti_load_package(sys.argv[1])
with torch.no_grad():
    scores, sums = call(*given)
    total = scores.sum().item() + sums.sum().item()
print(f"{time.perf_counter() - start:.3f} {total:.4f}", flush=True)
if sys.argv[2:] == ["exit"]:
    with torch.no_grad():
        for _ in range(200):
            call(*package_case.inputs(4999))
    sys.exit(7)
