"""The guides for contributors name files, folders and nox sessions that exist."""

import re
from fnmatch import fnmatch
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
GUIDES = ["CONTRIBUTING.md", "docs/architecture.md", "docs/add_a_kernel.md"]
# In back quotes or a command, with a folder or a known ending; an option's value or an address is none.
PATH = re.compile(
    r"(?<![\w/.=:<*-])[\w.*-]*\w(?:/[\w.*-]+)+/?|\b\w+\.(?:py|pyi|h|cpp|sycl|toml|cmake|json)\b"
)
CODE = re.compile(r"`([^`\n]+)`|^(python3? .*)$", re.MULTILINE)
FOLDERS = ("packages", "shared", "docs", ".ci")


@cache
def tree():
    """Every file and folder, by its path from the root."""
    paths = (path for folder in FOLDERS for path in (ROOT / folder).rglob("*"))
    return [f"/{path.relative_to(ROOT)}" for path in (*paths, *ROOT.iterdir())]


def missing(text):
    code = " ".join(map("".join, CODE.findall(text)))
    paths = {path.rstrip("/").replace("NAME", "*") for path in PATH.findall(code)}
    paths = {path for path in paths if not path.startswith(".nox/")}  # made by sessions
    sessions = set(re.findall(r"nox -s ([\w-]+)", text)) - {"NAME"}
    defined = (ROOT / "noxfile.py").read_text()
    absent = {path for path in paths if not any(fnmatch(p, f"*/{path}") for p in tree())}
    return absent | {name for name in sessions if f"def {name.replace('-', '_')}(" not in defined}


@pytest.mark.parametrize("guide", GUIDES)
def test_all_that_is_named_is_there(guide):
    assert missing((ROOT / guide).read_text()) == set()


@pytest.mark.parametrize(
    "wrong", ["`csrc/none/`", "in `a`, `none.h`", "python x/none.py -k a", "nox -s none"]
)
def test_what_is_missing_is_found(wrong):
    assert len(missing(wrong)) == 1
