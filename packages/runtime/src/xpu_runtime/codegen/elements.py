"""Element types of generated kernels, from elements.toml. Imports no framework and touches no device."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import cache
from importlib import resources
from types import MappingProxyType

from .vocabulary_error import unknown_name


@dataclass(frozen=True)
class Element:
    """An element type; elements.toml explains the fields. ``pjrt`` is 0 and a name "" where there is none."""

    name: str
    kind: str
    bits: int
    stored: str
    math: str
    dtype: str
    header: str = ""
    pytorch: str = ""
    stablehlo: str = ""
    pjrt: int = 0
    numpy_name: str = ""
    packed: bool = False
    scale: bool = False
    low_bit: str = ""
    scalar_type: str = ""
    onednn: str = ""

    @property
    def size(self) -> int:
        """Bytes of a stored element; one of fewer than 8 bits fills a byte, a packed one has no size."""
        return 0 if self.packed else -(-self.bits // 8)

    @property
    def math_size(self) -> int:
        """Bytes of the type in which kernels compute."""
        return 4 if self.narrow else self.size

    @property
    def narrow(self) -> bool:
        """True for a float that kernels compute in f32."""
        return self.kind == "float" and self.math != self.stored

    @property
    def is_dtype(self) -> bool:
        """True for an element type of the runtime's DType."""
        return self.scale or self.name == self.dtype

    @property
    def foreign(self) -> bool:
        """True for a float that the runtime moves but cannot compute with."""
        return self.kind == "float" and self.dtype == "u8"


def _read() -> tuple[Element, ...]:
    text = resources.files(__package__).joinpath("elements.toml").read_text()
    return tuple(
        Element(name, numpy_name=fields.pop("numpy", ""), **fields)
        for name, fields in tomllib.loads(text).items()
    )


_TABLE = _read()
# The element types that arrays of generated kernels can have, by name.
ELEMENTS = MappingProxyType({element.name: element for element in _TABLE if not element.packed})
# The runtime's dtypes, in the order of C++'s DType.
DTYPES = tuple(element for element in _TABLE if element.is_dtype)
# The elements of low-bit weights, by the names of their formats.
LOW_BIT_FORMATS = MappingProxyType({e.low_bit: e for e in _TABLE if e.low_bit})


def element(name: str) -> Element:
    """Return the element type of a name; raise VocabularyError if there is none."""
    found = ELEMENTS.get(name)
    if found is None:
        raise unknown_name("element", name, ELEMENTS)
    return found


def find_element(**names: object) -> Element:
    """Return the element type that a framework calls so, as ``find_element(pytorch="bfloat16")``.

    The argument is a field of Element. Raises VocabularyError if no element type has the value.
    """
    if len(names) != 1:
        raise TypeError(
            f"find_element: got {len(names)} names, expected one, as pytorch='bfloat16'"
        )
    ((vocabulary, name),) = names.items()
    known = _by(vocabulary)
    found = known.get(name)
    if found is None:
        raise unknown_name(vocabulary, name, map(str, known))
    return found


_VOCABULARIES = ("name", "pytorch", "stablehlo", "pjrt", "numpy_name")


@cache
def _by(vocabulary: str) -> dict[object, Element]:
    if vocabulary not in _VOCABULARIES:
        raise unknown_name("vocabulary", vocabulary, _VOCABULARIES)
    named = ((getattr(element, vocabulary), element) for element in ELEMENTS.values())
    return {name: element for name, element in named if name}
