"""Use every subcommand of `xpu-sdk`, with right and with wrong arguments."""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

PROGRAM = """
import sys
import torch
x = torch.arange(5.0, device="xpu")
print("total", float((x * 3.25).sum()), *sys.argv[1:])
sys.exit(int(sys.argv[1]) if len(sys.argv) > 1 else 0)
"""
RAISES = 'import torch\ntorch.ones(2, device="xpu")\nraise RuntimeError("a mistake of mine")\n'


class Shell:
    """Runs commands in a folder of its own, with a kernel cache of its own."""

    def __init__(self, folder):
        self.folder = Path(folder)
        self.variables = os.environ | {"COLUMNS": "200", "XDG_CACHE_HOME": f"{folder}/cache"}

    def __call__(self, *words, status=0, says="", **variables):
        """Run `xpu-sdk` with the words; it must end with the status and say the text."""
        command = [sys.executable, "-m", "xpu_sdk", *map(str, words)]
        done = subprocess.run(
            command,
            cwd=self.folder,
            env=self.variables | variables,
            capture_output=True,
            text=True,
            timeout=240,
        )
        text = done.stdout + done.stderr
        print(f"xpu-sdk {' '.join(map(str, words))}: {done.returncode}", flush=True)
        assert done.returncode == status, f"{words}: {done.returncode}\n{text}"
        assert says in text, f"{words}: {says!r} is not in\n{text}"
        if status in (1, 2):
            assert text.strip(), f"{words} fails and does not say why"
        return done.stdout


def general(run):
    for command in ("doctor", "info", "demo", "check", "bench", "cache", "warm", "trace", "env"):
        assert command in run("--help")
        run(command, "--help", says="usage: xpu-sdk")
        run(command, "--no-such-option", status=2, says="usage")
    run("--version", says="xpu-sdk")
    run(status=2, says="COMMAND")
    run("docter", status=2, says="docter")


def reports(run):
    run("doctor", says=" 0 failed")
    findings = json.loads(run("doctor", "--json"))
    assert not [finding for finding in findings if finding["state"] == "fail"]
    run("doctor", "extra", status=2, says="extra")
    run("info", says="xpu:0")
    assert json.loads(run("info", "--json"))["devices"]
    run("env", says="XPU_CACHE_DIR")
    names = {variable["name"] for variable in json.loads(run("env", "--json"))}
    assert "XPU_FALLBACK" in names
    run("env", says="XPU_CASHE_DIR is set, but nothing reads it", XPU_CASHE_DIR="/tmp")
    rows = json.loads(run("bench", "--json"))
    assert all(row["seconds"] > 0 for row in rows)


def traces(run):
    program = run.folder / "my program [1].py"
    program.write_text(PROGRAM)
    run("trace", "-o", "mine.json", program, "0", "-o", "yes", says="total 32.5 0 -o yes")
    events = json.loads((run.folder / "mine.json").read_text())["traceEvents"]
    assert any(event.get("cat") == "kernel" or "mul" in event.get("name", "") for event in events)
    run("trace", program, "7", status=7)
    assert (run.folder / "xpu.trace.json").exists()
    (run.folder / "raises.py").write_text(RAISES)
    run("trace", "raises.py", status=1, says="a mistake of mine")
    run("trace", status=2, says="PROGRAM")
    run("trace", "missing.py", status=2, says="missing.py")
    run("trace", "-m", "no_such_module", status=2, says="no_such_module")
    run("trace", "-o", "no/such/folder/t.json", program, status=2, says="no/such/folder")


def caches(run):
    program = run.folder / "program.py"
    program.write_text(PROGRAM)
    run("cache", "clear")
    run("warm", program, says="files added")
    run("warm", program, "3", status=3)
    run("warm", "missing.py", status=2, says="missing.py")
    run("cache", says="files")
    run("cache", "list", says=".bin")
    run("cache", "verify", says=" 0 damaged")
    run("cache", "export", "kernels.tar.gz", says="exported")
    run("cache", "clear", says="removed")
    run("cache", "import", "kernels.tar.gz", says="imported")
    run("cache", "import", "missing.tar.gz", status=1, says="missing.tar.gz")
    run("cache", "import", "program.py", status=1, says="program.py")
    run("cache", "export", status=2, says="export")
    run(
        "cache",
        "clear",
        "kernels.tar.gz",
        status=2,
        says="other actions none",
    )
    run("cache", "clean", status=2, says="clean")
    (binary,) = sorted((run.folder / "cache").rglob("*.bin"))[:1]
    binary.write_bytes(b"damaged" + binary.read_bytes()[7:])
    run("cache", "verify", status=1, says="damaged")
    run("trace", program, says="total 32.5")
    run("cache", says="off", status=1, XPU_CACHE_DIR="/proc/none")


def checks(run):
    program = run.folder / "program.py"
    run("check", "--strict", "--", "python", program, says="total 32.5")
    run("check", "--strict", "--", "python", program, "5", status=1, says="exit code 5")
    run("check", "--strict", status=2, says="no command given")
    run("check", "--strict", "--", "no-such-command", status=2, says="no-such-command")
    run("check", "--virtual-gpu", "voodoo", "--", "true", status=2, says="voodoo")


def demonstrations(run):
    assert "NO" not in run("demo", says="What was shown").split()
    run("demo", "--trace", "no/such/folder/t.json", status=2, says="no/such/folder")


def main():
    with tempfile.TemporaryDirectory() as folder:
        run = Shell(folder)
        for use in (general, reports, traces, caches, checks, demonstrations):
            use(run)


if __name__ == "__main__":
    main()
