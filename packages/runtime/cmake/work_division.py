"""Write the C++ header of work division from codegen/work_division.toml: ``work_division.py OUT``."""

from __future__ import annotations

import sys
from dataclasses import fields
from pathlib import Path

# codegen needs no native module, which is not built yet.
sys.path.insert(0, str(Path(__file__).parents[1] / "src"))

from xpu_runtime.codegen.work_division import WORK_DIVISIONS, WorkDivision

HEAD = """\
// How kernels divide work on a kind of device. Made by cmake/work_division.py from work_division.toml, which
// explains the fields; do not edit.
#pragma once

namespace xpu::kernels {

"""


def header() -> str:
    """Return the text of the header."""
    lines = ["struct WorkDivision {"]
    lines += [f"  {field.type} {field.name};" for field in fields(WorkDivision)]
    lines += ["};"]
    for kind, division in WORK_DIVISIONS.items():
        values = (getattr(division, field.name) for field in fields(WorkDivision))
        numbers = ", ".join(str(value).lower() for value in values)
        lines += [f"inline constexpr WorkDivision {kind}_division{{{numbers}}};"]
    return HEAD + "\n".join(lines) + "\n\n}  // namespace xpu::kernels\n"


if __name__ == "__main__":
    out = Path(sys.argv[1])
    out.parent.mkdir(parents=True, exist_ok=True)
    out.write_text(header())
