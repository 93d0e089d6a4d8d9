"""Run cases in child processes, so that one that takes too long or ends the process costs only itself."""

from __future__ import annotations

import fcntl
import json
import os
import re
import select
import subprocess
import sys
from pathlib import Path
from typing import Any

SECONDS = 240
# A child ends after so many cases: what compilation keeps in memory is never freed.
CASES_OF_CHILD = 40

Outcome = dict[str, Any]


class Child:
    """A process that runs cases: a case and a device a line in, an outcome a line out."""

    def __init__(self, reader: str) -> None:
        self.process = subprocess.Popen(
            [sys.executable, str(Path(__file__).parent), "--child", "--reader", reader],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            bufsize=0,
        )
        self.cases = 0

    def run(self, case: str, device: str) -> Outcome:
        """Return the outcome of a case; a child that gives none has ended afterwards."""
        process = self.process
        assert process.stdin is not None
        assert process.stdout is not None
        self.cases += 1
        process.stdin.write((json.dumps([case, device]) + "\n").encode())
        ready, _, _ = select.select([process.stdout], [], [], SECONDS)
        line = process.stdout.readline() if ready else b""
        if line:
            outcome: Outcome = json.loads(line)
            return outcome
        self.end()
        return {
            "result": f"the process ended with status {process.returncode}"
            if ready
            else f"no result after {SECONDS} s"
        }

    def is_usable(self) -> bool:
        """Return True if the child can run another case."""
        return self.process.poll() is None and self.cases < CASES_OF_CHILD

    def end(self) -> None:
        """End the process."""
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()


class Grid:
    """Runs cases one after another. A case that fails is also run on the CPU of stock PyTorch.

    ``reader`` is what writes the kernels of xpu, as inductor_xpu.settings has it.
    """

    def __init__(self, reader: str = "loops") -> None:
        self.reader = reader
        self._child: Child | None = None

    def run(self, case: str) -> Outcome:
        """Return the outcome of a case on xpu."""
        outcome = self._run(case, "xpu")
        if outcome["result"] != "pass":
            stock = self._run(case, "cpu")["result"]
            if stock != "pass":
                outcome["stock"] = stock
        return outcome

    def _run(self, case: str, device: str) -> Outcome:
        if self._child is None or not self._child.is_usable():
            self.end()
            self._child = Child(self.reader)
        return self._child.run(case, device)

    def end(self) -> None:
        """End the child process."""
        if self._child is not None:
            self._child.end()
            self._child = None


def serve(reader: str) -> None:
    """Run cases as a child: read them from standard input, until it ends."""
    import inductor_xpu.settings

    inductor_xpu.settings.reader = reader
    # What models print must not be taken for outcomes.
    outcomes = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)
    import model_case

    for line in sys.stdin:
        case, device = json.loads(line)
        outcomes.write(json.dumps(_outcome(model_case, case, device)) + "\n")


def _outcome(model_case: Any, case: str, device: str) -> Outcome:
    try:
        result = model_case.check(model_case.ModelCase.parse(case), device)
    except Exception as e:  # noqa: BLE001 any failure is an outcome here
        return {"result": _one_line(e)}
    outcome: Outcome = {"result": str(result), "graphs": result.graphs}
    return outcome | ({"breaks": result.breaks} if result.breaks else {})


def _one_line(error: Exception) -> str:
    """Return an error's type and text. Dynamo's long ones have the cause behind "got".

    Files of packages are named without the folder of the machine that they are in.
    """
    text = " ".join(str(error).partition("Set TORCHDYNAMO_VERBOSE")[0].split())
    text = re.sub(r"/\S*/site-packages/", "", text)
    _, got, cause = text.partition(" got ")
    text = f"{text[:120]} … got {cause}" if got else text
    return f"{type(error).__name__}: {text.partition(' Exception raised from')[0]}"[:300].strip()


def record(file: Path, case: str, outcome: Outcome) -> None:
    """Write one outcome into the file, which other runs may write at the same time."""
    with file.open("a+") as stream:
        fcntl.flock(stream, fcntl.LOCK_EX)
        stream.seek(0)
        outcomes = json.loads(stream.read() or "{}")
        outcomes[case] = outcome
        stream.seek(0)
        stream.truncate()
        stream.write(json.dumps(outcomes, indent=1, sort_keys=True) + "\n")


def load(file: Path) -> dict[str, Outcome]:
    """Return the outcomes in a file by case; none if there is no file."""
    return json.loads(file.read_text()) if file.exists() else {}
