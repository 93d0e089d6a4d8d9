"""Export a graph as StableHLO text, from which JAX makes the HLO that users read."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from .graph import Graph, Node, Value
from .types import TOKEN, Type

_INDENT = "  "
# Attributes that partitioning changes: their Python values are exported, not the imported ones.
_DIVIDED = ("limit_indices", "slice_sizes", "replica_groups")
# Attributes that refer to other functions, or to arrays before partitioning.
_LEFT_OUT = ("sdy.sharding", "mhlo.sharding", "called_computations", "decomposition")


def text_of(
    graph: Graph, name: str, shardings: Sequence[str], replicas: int, partitions: int
) -> str:
    """Return a module whose function is the graph; ``shardings``: one string per parameter."""
    writer = _Writer()
    parameters = ", ".join(
        f"{writer.name(value)}: {_type(value.type)}"
        + (f' {{mhlo.sharding = "{sharding}"}}' if sharding else "")
        for value, sharding in zip(graph.parameters, shardings, strict=True)
    )
    results = ", ".join(_type(value.type) for value in graph.results)
    writer.block(graph, "func.return", _INDENT * 2)
    return "\n".join(
        [
            f"module @{name} attributes {{mhlo.num_partitions = {partitions} : i32, "
            f"mhlo.num_replicas = {replicas} : i32}} {{",
            f"{_INDENT}func.func public @main({parameters}) -> ({results}) {{",
            *writer.lines,
            f"{_INDENT}}}",
            "}",
        ]
    )


class _Writer:
    """Lines of operations in MLIR's generic form."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.names: dict[Value, str] = {}
        self.numbers = itertools.count()

    def name(self, value: Value) -> str:
        if value not in self.names:
            self.names[value] = f"%{next(self.numbers)}"
        return self.names[value]

    def block(self, graph: Graph, end: str, indent: str) -> None:
        for node in graph.nodes:
            self.node(node, indent)
        self.lines.append(f'{indent}"{end}"{self.arguments(graph.results)} -> ()')

    def arguments(self, values: Sequence[Value]) -> str:
        names, types = map(self.name, values), (_type(value.type) for value in values)
        return f"({', '.join(names)}) : ({', '.join(types)})"

    def node(self, node: Node, indent: str) -> None:
        results = ", ".join(map(self.name, node.outputs))
        op, _, target = node.op.partition("@")
        attributes = _attributes(node)
        if op == "composite":  # its decomposition is of unpartitioned arrays
            op, attributes = "custom_call", {"call_target_name": f'"{target}"'}
        names, types = self.arguments(node.inputs).split(" : ")
        self.lines.append(f'{indent}{results}{" = " if results else ""}"stablehlo.{op}"{names}')
        if node.regions:
            self.lines[-1] += " ("
            for number, region in enumerate(node.regions):
                self.region(region, indent, last=number == len(node.regions) - 1)
        if attributes:
            inside = ", ".join(f"{key} = {text}" for key, text in attributes.items())
            self.lines[-1] += f" {{{inside}}}"
        outs = ", ".join(_type(value.type) for value in node.outputs)
        self.lines[-1] += f" : {types} -> ({outs})"

    def region(self, region: Graph, indent: str, last: bool) -> None:
        self.lines[-1] += "{"
        inner = indent + _INDENT
        if region.parameters:
            parameters = ", ".join(f"{self.name(v)}: {_type(v.type)}" for v in region.parameters)
            self.lines.append(f"{inner}^bb0({parameters}):")
        self.block(region, "stablehlo.return", inner)
        self.lines.append(f"{indent}}}{')' if last else ', '}")


def _type(type: Type) -> str:
    if type.element is TOKEN:
        return "!stablehlo.token"
    return f"tensor<{''.join(f'{size}x' for size in type.shape)}{type.element.name}>"


def _attributes(node: Node) -> dict[str, str]:
    if node.op == "constant":
        return {"value": _dense(node.attributes["value"], node.output.type)}
    texts = {key: str(attribute) for key, attribute in node.mlir.items() if key not in _LEFT_OUT}
    for key, value in node.attributes.items():
        if key == "groups":
            texts.update(_groups(node.op, value))
        elif key == "comparison_direction" and key not in texts:
            texts[key] = f"#stablehlo<comparison_direction {value}>"
        elif isinstance(value, int) and key not in texts and not node.mlir:
            texts[key] = f"{value} : i64"
        elif isinstance(value, list) and (key in _DIVIDED or not node.mlir):
            texts[key] = _integers(value)
    return texts


def _groups(op: str, groups: list[list[int]]) -> dict[str, str]:
    texts = {
        "replica_groups": _integers(groups),
        "channel_handle": "#stablehlo.channel_handle<handle = 1, type = 0>",
    }
    if op in ("all_gather", "all_reduce"):
        texts["use_global_device_ids"] = "unit"
    return texts


def _integers(values: list[Any]) -> str:
    """Return a list of integers, or rows of them padded with -1."""
    if not any(isinstance(value, list) for value in values):
        return f"array<i64: {', '.join(map(str, values))}>" if values else "array<i64>"
    width = max(map(len, values))
    rows = [row + [-1] * (width - len(row)) for row in values]
    return f"dense<{rows}> : tensor<{len(rows)}x{width}xi64>"


def _dense(array: np.ndarray, type: Type) -> str:
    """Return a constant by its bytes, which are exact."""
    if not type.count:
        inside = ""
    elif type.element.kind == "bool":
        words: Iterable[str] = (str(bool(value)).lower() for value in array.reshape(-1))
        inside = _nested(list(words), type.shape) if array.size > 1 else next(iter(words))
    else:
        inside = f'"0x{np.ascontiguousarray(array).tobytes().hex().upper()}"'
    return f"dense<{inside}> : {_type(type)}"


def _nested(words: list[str], shape: tuple[int, ...]) -> str:
    if not shape:
        return words[0]
    step = len(words) // shape[0]
    parts = [_nested(words[i : i + step], shape[1:]) for i in range(0, len(words), step)]
    return f"[{', '.join(parts)}]"
