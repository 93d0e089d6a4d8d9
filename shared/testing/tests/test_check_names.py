"""The lint of names: finds rejected words in code of every kind, and leaves prose alone."""

import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[3] / "shared" / "ci" / "check_names.py"


def check(file, source):
    file.write_text(source)
    done = subprocess.run(
        [sys.executable, SCRIPT, file], capture_output=True, text=True, check=False
    )
    assert done.returncode == bool(done.stderr)
    return done.stderr


@pytest.mark.parametrize(
    ("file", "source"),
    [
        ("a.py", "\nkept = 1  # of what?\n"),
        ("a.py", "\ndef f(_most_items): pass\n"),
        ("a.py", '"""Text.\n"""; import x.elsewhere\n'),
        ("a.cpp", "\nauto n = 1'000, c = kept, d = 2'000;\n"),
        ("a.h", "/* text\n*/ struct A { int Moment_; };\n"),
        ("a.cpp", 'auto text = R"code(\nXPU_FN void taps(int x) {}\n)code";\n'),
        ("a.sycl", "\nlong most_words[4];\n"),
    ],
)
def test_a_rejected_name_is_found_with_its_line(tmp_path, file, source):
    assert check(tmp_path / file, source).startswith(f"{tmp_path / file}:2: ")


@pytest.mark.parametrize(
    ("file", "source"),
    [
        ("a.py", "x = 1  # is kept\n"),
        ("a.py", '"""Values below the limit;\nsome are "kept".\n"""\n'),
        ("a.py", "mode = 'kept', \"kept\"\n"),
        ("a.cpp", "// is kept = 1;\nint x; /* int kept;\nint kept; */\n"),
        ("a.cpp", 'fail("sizes below 0");\n'),
        ("a.cpp", "int unkept = below_zero;\n"),
    ],
)
def test_comments_prose_and_other_names_are_left_alone(tmp_path, file, source):
    assert not check(tmp_path / file, source)
