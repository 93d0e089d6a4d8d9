"""Triton's interpreter in a process of its own: reads lines of folders, and runs the kernel in each.

Triton reads TRITON_INTERPRET while it is imported. A folder has kernel.py and arguments.pt, gets results.pt.
"""

from __future__ import annotations

import sys
import traceback
from pathlib import Path
from typing import Any

import torch
from launch import launch, load_kernel


def main() -> None:
    """Answer each line by a line: ``ok``, or the last line of the error."""
    for line in sys.stdin:
        folder = Path(line.strip())
        try:
            arguments: dict[str, Any] = torch.load(folder / "arguments.pt")
            torch.save(launch(load_kernel(folder), arguments, "cpu"), folder / "results.pt")
        except Exception as error:  # noqa: BLE001 - whatever it is, it is this kernel's answer
            traceback.print_exc()
            print("failed:", str(error).strip().splitlines()[-1:] or type(error), flush=True)
        else:
            print("ok", flush=True)


main()
