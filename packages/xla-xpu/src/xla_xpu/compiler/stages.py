"""The stages of a compilation, from StableHLO to a plan: a list, which can be printed stage by stage."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from jaxlib.mlir import ir
from xpu_runtime import prestart_build_helpers
from xpu_runtime.codegen.program import LoopProgram

from . import (  # noqa: F401
    collectives,
    fuse,
    lowerings,
    memory,
)
from .collective_expander import Expander
from .devices import assignment_of, local_device, target_of
from .dump import Dump, graph_text, steps_text
from .export import text_of
from .graph import Graph
from .import_stablehlo import graph_of, main_of, parse
from .kernels import Kernels
from .layouts import arrange
from .loops import write_loops
from .lower import Lowerer
from .pending_kernel import PendingKernel
from .serialize_plan import serialize_plan
from .signature import donated_parameters, values_of
from .simplify import simplify
from .spmd.partition import needs_partition, partition
from .widen import widen

# Programs of more bytes have several modules of kernels.
_LONG = 20_000


@dataclass
class Compilation:
    """A program on its way through the stages, each of which sets or changes some of the fields.

    ``wanted`` are JAX's CompileOptions; ``unfused`` asks for a kernel per operation. ``text`` is what JAX
    shows. ``parameters`` and ``outputs`` are what ``signature.values_of`` returns, each with the order of its
    dimensions in memory.
    """

    code: bytes
    wanted: Any
    unfused: bool = False
    module: Any = None
    name: str = ""
    text: str = ""
    graph: Graph = field(default_factory=Graph)
    parameters: list[list[Any]] = field(default_factory=list)
    outputs: list[list[Any]] = field(default_factory=list)
    donated: dict[int, int | None] = field(default_factory=dict)
    output_aliases: Any = None
    temporary_bytes: int = 0
    programs: dict[PendingKernel, LoopProgram] = field(default_factory=dict)
    kernels: Any = None
    plan: dict[str, Any] = field(default_factory=dict)
    lowerer: Lowerer = field(init=False)

    def __post_init__(self) -> None:
        self.lowerer = Lowerer(target_of(assignment_of(self.wanted)[0]), self.unfused)


def compile_to_plan(compilation: Compilation, dump: Dump | None) -> None:
    """Run all stages; write what each one makes if a dump is wanted."""
    for number, stage in enumerate(STAGES):
        stage.run(compilation)
        if dump:
            name = f"{compilation.name}.{number}_{stage.run.__name__.strip('_')}"
            dump.write(f"{name}.{stage.ending}", stage.text(compilation))


def _import(of: Compilation) -> None:
    if len(of.code) > _LONG:
        prestart_build_helpers(local_device(assignment_of(of.wanted)[0]))
    of.module = parse(of.code)
    of.name = ir.StringAttr(of.module.operation.attributes["sym_name"]).value


def _partition(of: Compilation) -> None:
    """Make the graph: the whole program's, or the part that each device runs."""
    replicas, count = of.wanted.num_replicas, of.wanted.num_partitions
    main = main_of(of.module)
    if needs_partition(of.module, count):
        parts = partition(of.module, count)
        of.graph, shardings = parts.graph, [parts.parameters, parts.outputs]
        of.text = text_of(of.graph, of.name, parts.hlo_shardings, replicas, count)
    else:
        of.graph, shardings = graph_of(of.module), [[], []]
        of.text = str(of.module)
    of.parameters = values_of(of.graph.parameters, main, "arg_attrs", shardings[0])
    of.outputs = values_of(of.graph.results, main, "res_attrs", shardings[1])
    of.donated = donated_parameters(main)
    for values, orders in zip((of.parameters, of.outputs), arrange(of.graph, main), strict=True):
        for value, order in zip(values, orders, strict=True):
            value.append(list(order or ())[::-1])


def _expand_collectives(of: Compilation) -> None:
    Expander(of.wanted.num_replicas, of.wanted.num_partitions).graph(of.graph)


def _widen(of: Compilation) -> None:
    widen(of.graph)


def _simplify(of: Compilation) -> None:
    simplify(of.graph)


def _lower(of: Compilation) -> None:
    of.lowerer.program(of.graph)


def _fuse(of: Compilation) -> None:
    if not of.unfused:
        fuse.fuse_kernels(of.lowerer.steps)
    fuse.drop_unread(of.lowerer.steps)


def _write_loops(of: Compilation) -> None:
    of.programs = write_loops(of.lowerer.steps)


def _write_kernels(of: Compilation) -> None:
    of.kernels = Kernels(of.programs, of.lowerer.target)


def _assign_memory(of: Compilation) -> None:
    buffers, steps = of.lowerer.buffers, of.lowerer.steps
    memory.merge_copies(steps)
    of.output_aliases = memory.reuse_donated(buffers, steps, of.donated)
    of.temporary_bytes = memory.assign(buffers, steps)


def _serialize(of: Compilation) -> None:
    of.plan = {
        "output_aliases": of.output_aliases,
        "temporary_bytes": of.temporary_bytes,
        **serialize_plan(of.lowerer, of.kernels),
    }


class Stage(NamedTuple):
    """A step of the compilation; ``text`` shows what there is after it, in a file of this ending."""

    run: Callable[[Compilation], None]
    ending: str
    text: Callable[[Compilation], str]


def _graph(of: Compilation) -> str:
    return graph_text(of.graph)


def _steps(of: Compilation) -> str:
    return steps_text(of.lowerer.steps)


STAGES = (
    Stage(_import, "mlir", lambda of: str(of.module)),
    Stage(_partition, "txt", _graph),
    Stage(_expand_collectives, "txt", _graph),
    Stage(_widen, "txt", _graph),
    Stage(_simplify, "txt", _graph),
    Stage(_lower, "txt", _steps),
    Stage(_fuse, "txt", _steps),
    Stage(_write_loops, "txt", lambda of: "\n".join(map(str, of.programs.values()))),
    Stage(_write_kernels, "txt", lambda of: "\n".join(of.kernels.sources)),
    Stage(_assign_memory, "txt", _steps),
    Stage(_serialize, "json", lambda of: json.dumps(of.plan["steps"], indent=1)),
)
