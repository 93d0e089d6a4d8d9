"""The lint of names: finds rejected words in code of every kind, and leaves prose alone."""

import importlib.util
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[3] / "shared" / "ci" / "check_names.py"


def load():
    spec = importlib.util.spec_from_file_location("check_names", SCRIPT)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


check_names = load()
WORDS = sorted(check_names.REJECTED_WORDS) + [f"{p}items" for p in check_names.REJECTED_PREFIXES]


def rejected(root, file, source):
    path = root / "packages" / file
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(source)
    return list(check_names.rejected_names(root, check_names.source_files(root)))


@pytest.mark.parametrize("word", WORDS)
@pytest.mark.parametrize(
    ("file", "source"),
    [
        ("a.py", "\nWORD = 1\n"),
        ("a.py", "\ndef f(_WORD_): pass\n"),
        ("a.py", "\nimport x.WORD\n"),
        ("a.py", "\nx = f'float v = {WORD};'\n"),
        ("a.py", 'SOURCE = """\nfloat WORD = x[i];\n"""\n'),
        ("csrc/a.cpp", "\nint WORD = 1;\n"),
        ("csrc/a.h", "\nstruct A { int WORD_; };\n"),
        ("csrc/a.cpp", "\nauto n = 1'000, b = 'x', c = WORD;\n"),
        ("csrc/a.cpp", '\nauto text = "s1 += WORD;";\n'),
        ("csrc/a.cpp", 'auto text = R"code(\nXPU_FN void WORD(int x) {}\n)code";\n'),
        ("kernels/a.sycl", "\nlong WORD[4];\n"),
    ],
)
def test_a_rejected_name_is_found_with_its_line(tmp_path, word, file, source):
    (line,) = rejected(tmp_path, file, source.replace("WORD", word))
    place, _, name = line.rpartition(": ")
    assert place == f"packages/{file}:2"
    assert name.strip("_") == word


@pytest.mark.parametrize(
    ("file", "source"),
    [
        ("a.py", "x = 1  # what is WORD\n"),
        ("a.py", '"""Values WORD the limit; some are WORD."""\n'),
        ("a.py", 'mode = "WORD"\n'),
        ("a.py", 'raise ValueError("the text says WORD, so it stays")\n'),
        ("csrc/a.cpp", "// what is WORD = 1;\nint x; /* int WORD; */\n"),
        ("csrc/a.cpp", '#include "xpu/WORD.h"\n'),
        ("csrc/a.cpp", 'fail("sizes WORD 0");\n'),
        ("csrc/a.cpp", "int unWORDed = 0;\n"),
        ("notes.txt", "int WORD = 1;\n"),
    ],
)
def test_comments_prose_and_other_names_are_left_alone(tmp_path, file, source):
    assert rejected(tmp_path, file, source.replace("WORD", "kept")) == []


@pytest.mark.parametrize(
    ("file", "count"), [("csrc/compile/a.cpp", 0), ("src/cache.py", 0), ("csrc/index.cpp", 1)]
)
def test_a_miss_is_one_of_a_cache(tmp_path, file, count):
    assert len(rejected(tmp_path, file, f"{check_names.CACHE_WORD} = 0\n")) == count


@pytest.mark.parametrize(("name", "code"), [("x", 0), ("patience", 1)])
def test_the_exit_code_says_whether_there_are_any(tmp_path, name, code):
    (tmp_path / "noxfile.py").write_text(f"{name} = 1\n")
    done = subprocess.run(
        [sys.executable, str(SCRIPT), str(tmp_path)],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == code, done.stdout + done.stderr
    assert ("noxfile.py:1: patience" in done.stdout) == bool(code)
