"""The page about accuracy, made of the recorded outcomes."""

from __future__ import annotations

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
    others = {n: o for n, o in outcomes.items() if o["result"] != "pass"}
    if others:
        lines += ["## Cases that do not pass", ""]
        lines += [f"- `{name}`: {_escaped(line(o))}" for name, o in sorted(others.items())] + [""]
    broken = {n.split("/")[1]: o for n, o in sorted(outcomes.items()) if o.get("breaks")}
    if broken:
        lines += ["## Models of several graphs", ""]
        lines += [
            f"- {model}: {o['graphs']} graphs: {_escaped('; '.join(o['breaks']))}"
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


def _escaped(text: str) -> str:
    return text.replace("|", "\\|").replace("<", "&lt;").replace("`", "'")
