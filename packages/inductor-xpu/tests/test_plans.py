"""Compiled reductions on GPUs beside eager mode's: work-groups, reads of the input, loads, launches.

The tests record the launches of Inductor's wrapper. They build and run no kernel.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Any

import eager_plans
import pytest
import torch
from eager_plans import Plan
from torch._inductor.utils import fresh_cache
from torch.nn import functional
from xpu_runtime.codegen.target import Target

from inductor_xpu import loader, scheduling
from inductor_xpu.reader import targets

# What Inductor imports warns about itself.
pytestmark = pytest.mark.filterwarnings("ignore:`torch.jit:DeprecationWarning")

TARGETS = {
    "132 units": Target(lanes=32, units=132, gpu=True, max_items=1024, local_memory=48 << 10),
    "dg2": Target(lanes=16, units=512, gpu=True, max_items=1024, local_memory=64 << 10),
}


@dataclass(frozen=True)
class Pattern:
    """A function of an input and parameters, and eager mode's plan for the input."""

    function: Callable[..., Any]
    shape: tuple[int, ...]
    eager: Callable[[Target], Plan]
    dtype: torch.dtype = torch.float32
    parameters: tuple[tuple[int, ...], ...] = ()


def _rows(*sizes: int) -> Callable[[Target], Plan]:
    return lambda target: eager_plans.along_rows(target, *sizes)


def _columns(*sizes: int) -> Callable[[Target], Plan]:
    return lambda target: eager_plans.along_columns(target, *sizes)


def _normalized_channels(x: torch.Tensor, parameters: torch.Tensor) -> torch.Tensor:
    mean, scale, weight = parameters
    return ((x - mean) * scale * weight).sum((0, 2, 3))


PATTERNS = {
    "full sum": Pattern(lambda x: x.sum(), (1 << 23,), _rows(1, 1 << 23)),
    "sum of rows": Pattern(lambda x: x.sum(1), (4096, 4096), _rows(4096, 4096)),
    "sum of few rows": Pattern(lambda x: x.sum(1), (64, 131072), _rows(64, 131072)),
    "argmax of rows": Pattern(lambda x: x.argmax(1), (4096, 1000), _rows(4096, 1000)),
    "sum of columns": Pattern(lambda x: x.sum(0), (4096, 4096), _columns(4096, 4096)),
    "sum of few columns": Pattern(lambda x: x.sum(0), (131072, 64), _columns(64, 131072)),
    "layer norm": Pattern(
        lambda x: functional.layer_norm(x, (4096,)),
        (8192, 4096),
        lambda target: eager_plans.passes_of_rows(target, 8192, 4096, 3),
        torch.bfloat16,
    ),
    "batch norm": Pattern(
        lambda x: torch.var_mean(x, (0, 2, 3)), (64, 256, 56, 56), _rows(256, 56 * 56, 64)
    ),
    "sum of normalized channels": Pattern(
        _normalized_channels,
        (64, 256, 56, 56),
        _rows(256, 56 * 56, 64),
        parameters=((3, 256, 1, 1),),
    ),
}


@dataclass
class _Launch:
    groups: int
    group: int
    arguments: tuple[Any, ...]
    source: str

    def reads(self, x: torch.Tensor) -> int:
        """Return how many loops of the kernel load elements of a tensor."""
        names = [
            f"x{number}"
            for number, argument in enumerate(self.arguments)
            if isinstance(argument, torch.Tensor) and argument.data_ptr() == x.data_ptr()
        ]
        return sum(len(re.findall(rf"\b{name}\[", self.source)) for name in names)

    @property
    def loads(self) -> int:
        """The loads of a lane that do not depend on one another."""
        accumulators = max(map(int, re.findall(r"\ba0\)?\[(\d+)\] =", self.source)), default=1)
        unroll = math.prod(map(int, re.findall(r'_Pragma\("unroll (\d+)"\)', self.source)[:1]))
        return accumulators * unroll


_launches: list[_Launch] = []


def _recorder(name: str, device: int, source: str, types: str, *sizes: Any) -> Callable[..., None]:
    def launch(items: int, group: int, *arguments: Any) -> None:
        _launches.append(_Launch(items // group, group, arguments, source))

    return launch


def _no_build(*arguments: Any) -> Future[Any]:
    build: Future[Any] = Future()
    build.set_result(None)
    return build


@pytest.fixture
def compiled_plan(monkeypatch):
    monkeypatch.setattr(loader, "load_kernel", _recorder)
    monkeypatch.setattr(scheduling, "start_build", _no_build)

    def compiled_plan(target: Target, pattern: Pattern) -> Plan:
        monkeypatch.setattr(targets, "_target", lambda index: target)
        torch._dynamo.reset()
        _launches.clear()
        x = torch.empty(pattern.shape, dtype=pattern.dtype, device="xpu")
        parameters = [torch.empty(shape, device="xpu") for shape in pattern.parameters]
        with fresh_cache():
            torch.compile(pattern.function, dynamic=False)(x, *parameters)
        readers = [launch for launch in _launches if launch.reads(x)]
        first = readers[0]
        return Plan(
            min(launch.groups for launch in readers),
            first.groups * first.group // target.lanes,
            sum(launch.reads(x) for launch in readers),
            min(launch.loads for launch in readers),
            len(_launches),
        )

    yield compiled_plan
    torch._dynamo.reset()


@pytest.mark.parametrize("name", PATTERNS)
@pytest.mark.parametrize("device", TARGETS)
def test_plans(compiled_plan, device, name):
    target, pattern = TARGETS[device], PATTERNS[name]
    eager, compiled = pattern.eager(target), compiled_plan(target, pattern)
    print(f"\n{device}, {name}: eager {eager}\n{device}, {name}: compiled {compiled}")
    enough = -(-target.tiles // target.sub_groups)
    assert compiled.groups >= min(eager.groups, enough)
    assert compiled.reads <= eager.reads
    assert compiled.loads >= eager.loads
    assert compiled.launches <= eager.launches
