"""Directives that make tables from the repository's own lists, so that no page repeats one by hand.

``environment-variables``, ``device-functions``, ``benchmark-results``, ``operator-results`` and
``primitive-results`` take no arguments.
"""

from __future__ import annotations

import json
from pathlib import Path

from docutils import nodes
from docutils.statemachine import StringList
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective
from tables import cell, duration, table
from xpu_runtime import env
from xpu_runtime.codegen import functions

ROOT = Path(__file__).resolve().parents[2]
RUNTIME = ROOT / "packages" / "runtime"
VARIABLES = RUNTIME / "src" / "xpu_runtime" / "env.toml"
FUNCTIONS = RUNTIME / "src" / "xpu_runtime" / "codegen" / "functions.toml"
BENCHMARKS = ROOT / "docs" / "benchmarks.json"
OPERATORS = ROOT / "packages" / "torch-xpu" / "tests" / "aten" / "operators.json"
PRIMITIVES = ROOT / "packages" / "xla-xpu" / "tests" / "lowerings" / "primitives.json"


def code(text: object) -> str:
    return f"`{cell(text)}`" if text not in ("", None) else ""


def words(value: object) -> str:
    """A field of a table, whatever its type, as text."""
    if isinstance(value, dict):
        return ", ".join(f"{key}: {words(item)}" for key, item in value.items())
    if isinstance(value, list):
        return ", ".join(map(words, value))
    return str(value)


class FromSource(SphinxDirective):
    """Markdown made from one file; the page is built again when the file changes."""

    source: Path

    def run(self) -> list[nodes.Node]:
        self.env.note_dependency(str(self.source))
        exists = self.source.exists()
        lines = self.markdown() if exists else self.missing()
        container = nodes.container()
        self.state.nested_parse(StringList(lines, str(self.source)), 0, container)
        return container.children

    def markdown(self) -> list[str]:
        raise NotImplementedError

    def missing(self) -> list[str]:
        raise self.error(f"{self.source} is missing")


class EnvironmentVariables(FromSource):
    source = VARIABLES

    def markdown(self) -> list[str]:
        rows = [
            (code(v.name), cell(v.type), code(v.default), cell(v.meaning)) for v in env.registry()
        ]
        return table(("variable", "type", "default", "meaning"), rows)


class DeviceFunctions(FromSource):
    """The headers, and the functions of each by what other systems call them."""

    source = FUNCTIONS
    foreign_names = (("aten", "PyTorch"), ("stablehlo", "StableHLO"), ("libdevice", "libdevice"))

    def markdown(self) -> list[str]:
        columns = (
            "function",
            "rule",
            "error, ulp",
            "complex",
            "NaN gives",
            *dict(self.foreign_names).values(),
        )
        lines = [*self.missing(), *RULES.splitlines()]
        for header, entries in functions.table().items():
            rows = [self.row(name, function) for name, function in entries.items()]
            lines += ["", f"`<xpu/{header}.h>`", "", *table((*columns, "note"), rows)]
        return lines

    def row(self, name: str, function: dict) -> tuple[str, ...]:
        arguments = ", ".join("xyzw"[: function["arity"]])
        names = (", ".join(map(code, listed(function.get(key)))) for key, _ in self.foreign_names)
        return (
            code(f"{name}({arguments})"),
            function["rule"],
            error(function),
            complex_error(function),
            cell(function.get("nan", "")),
            *names,
            cell(function.get("note", "")),
        )

    def missing(self) -> list[str]:
        headers = sorted((RUNTIME / "device" / "xpu").glob("*.h"))
        rows = [(code(f"<xpu/{h.name}>"), cell(first_comment(h))) for h in headers]
        return table(("header", "what is in it"), rows)


RULES = """
All are in namespace `xpu`. *float* functions take any float type; *arithmetic* ones keep floats and
integers as they are, and stand again under `<xpu/integer.h>` where integers do something else;
*integral* and *bits* ones take integers; *predicate* and *compare* give bool; *complex* ones take
complex numbers only.

Errors are at most 1 unit in the last place for f16 and bf16 and 4 for f32 and f64 where nothing else
is said. They are those of the result, or of *scale* where that is larger: a function that crosses
zero at a point no number hits keeps its absolute accuracy there. All 65,536 values of the 16-bit
types are tested, and samples of f32 and f64. 8-bit floats are computed in f32 and rounded once.

Functions with an entry under *complex* have a form for complex numbers of f32 and f64 as well, in
`<xpu/complex_math.h>`. The entry bounds |got - expected| / |expected| in units of the type's epsilon;
the parts by themselves have no bound. Branch cuts, infinities and NaN follow C99.

- A NaN in any argument gives NaN where nothing else is said; the parameters of an activation, behind
  its `x`, count only where they are used.
- At an infinity a function is its limit, and NaN where it has none.
- Odd functions give the zero they are given. `minimum` and `maximum` put -0 below +0.
- Subnormal numbers are kept, as arguments and as results: nothing is flushed to zero.
- Integers wrap. Floats that become integers truncate and saturate, and NaN becomes 0.
"""


def listed(names: str | list[str] | None) -> list[str]:
    return [] if names is None else [names] if isinstance(names, str) else names


def error(function: dict) -> str:
    """The bound on a function's error, where it is not the usual one."""
    if function.get("exact"):
        return "exact"
    scale = f"scale {function['scale']:g}" if "scale" in function else ""
    return cell("; ".join(filter(None, (words(function.get("ulp", "")), scale))))


def complex_error(function: dict) -> str:
    """The bound on the error of a function's complex form, where there is one."""
    if function["rule"] != "complex" and not function.get("complex"):
        return ""
    exact = function.get("exact") or function["rule"] in ("predicate", "compare")
    return str(function.get("complex_ulp", "exact" if exact else 4))


def first_comment(header: Path) -> str:
    """The sentence a header begins with."""
    lines = []
    for line in header.read_text().splitlines():
        if not line.startswith("// "):
            break
        lines.append(line[3:])
    return " ".join(lines).replace("__", "\\_\\_").split(". ")[0].rstrip(".") + "."


class BenchmarkResults(FromSource):
    source = BENCHMARKS

    def markdown(self) -> list[str]:
        columns = ("case", "ours", "peer", "peer is", "ratio", "bar", "cleared")
        lines = []
        for area, rows in json.loads(self.source.read_text()).items():
            lines += [f"**{area}**", "", *table(columns, [self.row(r) for r in rows]), ""]
        return lines

    @staticmethod
    def row(r: dict) -> tuple[str, ...]:
        return (
            cell(r["name"]),
            duration(r["ours"]),
            duration(r["peer"]),
            cell(r["peer_name"] or "-"),
            "-" if r["ratio"] is None else f"{r['ratio']:.3g}",
            cell(r["bar"] or "-"),
            "" if r["bar"] is None else "yes" if r["ok"] else "**no**",
        )

    def missing(self) -> list[str]:
        return ["This tree holds no results. The command above makes them."]


class OperatorResults(FromSource):
    """What PyTorch's samples of its operators gave: those that pass in a sentence, the others in a table."""

    source = OPERATORS

    def markdown(self) -> list[str]:
        results = json.loads(self.source.read_text())
        passing = [name for name, by_dtype in results.items() if set(by_dtype.values()) <= {"pass"}]
        rows = []
        for name, by_dtype in results.items():
            reasons: dict[str, list[str]] = {}
            for dtype, result in by_dtype.items():
                if result != "pass":
                    reasons.setdefault(result, []).append(dtype)
            rows += [(code(name), ", ".join(dtypes), cell(why)) for why, dtypes in reasons.items()]
        return [
            f"{len(passing)} of {len(results)} pass. The others:",
            "",
            *table(("operator", "dtypes", "what happens"), rows),
            "",
            "Those that pass: " + ", ".join(map(code, passing)) + ".",
        ]


class PrimitiveResults(FromSource):
    """How many of JAX's cases of each primitive pass, and why the others do not."""

    source = PRIMITIVES

    def markdown(self) -> list[str]:
        results = json.loads(self.source.read_text())
        names = sorted({name for groups in results.values() for name in groups})
        rows = [self.row(name, [groups.get(name) for groups in results.values()]) for name in names]
        passing = (f"{types}: {self.passing(groups)}" for types, groups in results.items())
        return [
            "; ".join(passing) + ".",
            "",
            *table(("primitive", *results, "what the others do"), rows),
        ]

    def passing(self, groups: dict) -> str:
        cases = sum(group["cases"] for group in groups.values())
        failures = sum(len(group["failures"]) for group in groups.values())
        return f"{cases - failures} of {cases} pass"

    def row(self, name: str, groups: list[dict | None]) -> tuple[str, ...]:
        known = [group for group in groups if group]
        reasons = {why for group in known for why in group["failures"].values()}
        counts = (self.passing({name: group}) if group else "" for group in groups)
        return code(name), *counts, cell("; ".join(sorted(reasons)))


def setup(app: Sphinx) -> dict[str, object]:
    app.add_directive("environment-variables", EnvironmentVariables)
    app.add_directive("device-functions", DeviceFunctions)
    app.add_directive("benchmark-results", BenchmarkResults)
    app.add_directive("operator-results", OperatorResults)
    app.add_directive("primitive-results", PrimitiveResults)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
