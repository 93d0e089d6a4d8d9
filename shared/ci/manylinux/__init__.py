"""Libraries to link with, so that wheels load on systems older than the one that builds them.

Released wheels may want symbols up to those of `GLIBC` and `GLIBCXX`, the limits of manylinux_2_28. The
linker gets libraries of the system's names that offer these and no newer ones. What the code uses of a newer
libstdc++ is linked from its static library, and functions of a newer glibc from `newer_glibc.c`.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

PLATFORM = "manylinux_2_28_x86_64"
#: The newest versions of each kind that the platform has.
LIMITS = {"GLIBC": (2, 28), "GLIBCXX": (3, 4, 24), "CXXABI": (1, 3, 11), "GCC": (7, 0, 0)}
#: The system's libraries of which the linker sees a part, and the file names that it looks for.
PARTS = {"libc.so.6": "", "libm.so.6": "libm.so", "libstdc++.so.6": ""}
# Parts of libc.so.6 since glibc 2.34, and libraries before.
_FORMER = ("libpthread.so.0", "libdl.so.2", "librt.so.1")
# Where symbols of a kind lie, and how the assembler calls the kind; functions are the rest.
_SECTIONS = {"OBJECT": (".data", "object"), "TLS": (".tbss", "tls_object")}


class Symbol(NamedTuple):
    """A symbol with a version that a library offers or wants."""

    name: str
    version: str
    is_defined: bool
    kind: str = "FUNC"
    size: int = 0

    @property
    def is_allowed(self) -> bool:
        """Whether the platform has it."""
        name, _, numbers = self.version.partition("_")
        limit = LIMITS.get(name)
        return limit is None or (numbers[:1].isdigit() and version_numbers(numbers) <= limit)


def version_numbers(text: str) -> tuple[int, ...]:
    """Return the numbers of a version."""
    return tuple(int(number) for number in text.split("."))


def symbols(library: Path) -> Iterator[Symbol]:
    """Yield the dynamic symbols with a version."""
    listing = _run("readelf", "--wide", "--dyn-syms", str(library))
    pattern = r"^ *\d+: \w+ +(\w+) (\w+) +(?:GLOBAL|WEAK|UNIQUE) +\w+ +(\w+) (\S+?)@@?(\S+)"
    for size, kind, section, name, version in re.findall(pattern, listing, re.MULTILINE):
        yield Symbol(name, version, section != "UND", kind, int(size, 0))


def newest_versions(library: Path) -> list[str]:
    """Return the newest versions of glibc, libstdc++ and libgcc that a library wants, such as GLIBC_2.28."""
    wanted = {symbol.version for symbol in symbols(library) if not symbol.is_defined}
    newest: dict[str, str] = {}
    for version in sorted(wanted, key=_order):
        if version.partition("_")[0] in LIMITS:
            newest[version.partition("_")[0]] = version
    return list(newest.values())


def missing_symbols(library: Path) -> list[str]:
    """Return the symbols that a library wants and the platform does not have.

    A symbol without a version may be one, too: libraries are linked though they want what none offers.
    """
    newer = [
        f"{s.name}@{s.version}" for s in symbols(library) if not (s.is_defined or s.is_allowed)
    ]
    listing = _run("readelf", "--wide", "--dyn-syms", str(library))
    unversioned = set(re.findall(r" GLOBAL +\w+ +UND (\w+)$", listing, re.MULTILINE))
    offered = [s for name in PARTS for s in symbols(_find(name)) if s.is_defined]
    older = {symbol.name for symbol in offered if symbol.is_allowed}
    return newer + sorted(unversioned & ({symbol.name for symbol in offered} - older))


def program_options(folder: Path) -> str:
    """Return the options for a program, after link_options().

    The program must need nothing of a newer libstdc++: its libraries would find a copy in the program.
    """
    return f"-L{folder / 'programs'} -L{folder}"


def link_options(folder: Path) -> str:
    """Write the libraries into the folder; return the options for compilers that link libraries with them."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, link_name in PARTS.items():
        _write_part(folder, name, list(symbols(_find(name))))
        if link_name:
            (folder / link_name).write_text(f"INPUT({folder / name})\n")
    for name in _FORMER:
        _write_part(folder, name, [])
    source = Path(__file__).with_name("newer_glibc.c")
    newer = folder / "newer_glibc.o", folder / "libnewer_glibc.a"
    _run("gcc", "-O2", "-fPIC", "-fvisibility=hidden", "-c", str(source), "-o", str(newer[0]))
    newer[1].unlink(missing_ok=True)
    _run("ar", "rcsD", str(newer[1]), str(newer[0]))
    static = _write_newer_parts(folder)
    for part, more in ("", f" {static}"), ("programs", ""):
        (folder / part).mkdir(exist_ok=True)
        script = f"GROUP({folder / 'libstdc++.so.6'}{more})\n"
        (folder / part / "libstdc++.so").write_text(script)
    (folder / "libc.so").write_text(
        f"GROUP({folder / 'libc.so.6'} {newer[1]} {_find('libc_nonshared.a')} "
        f"AS_NEEDED({_find('ld-linux-x86-64.so.2')}))\n"
    )
    former = " ".join(str(folder / name) for name in _FORMER)
    return (
        f"-L{folder} -Wl,--exclude-libs,{static.name}:{newer[1].name} "
        f"-Wl,--push-state,--no-as-needed {former} -Wl,--pop-state"
    )


def _write_part(folder: Path, name: str, offered: list[Symbol]) -> None:
    """Write a library without code that offers the newest allowed version of each symbol."""
    chosen: dict[str, Symbol] = {}
    for symbol in sorted(offered, key=lambda one: _order(one.version)):
        if symbol.is_defined and _is_public(symbol) and symbol.is_allowed:
            chosen[symbol.name] = symbol
    lines = []
    for number, symbol in enumerate(chosen.values()):
        section, kind = _SECTIONS.get(symbol.kind, (".data", "function"))
        lines += [
            f".section {section}\n.globl s{number}\n.type s{number}, @{kind}",
            f".size s{number}, {symbol.size}\ns{number}:\n.skip {symbol.size if kind != 'function' else 0}",
            f".symver s{number}, {symbol.name}@@{symbol.version}, remove",
        ]
    code = folder / f"{name}.s"
    code.write_text("\n".join([*lines, '.section .note.GNU-stack,"",@progbits', ""]))
    versions = folder / f"{name}.versions"
    names = sorted({symbol.version for symbol in chosen.values()}, key=_order)
    versions.write_text("".join(f"{version} {{ }};\n" for version in names))
    script = [f"-Wl,--version-script={versions}"] if names else []
    output = ["-o", str(folder / name), str(code)]
    _run("gcc", "-shared", "-nostdlib", f"-Wl,-soname,{name}", *script, *output)


def _write_newer_parts(folder: Path) -> Path:
    """Write the static libstdc++ such that it defines only what the older one does not offer.

    What both have gets another name there: a second copy of the system's symbols, with their state, would be
    linked otherwise, and objects of the one would be destroyed by the other.
    """
    offered = {s.name for s in symbols(folder / "libstdc++.so.6")}
    offered |= {s.name for s in symbols(folder / "libc.so.6")}
    members = folder / "libstdc++"
    shutil.rmtree(members, ignore_errors=True)
    members.mkdir()
    static = _find("libstdc++.a")
    _run("ar", "x", "--output", str(members), str(static))
    listing = _run("nm", "--extern-only", "--defined-only", "--format=posix", str(static))
    for part in re.split(r"^\S+\[(?=\S+\]:$)", listing, flags=re.MULTILINE)[1:]:
        member, _, lines = part.partition("]:\n")
        defined = {line.split()[0] for line in lines.splitlines() if line}
        if both := sorted(defined & offered):
            names = members / "names"
            names.write_text("".join(f"{name} older_{name}\n" for name in both))
            _run("objcopy", f"--redefine-syms={names}", str(members / member))
    target = folder / "libstdc++_newer.a"
    target.unlink(missing_ok=True)
    _run("ar", "rcsD", str(target), *sorted(str(path) for path in members.glob("*.o")))
    return target


def _is_public(symbol: Symbol) -> bool:
    return re.fullmatch(r"(GLIBC|GLIBCXX|CXXABI)_[\d.]+", symbol.version) is not None


def _order(version: str) -> tuple[str, tuple[int, ...]]:
    name, _, numbers = version.partition("_")
    return name, version_numbers(numbers) if numbers[:1].isdigit() else ()


def _find(name: str) -> Path:
    """Return the path of a library of the compiler or the system."""
    path = Path(_run("g++", f"-print-file-name={name}").strip())
    if not path.is_absolute():
        raise FileNotFoundError(f"g++ finds no {name}")
    return path.resolve()


def _run(*command: str) -> str:
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout
