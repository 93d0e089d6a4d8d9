"""Packages of AOTInductor beside stock ones on the CPU; calls of a package beside those of torch.compile."""

from __future__ import annotations

import copy
import os
import tempfile
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

from bench_models import MODELS, Make
from xpu_bench import Case, Mean, Pair

PACKAGED_CPU, COMPILED = "torch CPU, packaged", "torch xpu, compiled, wrapper in Python"
CHOSEN = ("GPT", "BERT", "ResNet", "MobileNet", "ViT", "MLP-Mixer", "DLRM", "DCGAN")


def _packaged(net: Any, inputs: dict[str, Any]) -> Callable[[], object]:
    """Return a call of a model that was compiled into a package and loaded."""
    import torch

    with torch.no_grad(), tempfile.TemporaryDirectory() as folder:
        program = torch.export.export(net, (), inputs, strict=False)
        path = torch._inductor.aoti_compile_and_package(
            program, package_path=str(Path(folder) / "model.pt2")
        )
        call = torch._inductor.aoti_load_package(path)
    return lambda: call(**inputs)


def _beside_cpu(make: Make) -> Pair:
    import torch

    torch.set_num_threads(len(os.sched_getaffinity(0)))
    torch.manual_seed(0)
    net, inputs = make()

    def side(device: str) -> Callable[[], object]:
        moved = {name: tensor.to(device) for name, tensor in inputs.items()}
        call = _packaged(copy.deepcopy(net).to(device).eval(), moved)
        call()
        return call

    return Pair(ours=side("xpu"), peer=side("cpu"), sync=torch.xpu.synchronize)


def _host_time() -> Pair:
    """Small kernels and operators, one after the other; the time of the thread that enqueues them."""
    import torch

    class Block(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.norm, self.linear = torch.nn.LayerNorm(32), torch.nn.Linear(32, 32)

        def forward(self, x: Any) -> Any:
            return x + self.linear(self.norm(x)).cumsum(-1).softmax(-1)

    class Blocks(torch.nn.Sequential):
        def forward(self, x: Any) -> Any:
            return super().forward(x)

    x = torch.randn(8, 32, device="xpu")
    net = Blocks(*(Block() for _ in range(8))).to("xpu").eval()

    def timed(call: Callable[..., object]) -> Callable[[], float]:
        def seconds() -> float:
            torch.xpu.synchronize()
            begin = time.thread_time()
            with torch.no_grad():
                call(x=x)
            return time.thread_time() - begin

        seconds()
        return seconds

    packaged = _packaged(net, {"x": x})
    torch._dynamo.reset()
    compiled = torch.compile(net, dynamic=False)
    return Pair(ours=timed(lambda x: packaged()), peer=timed(compiled), self_timed=True, inner=20)


def cases() -> Iterator[Case | Mean]:
    """Yield the cases."""
    for name in CHOSEN:
        yield Case(f"package: {name}, f32", partial(_beside_cpu, MODELS[name]), PACKAGED_CPU)
    yield Mean("packages, geometric mean", "package: *", ">= 1.0")
    yield Case("call: a package, host", _host_time, COMPILED, "<= 0.6")
