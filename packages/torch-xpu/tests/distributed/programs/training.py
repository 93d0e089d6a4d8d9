"""Trains a small model on two ranks, in the ways that the arguments name, and compares with one process."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import partial

import torch
import torch.distributed as dist
from gpt import Block, loss_of, model, one_process, optimizer, train
from torch import Tensor, nn
from torch.distributed.algorithms.ddp_comm_hooks import default_hooks
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import (
    CPUOffloadPolicy,
    FullyShardedDataParallel,
    MixedPrecision,
    MixedPrecisionPolicy,
    OffloadPolicy,
    fully_shard,
)
from torch.distributed.fsdp._common_utils import clean_tensor_name
from torch.distributed.fsdp.wrap import ModuleWrapPolicy
from torch.distributed.optim import ZeroRedundancyOptimizer
from torch.distributed.tensor import DTensor, Replicate, Shard
from torch.distributed.tensor.parallel import (
    ColwiseParallel,
    RowwiseParallel,
    SequenceParallel,
    parallelize_module,
)
from torch.nn.parallel import DistributedDataParallel
from two_ranks import DEVICE, RANKS, start

EXACT = 1e-4
#: What bfloat16 in the gradients or the activations may change in a loss.
COARSE = 0.05


def mean(loss: Tensor) -> Tensor:
    loss = loss.detach().clone()
    dist.all_reduce(loss, dist.ReduceOp.AVG)
    return loss


def on_half(network: nn.Module, words: Tensor) -> Tensor:
    """Compute the loss of this rank's half of the batch, and return the mean over the ranks."""
    loss = loss_of(network, words.chunk(RANKS)[dist.get_rank()])
    loss.backward()
    return mean(loss)


def accumulated(network: DistributedDataParallel, words: Tensor) -> Tensor:
    """Do as on_half() by two backward passes, the first without communication."""
    first, second = words.chunk(RANKS)[dist.get_rank()].chunk(2)
    with network.no_sync():
        before = loss_of(network, first) / 2
        before.backward()
    # Local gradients differ until the ranks have been synchronized.
    loss = loss_of(network, second) / 2
    loss.backward()
    return mean(before + loss)


def data_parallel(hook: Callable[..., object] | None = None, **options: object) -> nn.Module:
    # Small buckets, so that there are several.
    network = DistributedDataParallel(model(), bucket_cap_mb=0.02, **options)
    if hook:
        network.register_comm_hook(None, hook)
    return network


def ddp() -> None:
    network = data_parallel()
    compare(train(network, optimizer(network.parameters()), on_half), network.module)
    times = network._get_ddp_logging_data()
    assert times["avg_backward_comm_time"] > 0, times
    assert times["avg_forward_compute_time"] > 0, times


def ddp_views() -> None:
    network = data_parallel(gradient_as_bucket_view=True, static_graph=True)
    compare(train(network, optimizer(network.parameters()), on_half), network.module)


def ddp_hook() -> None:
    calls = []

    def counted(state, bucket):  # PyTorch compares annotations with types, which these are not here
        calls.append(bucket.index())
        return default_hooks.allreduce_hook(state, bucket)

    network = data_parallel(counted)
    compare(train(network, optimizer(network.parameters()), on_half), network.module)
    assert len(calls) > 40, calls


def ddp_bf16_hook() -> None:
    network = data_parallel(default_hooks.bf16_compress_hook)
    compare(train(network, optimizer(network.parameters()), on_half), None, COARSE)


def ddp_no_sync() -> None:
    network = data_parallel()
    compare(train(network, optimizer(network.parameters()), accumulated), network.module)


def zero() -> None:
    network = data_parallel()
    steps = ZeroRedundancyOptimizer(network.parameters(), torch.optim.AdamW, lr=3e-3)
    compare(train(network, steps, on_half), network.module)


def fsdp1(mixed: bool = False) -> None:
    precision = MixedPrecision(torch.bfloat16, torch.float32) if mixed else None
    network = FullyShardedDataParallel(
        model(),
        auto_wrap_policy=ModuleWrapPolicy({Block}),
        mixed_precision=precision,
        device_id=torch.device("xpu", torch.xpu.current_device()),
        use_orig_params=True,
    )
    losses = train(network, optimizer(network.parameters()), on_half)
    if mixed:
        compare(losses, None, COARSE)
        return
    with FullyShardedDataParallel.summon_full_params(network):
        compare(losses, network.module)


def fsdp2(mixed: bool = False, offloaded: bool = False) -> None:
    network = model()
    precision = (
        MixedPrecisionPolicy(torch.bfloat16, torch.float32) if mixed else MixedPrecisionPolicy()
    )
    options = {
        "mesh": init_device_mesh("xpu", (RANKS,)),
        "mp_policy": precision,
        "offload_policy": CPUOffloadPolicy() if offloaded else OffloadPolicy(),
    }
    for block in network.blocks:
        fully_shard(block, **options)
    fully_shard(network, **options)
    losses = train(network, optimizer(network.parameters()), on_half)
    assert network.norm.weight.device.type == ("cpu" if offloaded else "xpu")
    # A group of xpu alone cannot gather the weights that are offloaded.
    compare(losses, None if mixed or offloaded else network, COARSE if mixed else EXACT)


def tensor_parallel(sequence: bool = False) -> None:
    network = model()
    mesh = init_device_mesh("xpu", (RANKS,))
    inside = Shard(1) if sequence else Replicate()
    for block in network.blocks:
        columns = partial(ColwiseParallel, input_layouts=inside)
        plan = {
            "attention.query": columns(),
            "attention.key": columns(),
            "attention.value": columns(),
            "attention.out": RowwiseParallel(output_layouts=inside),
            "up": columns(),
            "down": RowwiseParallel(output_layouts=inside),
        }
        if sequence:
            plan |= {"first_norm": SequenceParallel(), "second_norm": SequenceParallel()}
        parallelize_module(block, mesh, plan)
    if sequence:
        plan = {
            "words": RowwiseParallel(input_layouts=Replicate(), output_layouts=Shard(1)),
            "places": RowwiseParallel(input_layouts=Replicate(), output_layouts=Shard(0)),
            "norm": SequenceParallel(),
            "head": ColwiseParallel(input_layouts=Shard(1), output_layouts=Replicate()),
        }
        parallelize_module(network, mesh, plan)
    # Some weights are whole, and updates of several tensors at once cannot mix them with parts.
    steps = optimizer(network.parameters(), foreach=sequence)
    compare(train(network, steps, one_process), network)


def sync_batch_norm() -> None:
    def convolutions() -> nn.Module:
        torch.manual_seed(1)
        layers = [nn.Conv2d(3, 8, 3), nn.BatchNorm2d(8), nn.ReLU(), nn.Conv2d(8, 4, 3)]
        return nn.Sequential(*layers, nn.BatchNorm2d(4)).to(DEVICE)

    def run(network: nn.Module, images: Tensor, targets: Tensor) -> tuple[Tensor, list[Tensor]]:
        outputs = []
        steps = torch.optim.SGD(network.parameters(), lr=0.1)
        for _ in range(5):
            steps.zero_grad()
            outputs.append(network(images))
            ((outputs[-1] - targets) ** 2).mean().backward()
            steps.step()
        return outputs[-1].detach(), [*network.state_dict().values()]

    images = torch.randn(6, 3, 9, 9, generator=torch.Generator().manual_seed(2)).to(DEVICE)
    targets = torch.randn(6, 4, 5, 5, generator=torch.Generator().manual_seed(3)).to(DEVICE)
    wanted, wanted_state = run(convolutions(), images, targets)
    network = nn.SyncBatchNorm.convert_sync_batchnorm(convolutions())
    assert sum(isinstance(layer, nn.SyncBatchNorm) for layer in network) == 2
    rank = dist.get_rank()
    mine = (images.chunk(RANKS)[rank], targets.chunk(RANKS)[rank])
    got, state = run(DistributedDataParallel(network, forward_sync_buffers=False), *mine)
    torch.testing.assert_close(got, wanted.chunk(RANKS)[rank], rtol=EXACT, atol=EXACT)
    for ours, theirs in zip(state, wanted_state, strict=True):
        torch.testing.assert_close(ours, theirs, rtol=EXACT, atol=EXACT)


def compare(losses: list[float], network: nn.Module | None, tolerance: float = EXACT) -> None:
    """Compare losses, and the weights if there are some, with those of one process."""
    alone = model()
    wanted = train(alone, optimizer(alone.parameters()), one_process)
    assert wanted[-1] < wanted[0] - 0.5, wanted  # it learns
    difference = max(abs(a - b) for a, b in zip(losses, wanted, strict=True))
    assert difference <= tolerance, f"losses differ by {difference}: {losses} and {wanted}"
    print(f"losses differ by {difference:.2g}")
    if network is None:
        return
    weights = {clean_tensor_name(name): weight for name, weight in network.named_parameters()}
    for name, theirs in alone.named_parameters():
        ours = weights[name]
        full = ours.full_tensor() if isinstance(ours, DTensor) else ours
        worst = (full - theirs).abs().max().item()
        assert worst <= tolerance, f"{name} differs by {worst}"


MODES: dict[str, Callable[[], object]] = {
    "ddp": ddp,
    "ddp_views": ddp_views,
    "ddp_hook": ddp_hook,
    "ddp_bf16_hook": ddp_bf16_hook,
    "ddp_no_sync": ddp_no_sync,
    "zero": zero,
    "fsdp1": fsdp1,
    "fsdp1_mixed": partial(fsdp1, mixed=True),
    "fsdp2": fsdp2,
    "fsdp2_mixed": partial(fsdp2, mixed=True),
    "fsdp2_offloaded": partial(fsdp2, offloaded=True),
    "tensor_parallel": tensor_parallel,
    "sequence_parallel": partial(tensor_parallel, sequence=True),
    "sync_batch_norm": sync_batch_norm,
}

if __name__ == "__main__":
    start()
    for mode in sys.argv[1:]:
        MODES[mode]()
        print("done", mode, flush=True)
    dist.destroy_process_group()
