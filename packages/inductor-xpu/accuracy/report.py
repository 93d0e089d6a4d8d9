"""The page about accuracy, made of the recorded outcomes."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import grid
from grid import Outcome

DOCS = Path(__file__).resolve().parents[3] / "docs"
TEXT = """# Accuracy of compiled models

`nox -s accuracy` compares models, compiled by [torch.compile](torch_compile.md) on xpu, with eager ones, and
both with a reference in float64 on the CPU. The networks are small and have random weights: those of
HuggingFace and TIMM are built from reduced configurations, and those like TorchBench's are written in this
repository. A case passes if each output and, of training, each gradient, buffer and update of a parameter is
close to the eager one, or has an error of at most twice the eager one (three times for 16 bits or fewer than
1,000 numbers) and a tolerance: the rule of PyTorch's own suite. A case with dynamic sizes runs with two batch
sizes, and the second must compile nothing. No operator may run on the host. A case that fails is also run on
the CPU of stock PyTorch.

`bf16` has weights and inputs of bfloat16, `amp` runs under `torch.autocast`.

```
python3 -m nox -s accuracy                                   # cases without an outcome in docs/accuracy.json
python3 -m nox -s accuracy -- --redo failed                  # and those that did not pass
python3 -m nox -s accuracy -- timm --models 'res' --redo all # models by name
```

The page is made of docs/accuracy.json by the same command. A new model is an entry of a table in
`packages/inductor-xpu/accuracy/models/`.
"""
MARKS = {"pass": "✓", "stock": "stock fails", "fail": "**fails**"}
DTYPES = {"float32": "f32", "bfloat16": "bf16", "amp": "amp"}
FAMILIES = {
    "huggingface": "HuggingFace",
    "timm": "TIMM",
    "written": "Like TorchBench's",
}

# What a result looks like, and what it means.
MEANINGS = {
    r"\d+ differ": "`N differ`: N outputs, gradients, buffers or updates are farther from the reference "
    "than the rule above allows. The first of them is named, with the root mean square of its error, "
    "compiled and eager.",
    "RecompileError": "`RecompileError`: the second batch size compiled the model again.",
    ".*truth value of Relational": "`cannot determine truth value of Relational`: Inductor raised an "
    "error when it compared sizes that it keeps as symbols.",
}
DIFFERENCE = re.compile(r"(\d+ differ: .+?): RMSE \(res-fp64\): (\S+), \(ref-fp64\): (\S+) .*")
# What follows a message's first sentence.
DETAILS = re.compile(r" (triggered by the following|Explanation:) .*")
MAX_MESSAGE = 120


def has_failed(outcome: Outcome) -> bool:
    """Return True if a case failed on xpu that passes in stock PyTorch on the CPU."""
    return outcome["result"] != "pass" and "stock" not in outcome


def line(outcome: Outcome) -> str:
    """Return an outcome in one line."""
    text = str(outcome["result"])
    if "stock" in outcome:
        text += f"; stock fails: {outcome['stock']}"
    if outcome.get("breaks"):
        text += f" ({outcome['graphs']} graphs: {outcome['breaks'][0][:60]})"
    return text


def write(source: Path, page: Path) -> None:
    """Write the page of the outcomes in a file."""
    outcomes = grid.load(source)
    kinds = Counter(map(_kind, outcomes.values()))
    models = {name.split("/")[1] for name in outcomes}
    lines = [TEXT]
    lines += [
        f"{kinds['pass']} of {len(outcomes)} cases of {len(models)} models pass; "
        f"{kinds['stock']} fail on stock PyTorch's CPU, too; {kinds['fail']} fail only on xpu.",
        "",
    ]
    for family, title in FAMILIES.items():
        cases = {n: o for n, o in outcomes.items() if n.startswith(f"{family}/")}
        if cases:
            lines += [f"## {title}", "", *_table(cases), ""]
    others = {n: o for n, o in sorted(outcomes.items()) if o["result"] != "pass"}
    if others:
        lines += ["## Cases that do not pass", "", *_failures(others), ""]
    broken = {n.split("/")[1]: o for n, o in sorted(outcomes.items()) if o.get("breaks")}
    if broken:
        lines += [
            "## Models of several graphs",
            "",
            "Dynamo compiles these models as several graphs, for the reason given.",
            "",
        ]
        lines += [
            f"- {model}: {o['graphs']} graphs: {'; '.join(map(_shortened, o['breaks']))}"
            for model, o in broken.items()
        ]
        lines += [""]
    page.write_text("\n".join(lines).rstrip() + "\n")


def _kind(outcome: Outcome) -> str:
    if outcome["result"] == "pass":
        return "pass"
    return "fail" if has_failed(outcome) else "stock"


def _table(cases: dict[str, Outcome]) -> list[str]:
    """Return rows of models; a cell has the outcomes of fixed and of dynamic sizes."""
    columns = [(mode, dtype) for mode in ("inference", "training") for dtype in DTYPES]
    titles = [f"{mode} {DTYPES[dtype]}" for mode, dtype in columns]
    lines = ["| model, static / dynamic | " + " | ".join(titles) + " |"]
    lines += ["|---|" + "---|" * len(columns)]
    for family, model in sorted({tuple(name.split("/")[:2]) for name in cases}):
        cells = []
        for mode, dtype in columns:
            names = [f"{family}/{model}/{mode}/{dtype}/{sizes}" for sizes in ("static", "dynamic")]
            marks = [MARKS[_kind(cases[n])] if n in cases else "-" for n in names]
            cells.append(" / ".join(marks))
        lines.append(f"| {model} | " + " | ".join(cells) + " |")
    return lines


def _failures(cases: dict[str, Outcome]) -> list[str]:
    """Return what the results mean, and a row for each case with the first sentence of its messages."""
    results = [str(o[key]) for o in cases.values() for key in ("result", "stock") if key in o]
    lines = ["Messages are shortened; `docs/accuracy.json` has the recorded text.", ""]
    meanings = [
        f"- {text}" for form, text in MEANINGS.items() if any(re.match(form, r) for r in results)
    ]
    lines += [*meanings, ""] if meanings else []
    lines += ["| case | on xpu | on stock PyTorch's CPU |", "|---|---|---|"]
    for name, outcome in cases.items():
        ours = _shortened(str(outcome["result"]))
        stock = _shortened(str(outcome.get("stock", "passes")))
        lines.append(f"| `{name}` | {ours} | {'the same' if stock == ours else stock} |")
    return lines


def _shortened(message: str) -> str:
    """Return the first sentence of a message for a table, cut to MAX_MESSAGE characters."""
    text = DIFFERENCE.sub(r"\1: compiled \2, eager \3", message)
    text = DETAILS.sub("", text)
    return _escaped(text if len(text) <= MAX_MESSAGE else f"{text[:MAX_MESSAGE].rstrip()} …")


def _escaped(text: str) -> str:
    return text.replace("|", "\\|").replace("<", "&lt;").replace("`", "'")
