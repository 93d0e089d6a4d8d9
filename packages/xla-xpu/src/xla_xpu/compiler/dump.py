"""Write what the stages of a compilation make, as XLA's other compilers do for ``--xla_dump_to=DIR``."""

from __future__ import annotations

import logging
import os
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from .graph import Graph, Value
from .plan import Buffer, Step, View

_log = logging.getLogger(__name__)
_FLAG = "--xla_dump_to="
# Longer constants are not printed whole.
_MAX_CONSTANT = 16


@dataclass
class Dump:
    """A folder for the files of one compilation, whose names begin with ``prefix``."""

    folder: Path
    prefix: str

    @classmethod
    def wanted(cls, prefix: str) -> Dump | None:
        """Return the dump that ``XLA_FLAGS`` asks for, or None."""
        flags = shlex.split(os.environ.get("XLA_FLAGS", ""))
        folders = (flag.removeprefix(_FLAG) for flag in flags if flag.startswith(_FLAG))
        return next((cls(Path(folder), prefix) for folder in folders), None)

    def write(self, name: str, text: str) -> None:
        """Write a file, which replaces one of the same program. A failure does not end the compilation."""
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            (self.folder / f"{self.prefix}.{name}").write_text(text + "\n")
        except OSError as error:
            _log.warning("%s%s: %s", _FLAG, self.folder, error)


def graph_text(graph: Graph) -> str:
    """Return a graph with a line for each node, and for each node of its regions."""
    return "\n".join(_graph_lines(graph, {}, ""))


def _graph_lines(graph: Graph, names: dict[Value, str], indent: str) -> Iterator[str]:
    def name(value: Value) -> str:
        return names.setdefault(value, f"%{len(names)}")

    parameters = ", ".join(f"{name(value)}: {value.type}" for value in graph.parameters)
    yield f"{indent}({parameters}) {{"
    for node in graph.nodes:
        outputs = ", ".join(f"{name(value)}: {value.type}" for value in node.outputs)
        inputs = ", ".join(map(name, node.inputs))
        attributes = ", ".join(f"{k}={_brief(v)}" for k, v in node.attributes.items())
        where = f"  # {node.where}" if node.where else ""
        yield f"{indent}  {outputs} = {node.op}({inputs}) {attributes}".rstrip() + where
        for region in node.regions:
            yield from _graph_lines(region, names, indent + "    ")
    yield f"{indent}  return {', '.join(map(name, graph.results))}"
    yield f"{indent}}}"


def _brief(value: Any) -> str:
    if isinstance(value, np.ndarray) and value.size > _MAX_CONSTANT:
        return f"{value.dtype}{list(value.shape)}"
    return " ".join(str(value).split())


def steps_text(steps: Sequence[Step]) -> str:
    """Return a plan with a line for each step, and for each step of loops and branches."""
    return "\n".join(_steps_lines(steps, {}, ""))


def _steps_lines(steps: Sequence[Step], names: dict[Buffer, str], indent: str) -> Iterator[str]:
    def name(buffer: Buffer) -> str:
        root = buffer.root
        return names.setdefault(root, f"{root.kind}{len(names)}[{root.bytes}]")

    for step in steps:
        written, read = (", ".join(dict.fromkeys(map(name, b))) for b in (step.writes, step.reads))
        fields = ", ".join(
            f"{key}={_brief(value)}" for key, value in step.fields.items() if not _has_views(value)
        )
        yield f"{indent}{written} = {step.name}({read}) {fields}".rstrip()
        for body in step.bodies:
            yield f"{indent}{{"
            yield from _steps_lines(body, names, indent + "  ")
            yield f"{indent}}}"


def _has_views(value: Any) -> bool:
    return isinstance(value, View) or (isinstance(value, list) and any(map(_has_views, value)))
