"""Reader of MLIR's generic form, in which every operation is written alike."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any, NoReturn

from .locations import Location, resolve
from .program import Block, Op, Region, Value
from .types import Element, Pointer, Scalar, Tensor, Type

_SPACE = re.compile(r"(?:\s|//[^\n]*)*")
_STRING = re.compile(r'"((?:[^"\\]|\\.)*)"')
_RESULTS = re.compile(r"(%[\w$.-]+(?::\d+)?(?:\s*,\s*%[\w$.-]+(?::\d+)?)*)\s*=\s*")
_VALUE = re.compile(r"%[\w$.-]+(?:#\d+)?")
_BLOCK = re.compile(r"\^[\w$.-]+")
_WORD = re.compile(r"[A-Za-z_][\w$.]*")
_NUMBER = re.compile(r"-?(?:0x[0-9A-Fa-f]+|\d+(?:\.\d*)?(?:[eE][-+]?\d+)?)")
_SHAPE = re.compile(r"(?:\d+x)*")
_SCALAR = re.compile(r"(?:index|i\d+|bf16|tf32|f\d+(?:E\d+M\d+\w*)?)")
_ALIAS = re.compile(r"^(#loc\d*) = loc\((.*)\)\s*$", re.MULTILINE)
_ESCAPE = re.compile(r"\\([0-9A-Fa-f]{2}|.)")
_OPENING = {"(": ")", "<": ">", "[": "]", "{": "}"}


class ReadError(ValueError):
    """Text that is not MLIR in generic form."""


@dataclass(frozen=True)
class Dense:
    """A constant tile of one number, by its text: a decimal, hexadecimal bits, or a boolean."""

    text: str
    type: Type


@dataclass(frozen=True)
class Number:
    """A constant number by its text, and its type."""

    text: str
    type: Type | None = None

    def __int__(self) -> int:
        return int(self.text, 0)


@dataclass
class _Scope:
    values: dict[str, Value] = field(default_factory=dict)
    blocks: dict[str, Block] = field(default_factory=dict)


def read(text: str) -> Op:
    """Return the module of a text in generic form. Raises ReadError, which says where."""
    return _Reader(text).module()


class _Reader:
    def __init__(self, text: str) -> None:
        self.text, self.position = text, 0
        self.aliases = dict(_ALIAS.findall(text))
        self.scopes: list[_Scope] = []
        self.known_types: dict[str, Type] = {}
        self.known_locations: dict[str, Location | None] = {}

    # -- text

    def fail(self, expected: str) -> NoReturn:
        line = self.text.count("\n", 0, self.position) + 1
        rest = self.text[self.position : self.position + 60].split("\n")[0]
        raise ReadError(f"line {line}: expected {expected}, got {rest!r}")

    def skip(self) -> None:
        match = _SPACE.match(self.text, self.position)
        assert match is not None
        self.position = match.end()

    def at(self, token: str) -> bool:
        self.skip()
        return self.text.startswith(token, self.position)

    def take(self, token: str) -> bool:
        if not self.at(token):
            return False
        self.position += len(token)
        return True

    def need(self, token: str) -> None:
        if not self.take(token):
            self.fail(repr(token))

    def match(self, pattern: re.Pattern[str]) -> re.Match[str] | None:
        self.skip()
        match = pattern.match(self.text, self.position)
        if match is not None:
            self.position = match.end()
        return match

    def token(self, pattern: re.Pattern[str], expected: str) -> str:
        match = self.match(pattern)
        if match is None:
            self.fail(expected)
        return match[0]

    def balanced(self) -> str:
        """Take a bracketed text, brackets and strings in it included."""
        start, stack = self.position, []
        while True:
            character = self.text[self.position : self.position + 1]
            if character == "":
                self.fail("a closing bracket")
            if character == '"':
                self.token(_STRING, "a string")
                continue
            self.position += 1
            if character in _OPENING:
                stack.append(_OPENING[character])
            elif stack and character == stack[-1] and self.text[self.position - 2] != "-":
                stack.pop()
                if not stack:
                    return self.text[start : self.position]

    # -- structure

    def module(self) -> Op:
        while self.at("#"):  # aliases of locations
            self.position = self.text.find("\n", self.position) % (len(self.text) + 1)
        self.scopes.append(_Scope())
        return self.op()

    def op(self) -> Op:
        names: list[str] = []
        match = self.match(_RESULTS)
        if match is not None:
            for part in match[1].split(","):
                name, _, count = part.strip().partition(":")
                names += [f"{name}#{i}" for i in range(int(count))] if count else [name]
        op = Op(self.string(), self.operands())
        if self.take("["):
            while not self.take("]"):
                op.successors.append((self.block_named(self.token(_BLOCK, "a block")), []))
                self.take(",")
        if self.take("<{"):
            op.attributes.update(self.dictionary("}>"))
        if self.take("("):
            op.regions.append(self.region())
            while self.take(","):
                op.regions.append(self.region())
            self.need(")")
        if self.take("{"):
            op.attributes.update(self.dictionary("}"))
        self.need(":")
        types = self.function_type()
        op.location = self.location()
        if len(types) != len(names) and names:
            self.fail(f"{len(names)} results")
        op.results = [Value(type, op, index) for index, type in enumerate(types)]
        self.scopes[-1].values.update(zip(names, op.results, strict=False))
        if len(names) > 1:
            self.scopes[-1].values[names[0].partition("#")[0]] = op.results[0]
        _split_successors(op)
        return op

    def operands(self) -> list[Value]:
        self.need("(")
        values: list[Value] = []
        while not self.take(")"):
            values.append(self.value(self.token(_VALUE, "a value")))
            self.take(",")
        return values

    def value(self, name: str) -> Value:
        for scope in reversed(self.scopes):
            if name in scope.values:
                return scope.values[name]
        self.fail(f"the definition of {name}")

    def block_named(self, name: str) -> Block:
        return self.scopes[-1].blocks.setdefault(name, Block())

    def region(self) -> Region:
        self.need("{")
        self.scopes.append(_Scope())
        region = Region()
        while not self.take("}"):
            block = self.block_header() if self.at("^") else Block()
            region.blocks.append(block)
            while not (self.at("^") or self.at("}")):
                block.ops.append(self.op())
        self.scopes.pop()
        return region

    def block_header(self) -> Block:
        block = self.block_named(self.token(_BLOCK, "a block"))
        if self.take("("):
            while not self.take(")"):
                name = self.token(_VALUE, "an argument")
                self.need(":")
                argument = Value(self.type(), index=len(block.arguments), block=block)
                self.location()
                block.arguments.append(argument)
                self.scopes[-1].values[name] = argument
                self.take(",")
        self.need(":")
        return block

    def location(self) -> Location | None:
        if not self.take("loc"):
            return None
        text = self.balanced()
        if text not in self.known_locations:
            self.known_locations[text] = resolve(text, self.aliases)
        return self.known_locations[text]

    # -- attributes

    def string(self) -> str:
        match = self.match(_STRING)
        if match is None:
            self.fail("a string")
        return _ESCAPE.sub(
            lambda m: chr(int(m[1], 16)) if len(m[1]) == 2 else m[1].replace("n", "\n"), match[1]
        )

    def dictionary(self, end: str) -> dict[str, Any]:
        found: dict[str, Any] = {}
        while not self.take(end):
            name = self.string() if self.at('"') else self.token(_WORD, "an attribute's name")
            found[name] = self.attribute() if self.take("=") else True
            self.take(",")
        return found

    def attribute(self) -> Any:
        if self.at('"'):
            text = self.string()
            return text if not self.take(":") else (text, self.type())[0]
        if self.take("{"):
            return self.dictionary("}")
        if self.take("["):
            return self.items("]")
        if self.take("dense<"):
            self.position -= 1
            inner = self.balanced()[1:-1].strip()
            self.need(":")
            return Dense(inner, self.type())
        if self.take("array<"):
            self.token(_WORD, "a type")
            self.take(":")
            return self.items(">")
        if self.take("true"):
            return True
        if self.take("false"):
            return False
        if self.at("#") or self.at("@"):
            return self.symbol()
        match = self.match(_NUMBER)
        if match is not None:
            type: Type | None = self.type() if self.take(":") else None
            if isinstance(type, Scalar) and type.is_float:
                return Number(match[0], type)
            is_integer = re.fullmatch(r"-?(0x[0-9A-Fa-f]+|\d+)", match[0])
            return int(match[0], 0) if is_integer else Number(match[0], type)
        if self.take("unit"):
            return True
        return self.type_attribute()

    def items(self, end: str) -> list[Any]:
        items: list[Any] = []
        while not self.take(end):
            items.append(self.attribute())
            self.take(",")
        return items

    def symbol(self) -> str:
        start = self.position
        self.position += 1
        if self.at('"'):
            return self.string()
        self.token(_WORD, "a name")
        name = self.text[start + 1 : self.position]
        while self.position < len(self.text) and self.text[self.position] == "<":
            name += self.balanced()
        return name

    # -- types

    def type_attribute(self) -> Any:
        if self.at("("):
            return self.function_type()
        return self.type()

    def function_type(self) -> list[Type]:
        """Take a function's type and return the types of its results."""
        self.types()
        self.need("->")
        return self.types()

    def types(self) -> list[Type]:
        if not self.take("("):
            return [self.type()]
        found: list[Type] = []
        while not self.take(")"):
            found.append(self.type())
            self.take(",")
        return found

    def type(self) -> Type:
        self.skip()
        start = self.position
        if self.take("tensor<"):
            shape = tuple(int(size) for size in self.token(_SHAPE, "a shape").split("x") if size)
            element = self.element()
            if self.take(","):  # an encoding
                while not self.at(">"):
                    self.attribute()
            self.need(">")
            return self.known_types.setdefault(
                self.text[start : self.position], Tensor(shape, element)
            )
        return self.element()

    def element(self) -> Element:
        if self.take("!tt.ptr<"):
            pointee = self.element()
            if self.take(","):
                self.token(_NUMBER, "an address space")
            self.need(">")
            return Pointer(pointee)
        match = self.match(_SCALAR)
        if match is not None:
            return Scalar(match[0])
        start = self.position
        if not self.take("!"):
            self.fail("a type")
        self.token(_WORD, "a type's name")
        if self.text[self.position : self.position + 1] == "<":
            self.balanced()
        return Scalar(self.text[start : self.position])


def _split_successors(op: Op) -> None:
    """Give a branch's operands to the blocks that it goes to."""
    if not op.successors:
        return
    counts = op.attributes.get("operandSegmentSizes")
    if counts is None:  # cf.br
        counts = [0, len(op.operands)]
    first, values = counts[0], op.operands
    op.operands = values[:first]
    at = first
    for index, ((block, _), count) in enumerate(zip(op.successors, counts[1:], strict=True)):
        op.successors[index] = (block, values[at : at + count])
        at += count
