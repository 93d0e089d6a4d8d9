"""A profile of DDP: collectives are spans with their names, and most begin before the backward pass ends."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import torch
import torch.distributed as dist
from gpt import batch, loss_of, model
from torch.nn.parallel import DistributedDataParallel
from torch.profiler import ProfilerActivity, profile, record_function
from two_ranks import DEVICE, RANKS, start

rank = start()
network = DistributedDataParallel(model(), bucket_cap_mb=0.02)
words = batch(0).chunk(RANKS)[rank]
for _ in range(3):
    loss_of(network, words).backward()
torch.xpu.synchronize()
with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.XPU]) as recorded:
    loss = loss_of(network, words)
    with record_function("whole backward"):
        loss.backward()
    dist.all_gather_into_tensor(torch.empty(4, device=DEVICE), torch.ones(2, device=DEVICE))
    torch.xpu.synchronize()
file = Path(sys.argv[1]) / f"trace{rank}.json"
recorded.export_chrome_trace(str(file))
events = [event for event in json.loads(file.read_text())["traceEvents"] if event.get("ph") == "X"]


def named(name: str) -> list[dict[str, float]]:
    return [event for event in events if event["name"] == name]


(backward,) = named("whole backward")
buckets = named("xccl:all_reduce")
print("buckets", len(buckets))
assert len(buckets) > 3, {event["name"] for event in events}
assert len(named("xccl:all_gather_into_tensor")) == 1
end = backward["ts"] + backward["dur"]
early = sum(bucket["ts"] < end for bucket in buckets)
assert early >= 0.8 * len(buckets), (early, len(buckets))
assert all(bucket["dur"] > 0 for bucket in buckets)

# A profile may end before the collectives that began in it.
for _ in range(30):
    with torch.autograd.profiler.profile(record_shapes=True) as recorded:
        dist.all_reduce(torch.ones(1000, device=DEVICE))
    assert any(event.name == "xccl:all_reduce" for event in recorded.function_events)
dist.destroy_process_group()
