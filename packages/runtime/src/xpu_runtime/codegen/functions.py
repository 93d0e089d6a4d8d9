"""Scalar functions of the device library, from functions.toml, which explains the fields."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass, field
from functools import cache
from importlib import resources
from typing import Any

from .vocabulary_error import unknown_name

VOCABULARIES = ("aten", "stablehlo", "libdevice", "c")
# Error bounds of functions for which the table has none: in units in the last place for real results, in
# machine epsilons for complex ones.
DEFAULT_ULP = {"f16": 1.0, "bf16": 1.0, "f32": 4.0, "f64": 4.0}
DEFAULT_COMPLEX_ULP = 4.0


@dataclass(frozen=True)
class Function:
    """A function ``xpu::name`` of the header ``xpu/header.h``; some names stand in two headers, by rule."""

    header: str
    name: str
    arity: int
    rule: str
    exact: bool = False
    identity: bool = False
    complex: bool = False
    complex_ulp: float = DEFAULT_COMPLEX_ULP
    scale: float = 0.0
    nan: str = ""
    note: str = ""
    ulp: dict[str, float] = field(default_factory=dict, hash=False)
    aten: tuple[str, ...] = ()
    stablehlo: tuple[str, ...] = ()
    libdevice: tuple[str, ...] = ()
    c: tuple[str, ...] = ()

    @property
    def template(self) -> str:
        """The call, with ``{0}``, ``{1}``, ... for the arguments."""
        return f"{self.name}({', '.join(f'{{{i}}}' for i in range(self.arity))})"

    @property
    def is_predicate(self) -> bool:
        """True if the result is a bool."""
        return self.rule in ("predicate", "compare")

    def header_for(self, kind: str) -> str:
        """Return the header that has the function for elements of a kind."""
        return "complex_math" if kind == "complex" else self.header

    def bound(self, dtype: str) -> float:
        """Return the largest error for a real dtype, in last places: 0, the rounding itself, if exact."""
        return 0.0 if self.exact else self.ulp.get(dtype, DEFAULT_ULP[dtype])


def _function(header: str, name: str, entry: dict[str, Any]) -> Function:
    names = {
        key: (entry[key],) if isinstance(entry[key], str) else tuple(entry[key])
        for key in VOCABULARIES
        if key in entry
    }
    return Function(header, name, **{**entry, **names})


@cache
def table() -> dict[str, dict[str, dict[str, Any]]]:
    """Return the file as it is: header, name, fields."""
    return tomllib.loads(resources.files(__package__).joinpath("functions.toml").read_text())


@cache
def functions() -> tuple[Function, ...]:
    """Return all functions, in the order of the table."""
    return tuple(
        _function(header, name, entry)
        for header, entries in table().items()
        for name, entry in entries.items()
    )


def find_functions(vocabulary: str, name: str) -> tuple[Function, ...]:
    """Return the functions that a vocabulary ("aten", "stablehlo", "libdevice", "c") calls so.

    There are two where floats and integers differ. Raises VocabularyError if there is none.
    """
    if vocabulary not in VOCABULARIES:
        raise unknown_name("vocabulary", vocabulary, VOCABULARIES)
    known = _by(vocabulary)
    found = known.get(name)
    if found is None:
        raise unknown_name(vocabulary, name, known)
    return found


@cache
def _by(vocabulary: str) -> dict[str, tuple[Function, ...]]:
    found: dict[str, tuple[Function, ...]] = {}
    for function in functions():
        for name in getattr(function, vocabulary):
            found[name] = (*found.get(name, ()), function)
    return found
