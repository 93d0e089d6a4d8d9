"""Saves a sharded model and its optimizer, or loads them on any number of ranks and compares the bits.

Arguments: the action, and the folder. What is expected is saved beside the checkpoint, whole, by one rank.
"""

from __future__ import annotations

import sys
from pathlib import Path

import torch
import torch.distributed as dist
import torch.distributed.checkpoint as dcp
from gpt import model, one_process, optimizer, train
from torch import Tensor, nn
from torch.distributed.checkpoint.state_dict import get_state_dict, set_state_dict
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard
from torch.distributed.tensor import DTensor
from two_ranks import RANKS, start

FOLDER = Path(sys.argv[2])


def sharded() -> tuple[nn.Module, torch.optim.Optimizer]:
    network = model()
    mesh = init_device_mesh("xpu", (RANKS,))
    for block in network.blocks:
        fully_shard(block, mesh=mesh)
    fully_shard(network, mesh=mesh)
    return network, optimizer(network.parameters())


def whole(state: object) -> dict[str, Tensor]:
    """Return all tensors of nested dicts, unsharded, on the host."""
    found = {}

    def visit(value: object, name: str) -> None:
        if isinstance(value, dict):
            for key, part in value.items():
                visit(part, f"{name}/{key}")
        elif isinstance(value, DTensor):
            found[name] = value.full_tensor().cpu()
        elif isinstance(value, Tensor):
            found[name] = value.cpu().clone()

    visit(state, "")
    return found


def states(network: nn.Module, steps: torch.optim.Optimizer) -> dict[str, object]:
    of_model, of_optimizer = get_state_dict(network, steps)
    return {"model": of_model, "optimizer": of_optimizer}


def save(asynchronous: bool) -> None:
    network, steps = sharded()
    train(network, steps, one_process)
    state = states(network, steps)
    expected = whole(state)
    if asynchronous:
        future = dcp.async_save(state, checkpoint_id=FOLDER)
        # Training goes on meanwhile; the checkpoint is of the moment of the call.
        train(network, steps, one_process)
        future.result()
    else:
        dcp.save(state, checkpoint_id=FOLDER)
    if dist.get_rank() == 0:
        torch.save(expected, FOLDER / "expected.pt")
    files = sorted(file.name for file in FOLDER.glob("*.distcp"))
    assert len(files) == RANKS, files


def load() -> None:
    network, steps = sharded()
    state = states(network, steps)
    dcp.load(state, checkpoint_id=FOLDER)
    set_state_dict(
        network, steps, model_state_dict=state["model"], optim_state_dict=state["optimizer"]
    )
    loaded = whole(states(network, steps))
    expected = torch.load(FOLDER / "expected.pt")
    assert loaded.keys() == expected.keys(), loaded.keys() ^ expected.keys()
    assert len(loaded) > 50
    for name, tensor in expected.items():
        assert torch.equal(loaded[name], tensor), name
    print(len(loaded), "tensors are equal")


start("cpu:gloo,xpu:xccl")
{"save": lambda: save(False), "save_async": lambda: save(True), "load": load}[sys.argv[1]]()
dist.destroy_process_group()
