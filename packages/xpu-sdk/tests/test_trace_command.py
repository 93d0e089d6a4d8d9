"""``xpu-sdk trace`` and ``xpu-sdk demo``: both leave a Chrome trace with device times."""

import json

import pytest

PROGRAM = """
import sys
import xpu_runtime as xr
a = xr.zeros(1000)
xr.synchronize()
print("arguments", sys.argv[1:])
sys.exit(int(sys.argv[1]))
"""


def test_a_program_keeps_its_arguments_and_exit_code(xpu_sdk, tmp_path):
    (tmp_path / "program.py").write_text(PROGRAM)
    done = xpu_sdk("trace", "-o", "out.json", "program.py", "3", "--flag")
    assert done.returncode == 3, done.stderr
    assert "arguments ['3', '--flag']" in done.stdout
    events = json.loads((tmp_path / "out.json").read_text())["traceEvents"]
    assert any(event["cat"] == "fill" for event in events if "cat" in event)


@pytest.mark.values
def test_the_demo_ends_with_a_table_and_a_trace(xpu_sdk, tmp_path):
    done = xpu_sdk("demo")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "What was shown" in done.stdout
    file = tmp_path / "xpu-demo.trace.json"
    assert str(file) in done.stdout.splitlines()[-1]
    names = {event["name"] for event in json.loads(file.read_text())["traceEvents"]}
    assert {"swish", "compile"} <= names
