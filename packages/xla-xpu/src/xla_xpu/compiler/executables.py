"""Executables: a plan with the properties of its program, cached on disk."""

from __future__ import annotations

import base64
import functools
import hashlib
import json
from pathlib import Path
from typing import Any

import jaxlib
from jaxlib.mlir import ir
from jaxlib.xla_client import CompileOptions
from xpu_runtime import cache, codegen, prestart_build_helpers

from .. import _plugin
from ..rules import inspection
from . import (  # noqa: F401
    collectives,
    host,
    lowerings,
)
from .collective_expander import Expander
from .devices import assignment_of, local_device, target_of
from .export import text_of
from .failures import Invalid
from .graph import Graph, Value, break_cycles
from .import_stablehlo import graph_of, main_of, parse
from .layouts import arrange
from .lower import Lowerer
from .serialize_plan import serialize_plan
from .simplify import simplify
from .spmd import custom
from .spmd.partition import needs_partition, partition
from .widen import widen

# The version of the format of saved plans.
VERSION = 8
# Programs of more bytes have several modules of kernels.
_LONG = 20_000


# Custom calls for which the compiler calls a function of this process, so plans cannot be cached.
_OF_THIS_PROCESS = (inspection.TARGET, custom.TARGET)


def compile(code: bytes, format: str, options: bytes, unfused: bool = False) -> Any:
    """Compile PJRT's program, or load the plan that an earlier process cached.

    ``unfused`` compiles it again with a kernel per operation, if the vendor's compiler fails on fused ones.
    """
    if format != "mlir":
        raise Invalid(f"the program has format {format!r}; the plugin reads only 'mlir'")
    wanted = CompileOptions.ParseFromString(options)
    if wanted.env_option_overrides:
        host.check_options(tuple(dict(wanted.env_option_overrides).items()))
    key = _key(code, wanted)
    private = any(target.encode() in code for target in _OF_THIS_PROCESS)
    serialized = None if private or unfused else cache.read(key, "plan")
    if serialized is not None:
        return _executable(json.loads(serialized), serialized)
    saved = _compiled(code, wanted, key, unfused)
    serialized = _serialized(saved)
    if serialized and not private:
        cache.write(key, "plan", serialized)
    return _executable(saved, serialized)


def _key(code: bytes, wanted: Any) -> str:
    """Return a digest of all that a plan depends on: the program, its devices and the compiler."""
    devices = assignment_of(wanted)
    where = (wanted.num_replicas, wanted.num_partitions, devices, target_of(devices[0]))
    parts = (_compiler_digest(), repr(where).encode(), code)
    return hashlib.sha256(b"".join(hashlib.sha256(part).digest() for part in parts)).hexdigest()


@functools.cache
def _compiler_digest() -> bytes:
    digest = hashlib.sha256(f"{VERSION} {jaxlib.__version__}".encode())
    for package in (__file__, codegen.__file__):
        files = Path(str(package)).parent.rglob("*")
        for path in sorted(path for path in files if path.suffix in (".py", ".toml")):
            digest.update(path.read_bytes())
    return digest.digest()


def _compiled(code: bytes, wanted: Any, key: str, unfused: bool) -> dict[str, Any]:
    """Compile a program to the form that is saved; free all other objects."""
    lowerer = Lowerer(target_of(assignment_of(wanted)[0]), unfused)
    with break_cycles():
        try:
            return _planned(code, wanted, key, lowerer)
        finally:
            vars(lowerer).clear()


def _planned(code: bytes, wanted: Any, key: str, lowerer: Lowerer) -> dict[str, Any]:
    devices = assignment_of(wanted)
    if len(code) > _LONG:
        prestart_build_helpers(local_device(devices[0]))
    module = parse(code)
    name = ir.StringAttr(module.operation.attributes["sym_name"]).value
    if needs_partition(module, wanted.num_partitions):
        parts = partition(module, wanted.num_partitions)
        graph, shardings = parts.graph, [parts.parameters, parts.outputs]
        text = text_of(graph, name, parts.hlo_shardings, wanted.num_replicas, wanted.num_partitions)
    else:
        graph, shardings = graph_of(module), [[], []]
        text = str(module)
    main = main_of(module)
    parameters = _values(graph.parameters, main, "arg_attrs", shardings[0])
    outputs = _values(graph.results, main, "res_attrs", shardings[1])
    for values, orders in zip((parameters, outputs), arrange(graph, main), strict=True):
        for value, order in zip(values, orders, strict=True):
            value.append(list(order or ())[::-1])
    Expander(wanted.num_replicas, wanted.num_partitions).graph(graph)
    widen(graph)
    simplify(graph)
    lowerer.program(graph)
    given = _donated(main)
    plan = serialize_plan(lowerer, given)
    return {
        "version": VERSION,
        "name": name,
        "fingerprint": key,
        "text": text,
        "parameters": parameters,
        "outputs": outputs,
        "donated": list(given),
        "replicas": wanted.num_replicas,
        "partitions": wanted.num_partitions,
        "devices": devices,
        "cost": _cost(graph),
        "plan": plan,
    }


def load(serialized: bytes, options: bytes) -> Any:
    """Load an executable from the value of ``Executable.serialized``."""
    try:
        saved = json.loads(serialized)
    except ValueError as error:
        raise Invalid(f"the data is no executable of xla-xpu: {error}") from error
    if not isinstance(saved, dict) or saved.get("version") != VERSION:
        raise Invalid(
            "the executable was saved by another version of xla-xpu; compile the program again"
        )
    if options:
        saved["devices"] = assignment_of(CompileOptions.ParseFromString(options))
    return _executable(saved, _serialized(saved))


def _serialized(saved: dict[str, Any]) -> bytes:
    return b"" if _calls_python(saved["plan"]["steps"]) else json.dumps(saved).encode()


def _executable(saved: dict[str, Any], serialized: bytes) -> Any:
    plan = saved["plan"]
    program = _plugin.Program(
        plan["buffers"],
        plan["temporary_bytes"],
        base64.b64decode(plan["constants"]),
        _resolve_references(plan["steps"], plan["sources"]),
    )
    values = {
        side: [
            _plugin.Value(type, dims, kind, bytes.fromhex(sharding), order)
            for type, dims, kind, sharding, order in saved[side]
        ]
        for side in ("parameters", "outputs")
    }
    return _plugin.Executable(
        name=saved["name"],
        fingerprint=saved["fingerprint"],
        serialized=serialized,
        text=saved["text"],
        donated=saved["donated"],
        output_aliases=plan["output_aliases"],
        replicas=saved["replicas"],
        partitions=saved["partitions"],
        devices=saved["devices"],
        cost=saved["cost"],
        temporary_bytes=plan["temporary_bytes"],
        code_bytes=sum(map(len, plan["sources"])),
        program=program,
        **values,
    )


def _resolve_references(steps: list[dict[str, Any]], sources: list[str]) -> list[dict[str, Any]]:
    """Replace saved numbers, names and hexadecimal text by the objects that they denote."""
    ready = []
    for step in steps:
        fields = dict(step)
        if "pattern" in step:
            fields["pattern"] = bytes.fromhex(step["pattern"])
        if "source" in step and step["step"] == "kernel":
            fields["source"] = sources[step["source"]]
        if step["step"] in ("host_call", "buffer_call"):
            fields["function"] = host.function_of(step)
        for name in ("body", "condition"):
            if name in step:
                fields[name] = _resolve_references(step[name], sources)
        if "branches" in step:
            fields["branches"] = [
                _resolve_references(branch, sources) for branch in step["branches"]
            ]
        ready.append(fields)
    return ready


def _calls_python(steps: list[dict[str, Any]]) -> bool:
    """Return True if the program calls Python functions of this process."""
    bodies = [
        *(step[body] for step in steps for body in ("body", "condition") if body in step),
        *(branch for step in steps for branch in step.get("branches", [])),
    ]
    return any("callback" in step for step in steps) or any(map(_calls_python, bodies))


def _values(
    values: list[Value], main: ir.Operation, attributes: str, shardings: list[bytes]
) -> list[list[Any]]:
    """Return type, shape, memory kind and sharding of each parameter or result."""
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


def _donated(main: ir.Operation) -> dict[int, int | None]:
    """Return the donated parameters, and the output that JAX chose for each, or None."""
    if "arg_attrs" not in main.attributes:
        return {}
    donated: dict[int, int | None] = {}
    for index, attributes in enumerate(ir.ArrayAttr(main.attributes["arg_attrs"])):
        names = ir.DictAttr(attributes)
        if "tf.aliasing_output" in names:
            donated[index] = ir.IntegerAttr(names["tf.aliasing_output"]).value
        elif "jax.buffer_donor" in names:
            donated[index] = None
    return donated


def _cost(graph: Graph) -> dict[str, float]:
    """Return the cost of the program as written: matrix products, and one operation per element."""
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
