"""Trains under torchrun, which starts the ranks again when one was killed: they load the checkpoint."""

from __future__ import annotations

import os
import signal
import sys
import time
from pathlib import Path

import torch
import torch.distributed as dist
import torch.distributed.checkpoint as dcp
from gpt import batch, loss_of, model
from torch.nn.parallel import DistributedDataParallel

FOLDER = Path(sys.argv[1])
STEPS = 6
KILLED_AT = 3

rank = int(os.environ["LOCAL_RANK"])
is_first_start = os.environ["TORCHELASTIC_RESTART_COUNT"] == "0"
torch.xpu.set_device(rank)
if not is_first_start and rank == 1:
    time.sleep(2)  # so that the other one could find what the first start has left in the store
dist.init_process_group()
network = DistributedDataParallel(model(layers=1).to("xpu"))
steps = torch.optim.SGD(network.parameters(), lr=0.1)
state = {"model": network.module.state_dict(), "step": 0}
if not is_first_start:
    dcp.load(state, checkpoint_id=FOLDER)
    network.module.load_state_dict(state["model"])
for step in range(state["step"], STEPS):
    if is_first_start and step == KILLED_AT and rank == 1:
        os.kill(os.getpid(), signal.SIGKILL)
    steps.zero_grad()
    loss = loss_of(network, batch(step).to("xpu").chunk(2)[rank])
    loss.backward()
    steps.step()
    print(f"rank {rank} step {step} start {1 - is_first_start} loss {loss.item()}", flush=True)
    dcp.save({"model": network.module.state_dict(), "step": step + 1}, checkpoint_id=FOLDER)
dist.destroy_process_group()
