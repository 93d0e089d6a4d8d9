"""``xpu-sdk trace`` writes a Chrome trace with device times."""

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


def test_the_file_is_where_it_was_asked_for(xpu_sdk, tmp_path):
    """Also if the program changes the working directory."""
    (tmp_path / "later").mkdir()
    (tmp_path / "program.py").write_text("import os\nos.chdir('later')\n")
    done = xpu_sdk("trace", "-o", "out.json", "program.py")
    assert done.returncode == 0
    assert (tmp_path / "out.json").exists()
    assert str(tmp_path / "out.json") in done.stdout


SLOW = """
import xpu_runtime as xr
source = '''
#include <xpu/core.h>
XPU_KERNEL(1) NAME(xpu::global<float> y) {
  float v = y[0];
  for (int i = 0; i < TIMES; ++i) v = v * 0.5f + 1;
  y[0] = v;
}
'''
y = xr.zeros(1)
for index in range(12):
    text = source.replace("NAME", f"loop{index}_").replace("TIMES", str(200 * 2**index))
    kernel = xr.compile(text).kernel(f"loop{index}_")
    for _ in range(1 + (index == 8)):
        xr.launch(kernel, 1, 1, [y])
xr.synchronize()
"""


@pytest.mark.values
def test_the_longest_operations_are_printed(xpu_sdk, tmp_path):
    (tmp_path / "program.py").write_text(SLOW)
    done = xpu_sdk("trace", "program.py")
    assert done.returncode == 0, done.stderr
    rows = [line.split("\u2502") for line in done.stdout.splitlines() if "loop" in line]
    names = [row[1].strip() for row in rows]
    assert "loop11_" in names[:3]
    assert len(names) <= 10
    (twice,) = (row for row in rows if row[1].strip() == "loop8_")
    assert twice[3].strip() == "2"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["missing.py"], "there is no file"),
        (["-m", "missing_module"], "there is no module named 'missing_module'"),
        (["-m", "missing_package.module"], "No module named 'missing_package'"),
        (["-o", "nowhere/out.json", "program.py"], "there is no folder"),
        (["-o", ".", "program.py"], "is a folder, expected a file"),
    ],
)
def test_what_cannot_run_is_said_before(xpu_sdk, tmp_path, arguments, message):
    (tmp_path / "program.py").write_text("print('has run')")
    before = sorted(tmp_path.iterdir())
    done = xpu_sdk("trace", *arguments)
    assert done.returncode == 2
    assert message in done.stderr
    assert "Traceback" not in done.stderr
    assert done.stdout == ""
    assert sorted(tmp_path.iterdir()) == before
