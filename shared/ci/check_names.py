"""Check that no name is one of the words that STYLE rejects: `python check_names.py [FOLDER]`.

Names are the NAME tokens of Python, the identifiers of C++ and kernel sources, and those in strings of code.
Comments and prose in strings are not checked. Needs no package, so that nox can run it anywhere.
"""

from __future__ import annotations

import io
import keyword
import re
import sys
import tokenize
from collections.abc import Iterable, Iterator
from pathlib import Path

FOLDERS = ("packages", "shared", "noxfile.py", ".ci")
CPP_SUFFIXES = {".h", ".cpp", ".sycl"}
SKIPPED_FOLDERS = {"build", "__pycache__", "node_modules"}

# Everyday words that do not tell what they name. Case matters: a test may have an `ending`.
REJECTED_WORDS = frozenset(
    (
        *("kept", "below", "lent", "elsewhere", "Moment", "Ending", "patience"),
        *("much", "meet", "turned", "one_text", "taps", "Companion"),
    )
)
# `max_` is the word for an upper limit.
REJECTED_PREFIXES = ("most_", "MOST_")
# A miss is a lookup that a cache cannot answer, so only code about caches has that name.
CACHE_WORD = "miss"
CACHE_PATH = re.compile("cache|/compile/")

Name = tuple[int, str]  # a line and a name on it

_IDENTIFIER = re.compile(r"[A-Za-z_]\w*")
_CPP_TOKEN = re.compile(
    r"""
    //[^\n]* | /\*.*?\*/                                    # comments
  | (?:u8|[uUL])?R"(?P<mark>[^()\\\s]*)\((?P<raw>.*?)\)(?P=mark)"  # raw strings
  | (?:u8|[uUL])?"(?P<text>(?:\\.|[^"\\\n])*)"              # strings
  | '(?:\\.|[^'\\\n])'                                      # characters, but not separators of digits
  | \d(?:'?[\w.])*                                          # numbers
  | (?P<include>\#[ ]*include[^\n]*)
  | (?P<name>[A-Za-z_]\w*)
    """,
    re.VERBOSE | re.DOTALL,
)
_OPERATOR = r"(?:[-+*/%&|^]?=|==|[<>!]=|[-+*/%<>?]|&&|\|\||<<|>>)"
_TYPE = (
    r"(?:bool|char|short|int|long|unsigned|float|double|auto|const|return|del|T|[iu](?:8|16|32|64))"
)
_CODE_BEFORE = re.compile(rf"(?:[.\[&!~{{]|->|::|[*(](?=\S*$)|\s{_OPERATOR}\s|\b{_TYPE}\s)$")
_CODE_AFTER = re.compile(rf"(?:[\[(}}]|->|::|\+\+|--|\.[a-zA-Z_]|\s{_OPERATOR}\s|;\s*(?:$|\n|\}}))")


def names_in_code_text(text: str, line: int) -> Iterator[Name]:
    """Yield the words of a string that an underscore or the text around them shows to be identifiers."""
    if _IDENTIFIER.fullmatch(text.strip("\"'")):
        return  # one word, such as a key or a label
    for match in _IDENTIFIER.finditer(text):
        before, after = text[max(0, match.start() - 16) : match.start()], text[match.end() :]
        if "_" in match[0] or _CODE_BEFORE.search(before) or _CODE_AFTER.match(after):
            yield line + text.count("\n", 0, match.start()), match[0]


def names_in_python(source: str) -> Iterator[Name]:
    """Yield the names of Python code, and those of code in its strings."""
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        kind = tokenize.tok_name[token.type]
        if kind == "NAME" and not keyword.iskeyword(token.string):
            yield token.start[0], token.string
        elif kind in ("STRING", "FSTRING_MIDDLE"):
            yield from names_in_code_text(token.string, token.start[0])


def names_in_cpp(source: str) -> Iterator[Name]:
    """Yield the identifiers of C++ code, and those of code in its strings."""
    for match in _CPP_TOKEN.finditer(source):
        line = source.count("\n", 0, match.start()) + 1
        if match["name"]:
            yield line, match["name"]
        elif text := match["raw"] or match["text"]:
            yield from names_in_code_text(text, line)


def is_rejected(name: str, path: Path) -> bool:
    """Return True if a name must be replaced. Underscores at its ends do not matter."""
    word = name.strip("_")
    if word == CACHE_WORD:
        return not CACHE_PATH.search(str(path))
    return word in REJECTED_WORDS or word.startswith(REJECTED_PREFIXES)


def source_files(root: Path) -> Iterator[Path]:
    """Yield the files to check, in a fixed order."""
    for folder in FOLDERS:
        top = root / folder
        for path in [top] if top.is_file() else sorted(top.rglob("*")):
            if path.suffix in CPP_SUFFIXES | {".py"} and not SKIPPED_FOLDERS.intersection(
                path.parts
            ):
                yield path


def rejected_names(root: Path, paths: Iterable[Path]) -> Iterator[str]:
    """Yield a line for each name to be replaced: file, line and name."""
    for path in paths:
        names = names_in_python if path.suffix == ".py" else names_in_cpp
        inside = path.relative_to(root)
        for line, name in dict.fromkeys(names(path.read_text())):
            if is_rejected(name, inside):
                yield f"{inside}:{line}: {name}"


def main(arguments: list[str]) -> int:
    """Print the names to be replaced; return 1 if there are any."""
    root = Path(arguments[0] if arguments else __file__).resolve()
    root = root if root.is_dir() else root.parents[2]
    lines = list(rejected_names(root, source_files(root)))
    for line in lines:
        print(line)
    print(
        f"{len(lines)} names to replace: a name says what it is of"
        if lines
        else "all names are right"
    )
    return int(bool(lines))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
