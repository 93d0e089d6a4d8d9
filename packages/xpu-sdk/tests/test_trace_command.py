"""``xpu-sdk trace`` writes a Chrome trace with device times."""

import json

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


def test_the_file_is_where_it_was_asked_for(xpu_sdk, tmp_path):
    """Also if the program changes the working directory."""
    (tmp_path / "later").mkdir()
    (tmp_path / "program.py").write_text("import os\nos.chdir('later')\n")
    done = xpu_sdk("trace", "-o", "out.json", "program.py")
    assert done.returncode == 0
    assert (tmp_path / "out.json").exists()
    assert str(tmp_path / "out.json") in done.stdout
