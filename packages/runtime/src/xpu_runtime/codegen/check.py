"""Check loop programs before they are written."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from string import Formatter
from typing import Any

from .affine import Affine
from .program import Array, LoopProgram, ProgramError
from .scope import Scope, parameter_types, symbol_names
from .sizes import Extent, Symbol, hint_of, symbols_of
from .statements import (
    Block,
    Do,
    For,
    If,
    Keep,
    Let,
    Load,
    Operand,
    Recall,
    Set,
    Statement,
    Store,
    Var,
)
from .target import Target

# The C++ types in which kernels compute, and those of conditions and positions.
_INTEGERS = frozenset(f"{sign}{bits}" for sign in "iu" for bits in (8, 16, 32, 64))
TYPES = _INTEGERS | {"bool", "float", "double", "Complex<float>", "Complex<double>"}
# Names that the writers give to arrays, counters, tiles and accumulators.
_RESERVED = re.compile(
    r"c|e|v|at|blocks?|rows?|last|tile|first|end|count|width|wide|per_row|height|column_tiles|row_offset|slot|load_row|top|bottom|outside|"
    r"[abdhqrsxHS]\d+|element\d*|whole|(?:both|[kK]ept|multiplier|once|place|rest|row|shift|staged|state|whole)\d+"
)
_COMBINE = frozenset(["", "add", "mul", "min", "max", "and", "or", "xor"])


def check(program: LoopProgram, target: Target) -> None:
    """Raise ProgramError if a program uses what is not defined, or leaves an array by construction."""
    shape, rank = program.shape, len(program.shape)
    if not 0 <= program.parallel_dims <= rank:
        raise ProgramError(
            "parallel_dims", f"parallel_dims is {program.parallel_dims}; the shape has {rank}"
        )
    _check_symbols(program)
    for dim, size in enumerate(shape):
        if hint_of(size) < 1:
            raise ProgramError(
                f"shape[{dim}]",
                f"shape[{dim}] is {size}: a program needs elements; launch nothing for none",
            )
    if hint_of(math.prod(shape)) >= 2**62:
        raise ProgramError("shape", f"shape {shape} has 2^62 elements or more")
    for number, array in enumerate(program.arrays):
        if array.element.math not in TYPES:
            raise ProgramError(
                f"arrays[{number}]",
                f"arrays[{number}] has the unknown element type {array.element.name!r}",
            )
        if array.bytes is not None and array.bytes < 0:
            raise ProgramError(f"arrays[{number}]", f"arrays[{number}] has {array.bytes} bytes")
    is_pointwise = program.parallel_dims == rank
    if not program.sections or (is_pointwise and len(program.sections) > 1):
        raise ProgramError("sections", "a program has a section, and several only with rows")
    _check_caches(program, target)
    if program.lanes_on_parallel and (is_pointwise or program.parallel_dims == 0 or program.caches):
        raise ProgramError(
            "lanes_on_parallel",
            "lanes_on_parallel needs a parallel and a folded dimension, and has no caches",
        )
    types = parameter_types(program)
    results = set(types)
    types |= dict.fromkeys(symbol_names(program), "i64")
    own: set[str] = set()  # of all sections: what depends on the row alone leaves its section
    for number, section in enumerate(program.sections):
        if is_pointwise and (section.folds or section.per_row):
            raise ProgramError(
                f"sections[{number}]", "folds and statements per row need a dimension to fold"
            )
        each = _Checker(program, rank, results, types, own)
        each.statements(section.per_element)
        for fold in section.folds:
            states = {f"s{k}": type for k, type in enumerate(fold.types)}
            others = {f"r{k}": type for k, type in enumerate(fold.types)}
            counts = {len(fold.types), len(fold.identities), len(fold.results), len(fold.finish)}
            if len(counts) > 1:
                raise ProgramError(
                    fold.results[0] if fold.results else "fold",
                    f"fold {fold.results} has types, identities and finish of other counts",
                )
            for type in fold.types:
                _check_type(type, fold.results[0])
            for identity in fold.identities:
                _Checker(program, 0, results, types).operand(identity)
            update = _Checker(program, rank, {*each.scope.names, *states}, types | states)
            update.statements(fold.update)
            combine = _Checker(program, 0, {*states, *others}, types | states | others)
            combine.statements(fold.combine)
            for value in fold.finish:
                _Checker(program, 0, {*states, *results}, types | states).operand(value)
        for fold in section.folds:
            for name, type in zip(fold.results, fold.types, strict=True):
                each.define(name, type)
            results.update(fold.results)
        row = _Checker(program, program.parallel_dims, results, types, own)
        row.statements(section.per_row)
        results |= row.scope.names


def _check_symbols(program: LoopProgram) -> None:
    for symbol in program.symbols:
        _check_name(symbol.name)
        if symbol.name.endswith("_arg"):
            raise ProgramError(symbol.name, f"{symbol} ends with _arg, as the writers' names do")
    if len({symbol.name for symbol in program.symbols}) < len(program.symbols):
        raise ProgramError("symbols", f"symbols {program.symbols} have equal names")
    for size in program.shape:
        _check_listed(size, program.symbols)
    is_sized = not program.symbols and all(array.bytes is not None for array in program.arrays)
    if program.wide is None and not is_sized:
        raise ProgramError("wide", "wide is None: unknown sizes do not tell the type of positions")


def _check_listed(extent: Extent, symbols: Sequence[Symbol]) -> None:
    for symbol in symbols_of(extent):
        if symbol not in symbols:
            raise ProgramError(symbol.name, f"{symbol!r} is not one of the program's symbols")


def _check_type(type: str, name: str) -> None:
    if type not in TYPES:
        raise ProgramError(name, f"{name} has the unknown type {type!r}")


@lru_cache(4096)
def _argument_count(template: str) -> float:
    """Return how many arguments a template needs; infinity if it is none."""
    try:
        fields = [field for _, field, _, _ in Formatter().parse(template) if field is not None]
        return 1 + max(map(int, fields), default=-1)
    except ValueError:
        return math.inf


@lru_cache(4096)
def _check_name(name: str) -> None:
    if not name.isidentifier() or _RESERVED.fullmatch(name):
        raise ProgramError(name, f"{name!r} is no name for a value: the writers use it themselves")


def _check_caches(program: LoopProgram, target: Target) -> None:
    if not program.caches:
        return
    columns = math.prod(program.shape[program.parallel_dims :])
    if not isinstance(columns, int):
        raise ProgramError(
            program.caches[0].name, f"cache {program.caches[0].name} has the unknown size {columns}"
        )
    size = sum(_size_of(c.type) for c in program.caches)
    if size > target.cache_bytes(columns):
        names = ", ".join(cache.name for cache in program.caches)
        raise ProgramError(
            program.caches[0].name,
            f"caches {names} of {columns} elements exceed local memory; compute the values again",
        )


def _size_of(type: str) -> int:
    if "Complex" in type:
        return 16
    return 8 if type.endswith("64") or type == "double" else 4


def _describe(statement: Statement | None) -> str:
    match statement:
        case None:
            return "A fold"
        case Store():
            return f"The Store to array {statement.array}"
        case Do():
            return f"The Do of {', '.join(statement.assigned)}"
        case For():
            return f"The For of {statement.counter}"
        case Let() | Var() | Set() | Load() | Recall():
            return f"The {type(statement).__name__} of {statement.name}"
        case Keep():
            return f"The Keep of {statement.cache}"
    return f"The {type(statement).__name__}"


class _Checker:
    """Follows the names that statements define, and their types; counters below ``rank`` exist.

    ``types`` has those of all names that ``names`` has, and gets those of the definitions.
    """

    def __init__(
        self,
        program: LoopProgram,
        rank: int,
        names: Iterable[str],
        types: dict[str, str],
        own: set[str] | None = None,
    ) -> None:
        self.arrays: Sequence[Array] = program.arrays
        self.shape, self.rank = program.shape, rank
        self.caches = {cache.name for cache in program.caches}
        self.symbols = program.symbols
        self.scope = Scope({*names, *symbol_names(program)}, own)
        # The last value of loop counters whose end is a number.
        self.last: dict[int | str, int] = {
            dim: size - 1 for dim, size in enumerate(self.shape[:rank]) if isinstance(size, int)
        }
        self.is_guarded = False
        self.types = types
        self.current: Statement | None = None

    def statements(self, statements: Iterable[Statement]) -> None:
        for statement in statements:
            self.current = statement
            _CHECK[type(statement)](self, statement)

    def operand(self, operand: Operand) -> None:
        if isinstance(operand, str):
            self.scope.use(operand)
        elif isinstance(operand, Affine):
            self.position(operand)
        else:
            if _argument_count(operand.template) > len(operand.args):
                raise ProgramError(
                    operand.template,
                    f"template {operand.template!r} has {len(operand.args)} arguments; it needs more, "
                    "or its braces are not doubled",
                )
            for argument in operand.args:
                self.operand(argument)

    def position(self, position: Affine) -> None:
        for counter, factor in position.terms:
            if not isinstance(factor, int):
                _check_listed(factor, self.symbols)
            if isinstance(counter, int):
                if not 0 <= counter < self.rank:
                    raise ProgramError(
                        f"counter {counter}",
                        f"a position uses the counter {counter}; there are {self.rank} here",
                    )
            else:
                self.scope.use(counter)
                type = self.types.get(counter, "literal")
                if type not in _INTEGERS:
                    raise ProgramError(
                        counter,
                        f"{_describe(self.current)} uses {counter}, a {type}, in a position; "
                        "positions are sums of integers",
                    )

    def access(self, number: int, position: Affine, is_masked: bool = False) -> None:
        if not 0 <= number < len(self.arrays):
            raise ProgramError(
                f"array {number}", f"array {number} is accessed; there are {len(self.arrays)}"
            )
        self.position(position)
        size = self.arrays[number].bytes
        if is_masked or self.is_guarded or size is None:
            return
        count = size // self.arrays[number].element.size
        low = high = position.constant
        for counter, factor in position.terms:
            last = self.last.get(counter)
            if last is None or not isinstance(factor, int):
                return  # depends on a value, which the program must have limited
            low += min(0, factor * last)
            high += max(0, factor * last)
        if low < 0 or high >= count:
            raise ProgramError(
                f"array {number}",
                f"array {number} has {count} elements; "
                f"{position.text({})} reaches from {low} to {high}",
            )

    def check_name(self, name: str) -> None:
        _check_name(name)
        if self.symbols and name in [symbol.name for symbol in self.symbols]:
            raise ProgramError(name, f"{name} is a symbol of the program")

    def define(self, name: str, type: str) -> None:
        _check_type(type, name)
        self.check_name(name)
        self.scope.define(name)
        self.types[name] = type

    # -- one function a statement

    def _let(self, s: Let) -> None:
        self.operand(s.value)
        self.define(s.name, s.type)

    def _var(self, s: Var) -> None:
        if s.value is not None:
            self.operand(s.value)
        self.define(s.name, s.type)

    def _set(self, s: Set) -> None:
        self.operand(s.name)
        self.operand(s.value)

    def _do(self, s: Do) -> None:
        self.operand(s.value)
        for name in s.assigned:
            self.operand(name)

    def _load(self, s: Load) -> None:
        if s.mask is not None:
            self.operand(s.mask)
            self.operand(s.other)
        self.access(s.array, s.position, s.mask is not None)
        self.define(s.name, self.arrays[s.array].element.math)

    def _store(self, s: Store) -> None:
        self.operand(s.value)
        self.access(s.array, s.position)
        if not self.arrays[s.array].writable:
            raise ProgramError(f"array {s.array}", f"array {s.array} is stored to but not writable")
        if s.combine not in _COMBINE:
            raise ProgramError(s.combine, f"no atomic update is called {s.combine!r}")

    def _if(self, s: If) -> None:
        self.operand(s.condition)
        self._body(s.body, is_guarded=True)
        self._body(s.orelse, is_guarded=True)

    def _for(self, s: For) -> None:
        self.operand(s.begin)
        self.operand(s.end)
        _check_type(s.type, s.counter)
        self.check_name(s.counter)
        if s.begin == "0" and isinstance(s.end, str) and s.end.isdecimal() and s.end != "0":
            self.last[s.counter] = int(s.end) - 1
        self._body(s.body, self.is_guarded, {s.counter: s.type})

    def _block(self, s: Block) -> None:
        self._body(s.body, self.is_guarded)

    def _body(
        self, body: Sequence[Statement], is_guarded: bool, counters: Mapping[str, str] | None = None
    ) -> None:
        outside = self.is_guarded, self.types
        self.is_guarded, self.types = is_guarded, {**self.types, **(counters or {})}
        with self.scope.nested(counters or ()):
            self.statements(body)
        self.is_guarded, self.types = outside

    def _keep(self, s: Keep) -> None:
        self.operand(s.value)
        self._cache(s.cache)

    def _recall(self, s: Recall) -> None:
        self._cache(s.cache)
        self.define(s.name, s.type)

    def _cache(self, name: str) -> None:
        if name not in self.caches:
            raise ProgramError(name, f"{name} is not one of the program's caches")


_CHECK: dict[type, Callable[[_Checker, Any], None]] = {
    Let: _Checker._let,
    Var: _Checker._var,
    Set: _Checker._set,
    Do: _Checker._do,
    Load: _Checker._load,
    Store: _Checker._store,
    If: _Checker._if,
    For: _Checker._for,
    Block: _Checker._block,
    Keep: _Checker._keep,
    Recall: _Checker._recall,
}
