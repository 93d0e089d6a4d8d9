"""Hold the paths, names, commands and code of the guides for contributors to the repository."""

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
GUIDES = {
    "architecture": ROOT / "docs" / "architecture.md",
    "contributing": ROOT / "CONTRIBUTING.md",
}

SOURCES = (
    "packages",
    "shared",
    "docs",
    ".ci",
    "noxfile.py",
    "pyproject.toml",
    "README.md",
    "CHANGELOG.md",
)
GENERATED = {"__pycache__", "build", "_build", ".ruff_cache", ".mypy_cache", ".pytest_cache"}
TEXT = {".py", ".pyi", ".h", ".cpp", ".sycl", ".toml", ".cmake", ".txt", ".json", ""}
LANGUAGES = ("cpp", "python", "toml")
# What a reader puts there, and what only a build makes.
PLACEHOLDERS = {"NAME", "FOLDER", "program.py"}
MADE_BY_BUILD = (".nox/", "dist/")
# Names of Python, the frameworks and the drivers: they belong to no file that is named beside them.
GENERAL = {
    "import",
    "torch",
    "jax",
    "jax_plugins",
    "add",
    "array",
    "tensor",
    "cpu",
    "clFinish",
    "std",
}
COMMANDS = {"python", "python3", "xpu-sdk", "sudo", "export"}

PATH = re.compile(r"[\w.*-]*(?:/[\w.*-]+)+/?|[\w*-]+\.(?:py|pyi|h|cpp|sycl|toml|cmake|md|json)")
NAME = re.compile(r"(?<![\w-])[A-Za-z_]\w+(?:(?:::|\.)[A-Za-z_]\w+)*(?![\w-])")
VALUE = re.compile(r"(?<=\w)=\S+")
SESSION = re.compile(r"nox -s ([\w-]+)")


@cache
def tree() -> dict[str, Path]:
    """Every file and folder, by its path from the root."""
    found: dict[str, Path] = {}
    for name in SOURCES:
        paths = [ROOT / name, *(ROOT / name).rglob("*")]
        for path in paths:
            inside = path.relative_to(ROOT)
            if path.exists() and not GENERATED.intersection(inside.parts):
                found[inside.as_posix()] = path
    return found


@cache
def words_of(path: str) -> frozenset[str]:
    """The identifiers in a source file, or in all of a folder."""
    if tree()[path].is_dir():
        inside = (
            words_of(p) for p in tree() if p.startswith(f"{path}/") and not tree()[p].is_dir()
        )
        return frozenset().union(*inside)
    if tree()[path].suffix not in TEXT or tree()[path] == Path(__file__).resolve():
        return frozenset()
    return frozenset(re.findall(r"[A-Za-z_]\w+", tree()[path].read_text(errors="replace")))


@cache
def sources_with(word: str) -> frozenset[str]:
    return frozenset(p for p, file in tree().items() if not file.is_dir() and word in words_of(p))


@cache
def source_lines() -> frozenset[str]:
    files = (file for file in tree().values() if file.suffix in TEXT and not file.is_dir())
    return frozenset(
        line.strip()
        for file in files
        if file != Path(__file__).resolve()
        for line in file.read_text(errors="replace").splitlines()
    )


def matches(path: str) -> list[str]:
    """The files and folders that a path means: from the root, or the end of a longer path."""
    pattern = re.escape(path.rstrip("/")).replace("NAME", r"[^/]+").replace(r"\*", r"[^/]*")
    return [p for p in tree() if re.fullmatch(rf"(?:.+/)?{pattern}", p)]


def blocks(text: str) -> list[tuple[str, str]]:
    """Language and code of each fenced block."""
    return re.findall(r"^ *```(\w*)\n(.*?)^ *```$", text, re.MULTILINE | re.DOTALL)


def items(text: str) -> list[str]:
    """Paragraphs, list items and table rows, without the fenced blocks."""
    prose = re.sub(r"^ *```\w*\n.*?^ *```$", "", text, flags=re.MULTILINE | re.DOTALL)
    return [item for item in re.split(r"\n(?= *(?:[-|]|\d+\.) ?)|\n\n", prose) if item.strip()]


def spans(item: str) -> list[str]:
    return re.findall(r"`([^`]+)`", item)


def is_command(span: str) -> bool:
    return span.partition(" ")[0] in COMMANDS


def names_in(span: str) -> list[str]:
    """The names in code, without paths, placeholders and what variables are set to."""
    if is_command(span):
        return []
    return [
        name
        for name in NAME.findall(PATH.sub(" ", VALUE.sub("", span)))
        if name not in PLACEHOLDERS
    ]


def is_known(name: str, paths: list[str]) -> bool:
    """Whether a name occurs in the files that are named beside it or, where there are none, in a source.

    The parts of a qualified name must occur in one source, and one of them in a file beside it.
    """
    parts = re.split(r"::|\.", name)
    together = frozenset.intersection(*map(sources_with, parts))
    is_general = parts[0] in GENERAL or name.startswith("XPU_") or not paths
    return bool(together) and (
        is_general or any(part in words_of(p) for p in paths for part in parts)
    )


def paths_of(span: str) -> list[str]:
    """The paths in code, without placeholders and what only a build makes."""
    return [
        p for p in PATH.findall(span) if p not in PLACEHOLDERS and not p.startswith(MADE_BY_BUILD)
    ]


def problems(text: str) -> Iterator[str]:
    """Find what a guide names that is not there."""
    for item in items(text):
        found = {path: matches(path) for span in spans(item) for path in paths_of(span)}
        yield from (f"there is no {path}" for path, files in found.items() if not files)
        beside = [file for files in found.values() for file in files]
        names = (name for span in spans(item) for name in names_in(span))
        yield from (
            f"no source beside it has {name}" for name in names if not is_known(name, beside)
        )
        for span in filter(is_command, spans(item)):
            yield from problems_of_command(span)
    for language, code in blocks(text):
        lines = [line.strip() for line in code.splitlines()]
        if language in LANGUAGES:
            yield from (
                f"no source has the line {line}" for line in lines if line not in source_lines()
            )
        else:
            for line in lines:
                yield from problems_of_command(line.partition("#")[0])


def problems_of_command(command: str) -> Iterator[str]:
    """Find the paths, sessions and subcommands that are not there."""
    yield from (f"there is no {path}" for path in paths_of(command) if not matches(path))
    yield from (
        f"there is no nox session {name}"
        for name in SESSION.findall(command)
        if not is_session(name)
    )
    subcommands = re.findall(r"\bxpu-sdk (\w+)", command)
    yield from (
        f"there is no xpu-sdk {name}" for name in subcommands if not matches(f"commands/{name}.py")
    )


def is_session(name: str) -> bool:
    text = (ROOT / "noxfile.py").read_text()
    return f"def {name}(" in text or f'name="{name}"' in text


@pytest.mark.parametrize("guide", GUIDES)
def test_all_that_is_named_is_there(guide):
    assert not list(problems(GUIDES[guide].read_text()))


@pytest.mark.parametrize("guide", GUIDES)
def test_any_other_name_is_noticed(guide):
    text = GUIDES[guide].read_text()
    for item in items(text):
        for span in spans(item):
            for word in {*paths_of(span), *names_in(span)}:
                wrong = span.replace(word, f"{word.rstrip('/')}_nowhere")
                assert list(problems(item.replace(f"`{span}`", f"`{wrong}`"))), f"{word} in: {item}"


@pytest.mark.parametrize(
    "wrong",
    [
        "See `packages/runtime/csrc/nowhere.cpp`.",
        "See the folder `csrc/nowhere/`.",
        "`StreamState::no_such_lock` in `csrc/stream_state.h`.",
        "`enqueue()` in `packages/runtime/csrc/memory/slab.h`.",
        "`no_such_guide_function()` does it.",
        "`XPU_NO_SUCH_SWITCH=1` does it.",
        "```\npython3 -m nox -s no-such-session\n```",
        "Run `python3 -m nox -s no-such-session`.",
        "Run `xpu-sdk dance`.",
        "```\npytest packages/runtime/tests/test_nothing.py\n```",
        "```cpp\nno_such_line();\n```",
    ],
)
def test_what_is_wrong_is_noticed(wrong):
    assert list(problems(wrong))
