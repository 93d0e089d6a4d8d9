"""Executables: a plan with the properties of its program, cached on disk."""

from __future__ import annotations

import base64
import functools
import hashlib
import json
from pathlib import Path
from typing import Any

import jaxlib
from jaxlib.xla_client import CompileOptions
from xpu_runtime import cache, codegen

from .. import _plugin
from ..rules import inspection
from . import host
from .devices import assignment_of, target_of
from .dump import Dump
from .failures import Invalid
from .graph import Graph, break_cycles
from .spmd import custom
from .stages import Compilation, compile_to_plan

# The version of the format of saved plans.
VERSION = 8

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
    anew = private or unfused or Dump.wanted("")
    serialized = None if anew else cache.read(key, "plan")
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
    with break_cycles():
        compilation = Compilation(code, wanted, unfused)
        try:
            compile_to_plan(compilation, Dump.wanted(key[:8]))
            return {
                "version": VERSION,
                "name": compilation.name,
                "fingerprint": key,
                "text": compilation.text,
                "parameters": compilation.parameters,
                "outputs": compilation.outputs,
                "donated": list(compilation.donated),
                "replicas": wanted.num_replicas,
                "partitions": wanted.num_partitions,
                "devices": assignment_of(wanted),
                "cost": _cost(compilation.graph),
                "plan": compilation.plan,
            }
        finally:
            vars(compilation.lowerer).clear()


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
