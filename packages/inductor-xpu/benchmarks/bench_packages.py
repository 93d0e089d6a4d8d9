"""Packages of AOTInductor beside stock ones on the CPU; calls in C++ beside calls in Python."""

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

PACKAGED_CPU, PYTHON = "torch CPU, packaged", "torch xpu, wrapper in Python"
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
    from torch._inductor import config

    class Block(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.norm, self.linear = torch.nn.LayerNorm(32), torch.nn.Linear(32, 32)

        def forward(self, x: Any) -> Any:
            return x + self.linear(self.norm(x)).cumsum(-1).softmax(-1)

    x = torch.randn(8, 32, device="xpu")

    def side(cpp_wrapper: bool) -> Callable[[], float]:
        net = torch.nn.Sequential(*(Block() for _ in range(8))).to("xpu").eval()
        torch._dynamo.reset()
        with torch.no_grad(), config.patch(cpp_wrapper=cpp_wrapper):
            call = torch.compile(lambda x: net(x), dynamic=False)
            call(x)

        def seconds() -> float:
            torch.xpu.synchronize()
            begin = time.thread_time()
            with torch.no_grad():
                call(x)
            return time.thread_time() - begin

        seconds()
        return seconds

    return Pair(ours=side(True), peer=side(False), self_timed=True, inner=20)


def cases() -> Iterator[Case | Mean]:
    """Yield the cases."""
    for name in CHOSEN:
        yield Case(f"package: {name}, f32", partial(_beside_cpu, MODELS[name]), PACKAGED_CPU)
    yield Mean("packages, geometric mean", "package: *", ">= 1.0")
    yield Case("call: C++ instead of Python, host", _host_time, PYTHON, "<= 0.6")
