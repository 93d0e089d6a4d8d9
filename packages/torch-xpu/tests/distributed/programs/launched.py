"""A script for torchrun as users write it: each rank has a device of its own, with cores of its own."""

from __future__ import annotations

import json
import os
import sys
import time
from pathlib import Path

import torch
import torch.distributed as dist

rank = int(os.environ["LOCAL_RANK"])
torch.xpu.set_device(rank)
dist.init_process_group(device_id=torch.device("xpu", rank))
x = torch.full((4,), float(rank + 1), device="xpu")
dist.all_reduce(x)
assert x.device == torch.device("xpu", rank)


def ticks() -> dict[str, int]:
    """Return the time that each thread has computed, and the core that it was on, by thread."""
    found = {}
    for task in Path("/proc/self/task").iterdir():
        fields = (task / "stat").read_text().rpartition(")")[2].split()
        found[task.name, int(fields[36])] = int(fields[11]) + int(fields[12])
    return found


# Kernels alone: the host sleeps meanwhile.
a = torch.ones(512, 512, device="xpu")
before = ticks()
end = time.monotonic() + 1
while time.monotonic() < end:
    for _ in range(20):
        a = (a @ a).clamp(0, 1)
    torch.xpu.synchronize()
report = {
    "devices": torch.xpu.device_count(),
    "sum": x.tolist(),
    "units": torch.xpu.get_device_properties(rank).max_compute_units,
    "cores": sorted(
        {core for (task, core), n in ticks().items() if n - before.get((task, core), 0) > 20}
    ),
}
(Path(sys.argv[1]) / f"{rank}.json").write_text(json.dumps(report))
dist.destroy_process_group()
