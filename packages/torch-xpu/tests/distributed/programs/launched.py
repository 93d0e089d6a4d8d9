"""A script for torchrun as users write it: each rank has the device of its number."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import torch
import torch.distributed as dist

rank = int(os.environ["LOCAL_RANK"])
torch.xpu.set_device(rank)
dist.init_process_group(device_id=torch.device("xpu", rank))
x = torch.full((4,), float(rank + 1), device="xpu")
dist.all_reduce(x)
assert x.device == torch.device("xpu", rank)

report = {
    "devices": torch.xpu.device_count(),
    "sum": x.tolist(),
    "units": torch.xpu.get_device_properties(rank).max_compute_units,
}
(Path(sys.argv[1]) / f"{rank}.json").write_text(json.dumps(report))
dist.destroy_process_group()
