"""Executables: a plan, with all that PJRT asks about a program."""

from __future__ import annotations

import base64
import hashlib
import json
from typing import Any

from jaxlib.mlir import ir
from jaxlib.xla_client import CompileOptions

from .. import _plugin
from . import host, lowerings  # noqa: F401
from .collectives import Expander
from .devices import assignment_of, target_of
from .failures import Invalid
from .finish import finish
from .graph import Graph, Value
from .lower import Lowerer
from .read import graph_of, main_of, parse
from .spmd.partition import needs_partition, partition

# Of the form in which plans are saved.
VERSION = 2


def compile(code: bytes, format: str, options: bytes) -> Any:
    """An executable of PJRT's program."""
    if format != "mlir":
        raise Invalid(f"a program of format {format!r}; the plugin reads mlir")
    wanted = CompileOptions.ParseFromString(options)
    devices = assignment_of(wanted)
    module = parse(code)
    if needs_partition(module, wanted.num_partitions):
        parts = partition(module, wanted.num_partitions)
        graph, shardings = parts.graph, [parts.parameters, parts.outputs]
    else:
        graph, shardings = graph_of(module), [[], []]
    Expander(wanted.num_replicas, wanted.num_partitions).graph(graph)
    lowerer = Lowerer(target_of(devices[0]))
    lowerer.program(graph)
    plan = finish(lowerer)
    saved = {
        "version": VERSION,
        "name": ir.StringAttr(module.operation.attributes["sym_name"]).value,
        "fingerprint": hashlib.sha256(code + options).hexdigest(),
        "text": str(module),
        "parameters": _values(graph.parameters, main_of(module), "arg_attrs", shardings[0]),
        "outputs": _values(graph.results, main_of(module), "res_attrs", shardings[1]),
        "donated": _donated(main_of(module)),
        "replicas": wanted.num_replicas,
        "partitions": wanted.num_partitions,
        "devices": devices,
        "cost": _cost(graph),
        "plan": plan,
    }
    return _executable(saved)


def load(serialized: bytes, options: bytes) -> Any:
    """An executable from what ``Executable.serialized`` was."""
    try:
        saved = json.loads(serialized)
    except ValueError as error:
        raise Invalid(f"not an executable of xla-xpu: {error}") from error
    if not isinstance(saved, dict) or saved.get("version") != VERSION:
        raise Invalid("an executable of another version of xla-xpu: compile the program again")
    if options:
        saved["devices"] = assignment_of(CompileOptions.ParseFromString(options))
    return _executable(saved)


def _executable(saved: dict[str, Any]) -> Any:
    plan = saved["plan"]
    program = _plugin.Program(
        plan["buffers"],
        plan["temporary_bytes"],
        base64.b64decode(plan["constants"]),
        _ready(plan["steps"], plan["sources"]),
    )
    values = {
        side: [
            _plugin.Value(type, dims, kind, bytes.fromhex(sharding))
            for type, dims, kind, sharding in saved[side]
        ]
        for side in ("parameters", "outputs")
    }
    return _plugin.Executable(
        name=saved["name"],
        fingerprint=saved["fingerprint"],
        serialized=b"" if _calls_python(plan["steps"]) else json.dumps(saved).encode(),
        text=saved["text"],
        donated=saved["donated"],
        replicas=saved["replicas"],
        partitions=saved["partitions"],
        devices=saved["devices"],
        cost=saved["cost"],
        temporary_bytes=plan["temporary_bytes"],
        code_bytes=sum(map(len, plan["sources"])),
        program=program,
        **values,
    )


def _ready(steps: list[dict[str, Any]], sources: list[str]) -> list[dict[str, Any]]:
    """What is saved by number, by name or as hexadecimal text, in full."""
    ready = []
    for step in steps:
        fields = dict(step)
        if "pattern" in step:
            fields["pattern"] = bytes.fromhex(step["pattern"])
        if "source" in step and step["step"] == "kernel":
            fields["source"] = sources[step["source"]]
        if step["step"] == "host_call":
            fields["function"] = host.function_of(step)
        for name in ("body", "condition"):
            if name in step:
                fields[name] = _ready(step[name], sources)
        if "branches" in step:
            fields["branches"] = [_ready(branch, sources) for branch in step["branches"]]
        ready.append(fields)
    return ready


def _calls_python(steps: list[dict[str, Any]]) -> bool:
    """Whether the program is of this process only."""
    bodies = [
        *(step[body] for step in steps for body in ("body", "condition") if body in step),
        *(branch for step in steps for branch in step.get("branches", [])),
    ]
    return any("callback" in step for step in steps) or any(map(_calls_python, bodies))


def _values(
    values: list[Value], main: ir.Operation, attributes: str, shardings: list[bytes]
) -> list[list[Any]]:
    """Types, shapes, kinds of memory and shardings of what goes in or comes out."""
    kinds = ["device"] * len(values)
    if attributes in main.attributes:
        for index, each in enumerate(ir.ArrayAttr(main.attributes[attributes])):
            names = ir.DictAttr(each)
            if "mhlo.memory_kind" in names:
                kinds[index] = ir.StringAttr(names["mhlo.memory_kind"]).value
    shardings = shardings or [b""] * len(values)
    return [
        [value.type.element.pjrt, list(value.shape), kind, sharding.hex()]
        for value, kind, sharding in zip(values, kinds, shardings, strict=True)
    ]


def _donated(main: ir.Operation) -> list[int]:
    if "arg_attrs" not in main.attributes:
        return []
    donated = []
    for index, attributes in enumerate(ir.ArrayAttr(main.attributes["arg_attrs"])):
        names = ir.DictAttr(attributes)
        if "tf.aliasing_output" in names or "jax.buffer_donor" in names:
            donated.append(index)
    return donated


def _cost(graph: Graph) -> dict[str, float]:
    """What the program would take if it were run as written: products and one operation an element."""
    flops = accessed = 0.0
    for node in graph.all_nodes():
        count = sum(value.type.count for value in node.outputs)
        if node.op == "dot_general":
            numbers = node.attributes["dot_dimension_numbers"]
            shape = node.inputs[0].shape
            for dim in numbers["lhs_contracting_dimensions"]:
                count *= 2 * shape[dim]
        flops += count
    for value in (*graph.parameters, *graph.results):
        accessed += value.type.bytes
    return {"flops": flops, "bytes accessed": accessed}
