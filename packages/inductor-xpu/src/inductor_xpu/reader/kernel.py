"""A kernel of Inductor's scheduler, read as a loop program."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import sympy
import torch
from torch._inductor.codegen.common import CSEVariable, is_buffer_removed
from torch._inductor.utils import device_supports_fp64, upcast_compute_type
from torch._inductor.virtualized import V
from torch.utils._sympy.value_ranges import ValueRanges
from xpu_runtime.codegen.elements import Element, element
from xpu_runtime.codegen.kernel import Kernel, module_source
from xpu_runtime.codegen.literals import literal
from xpu_runtime.codegen.program import Fold, Section
from xpu_runtime.codegen.statements import If, Load, Operand, Statement, Store, Term
from xpu_runtime.codegen.tiles import MAX_NARROW
from xpu_runtime.codegen.write import write

from .. import settings
from ..user_lines import current_line
from . import faults
from .assemble import assemble
from .bounds import are_loops_within
from .kernel_call import KernelCall
from .loops import FOLDED, PARALLEL, Dimensions
from .magnitudes import Magnitudes, is_at_most
from .operators import Operators, converted
from .positions import Positions
from .proxy import Proxy
from .reductions import fold
from .symbols import Symbols
from .targets import target_of
from .values import Expression, Statements, Values, element_of


@dataclass
class _Section:
    """A section whose statements are still collected."""

    elements: list[Statement]
    folds: list[Fold]
    row: list[Statement]


class LoopKernel(KernelCall):
    """Collects statements while Inductor runs its loops' bodies; ``codegen_kernel`` writes the program."""

    overrides = Operators
    PLACE_OF_NAME = "NAME_OF_KERNEL"

    def __init__(self, tiling: dict[str, sympy.Expr], **named: Any) -> None:
        super().__init__(tiling, **named)
        self.builder = Statements(
            (lambda: current_line(self.current_node)) if settings.user_lines else None
        )
        self.cse = Values(self.builder)
        self.symbols = Symbols()
        # Of indices that values give, by their names: the sizes of their dimensions.
        self.index_sizes: dict[str, Any] = {}
        self.positions = Positions(
            self.symbols,
            lambda: self.builder,
            lambda: self.index_element.math,
            Magnitudes(self._length),
        )
        self.arrays: dict[str, torch.dtype] = {}
        self.sections: list[Section] = []
        self.open = _Section(self.builder.statements, [], [])
        # Definitions that elements of every later loop may use.
        self.row_definitions: dict[Any, str] = {}
        self.masks: list[Operand] = []
        self.headers: dict[str, None] = {"convert": None}
        self.faults = faults.Faults()
        # Indices in range: those that values gave.
        self.checked: set[str] = set()
        # Stores, each with its buffer. Inductor later removes buffers that no other kernel reads.
        self.stored: dict[int, tuple[Store, str]] = {}
        self.fold_count = itertools.count()

    @cached_property
    def index_element(self) -> Element:
        """The element type of positions: i32 if those of a last tile that ends beyond the loops fit, too."""
        sizes, count = V.graph.sizevars, self.features.numel * self.features.reduction_numel
        if (
            self.features.select_index_dtype() != torch.int32
            or sizes.optimization_hint(count, fallback=1) > MAX_NARROW
        ):
            return element("i64")
        sizes.check_leq(count, MAX_NARROW)
        return element("i32")

    @cached_property
    def compares_for_equality(self) -> bool:
        """Whether a value may be compared with itself as a tensor of 16 bits has it, so that it is rounded.

        The gradient of a maximum finds its place so; without any it divides by their number, zero.
        """
        return any(node._body.has_op("eq") for node in self.features.scheduler_nodes())

    @property
    def has_fp64(self) -> bool:
        """Whether the device computes in f64."""
        return device_supports_fp64(V.graph.get_current_device_or_throw())

    def __enter__(self) -> LoopKernel:
        super().__enter__()
        self.exit_stack.enter_context(V.set_ops_handler(Proxy(self, self.overrides())))
        return self

    def dtype_to_str(self, dtype: torch.dtype) -> str:
        """Return the C++ type of values of a dtype."""
        return element_of(dtype).math

    def codegen_iteration_ranges_entry(self, entry: Any) -> None:
        """Do nothing: loops are known once all positions are."""

    # -- statements

    def array(self, inner: str, dtype: torch.dtype) -> int:
        """Return the number of an array, by Inductor's name of the kernel's argument."""
        self.arrays.setdefault(inner, dtype)
        self.add_header_of(dtype)
        return list(self.arrays).index(inner)

    def add_header_of(self, dtype: torch.dtype) -> None:
        """Include the header of an element type, if it has one."""
        if header := element_of(dtype).header:
            self.headers[header] = None

    def load(self, name: str, index: sympy.Expr) -> CSEVariable:
        """Return the value of an element, or 0 where a mask does not hold."""
        dtype = V.graph.get_dtype(name)
        computed = upcast_compute_type(dtype)
        if V.graph.is_unspec_arg(name):
            if dtype == torch.float64 and not self.has_fp64:
                computed = torch.float32
            scalar = Expression(self.symbols.host_scalar(name, dtype, element_of(computed)))
            return self.cse.generate(None, scalar, dtype=computed)
        array = self.array(self.args.input(name), dtype)
        position = self.positions.affine(self.prepare_indexing(index))
        mask = self.masks[-1] if self.masks else None
        key = ("load", array, position, mask)
        known = self.builder.definitions.get(key)
        if known is None:
            known = self.builder.definitions[key] = self.builder.new_name()
            other = literal(0, element_of(computed)) if mask else ""
            self.builder.add(Load(known, array, position, mask, other))
        return self.cse.variable(known, ValueRanges.unknown(), computed)

    def store(self, name: str, index: sympy.Expr, value: CSEVariable, mode: Any = None) -> None:
        """Store a value, or add it atomically."""
        dtype = V.graph.get_dtype(name)
        array = self.array(self.args.output(name), dtype)
        position = self.positions.affine(self.prepare_indexing(index))
        combine = {None: "", "atomic_add": "add"}.get(mode)
        if combine is None:
            raise NotImplementedError(f"store with mode {mode}")
        if combine:
            self.headers["atomic"] = None
        self._add_store(name, Store(array, position, converted(value, dtype), combine))

    def _add_store(self, name: str, store: Store) -> None:
        self.stored[id(store)] = store, name
        self.builder.note_line(list(self.arrays)[store.array])
        if self.masks:
            self.builder.add(If(self.masks[-1], (store,)))
        else:
            self.builder.add(store)

    def store_reduction(self, name: str, index: sympy.Expr, value: CSEVariable) -> None:
        """Store a value of the row, once its folds are done."""
        elements, self.builder.statements = self.builder.statements, self.open.row
        masks, self.masks = self.masks, []  # which are those of elements
        try:
            super().store_reduction(name, index, value)
        finally:
            self.builder.statements, self.masks = elements, masks

    def reduction(self, dtype: torch.dtype, src_dtype: torch.dtype, kind: Any, value: Any) -> Any:
        """Return the results of a fold, which the row's statements may use."""
        key = src_dtype, kind, value
        if key in self.cse.reduction_cache:
            return self.cse.reduction_cache[key]
        number = next(self.fold_count)
        values = list(value) if isinstance(value, tuple) else [value]
        computed = upcast_compute_type(src_dtype if kind in ("argmax", "argmin") else dtype)
        count = {"welford_reduce": 3, "welford_combine": 3, "online_softmax_reduce": 2}.get(kind, 1)
        names = [f"fold{number}_{part}" for part in range(count)]
        self.builder.note_line(*names)
        position: Operand = ""
        is_in_order = True
        if kind in ("argmax", "argmin"):
            # Inductor computes the position where elements have another order in memory.
            given = values.pop().name if len(values) > 1 else None
            position, is_in_order = (given, False) if given else self._position_along_reduction()
        operands = [converted(v, computed) for v in values]
        self.headers |= dict.fromkeys(("math", "exp", "integer"))
        self.open.folds.append(
            fold(kind, names, element_of(computed), computed, operands, position, is_in_order)
        )
        result_dtype = upcast_compute_type(dtype)
        results = tuple(
            self.cse.variable(name, ValueRanges.unknown(), result_dtype) for name in names
        )
        self.cse.reduction_cache[key] = results if count > 1 else results[0]
        return self.cse.reduction_cache[key]

    def _position_along_reduction(self) -> tuple[Operand, bool]:
        """Return an element's position, and True if one loop counts it."""
        position = sympy.S.Zero
        for tree in self.range_trees:
            if tree.is_reduction:
                position = position * tree.numel + tree.full_range().symbol()
        affine = self.positions.affine(position)
        return self.builder.define("i64", Term("(i64)({0})", (affine,))), len(affine.terms) < 2

    @contextmanager
    def masked(self, mask: Operand) -> Iterator[None]:
        """Let loads of the block touch memory only where the mask holds, too."""
        outside = list(self.masks)
        self.masks.append(self._both(mask))
        try:
            yield
        finally:
            self.masks = outside

    def _both(self, mask: Operand) -> Operand:
        """Return the mask of what also the current one holds for."""
        if not self.masks:
            return mask
        return self.builder.let("bool", "{0} && {1}", self.masks[-1], mask)

    # -- checks, of which the first that fails raises an error at the host's next wait

    def check_bounds(self, expr: sympy.Expr, size: sympy.Expr, lower: bool, upper: bool) -> None:
        """Check an index of loops; the node's further accesses touch nothing where it is out of range."""
        if isinstance(expr, sympy.Symbol) and expr.name in self.checked:
            return
        if are_loops_within(expr, size, self.range_tree_nodes):
            return
        index, end = self.positions.value(self.prepare_indexing(expr))[1], self.size_text(size)
        holds = self.builder.let("bool", "({0}) >= 0 && ({0}) < {1}", index, end)
        self._check(holds, faults.INDEX, index, end)
        self.masks.append(self._both(holds))

    def device_assert_async(self, cond: CSEVariable, msg: str) -> None:
        """Check a value."""
        self._check(cond.name, faults.assertion(msg), "0", "0")

    def _check(self, holds: Operand, fault: faults.Fault, a: Operand, b: Operand) -> None:
        wanted = f"if ({'{2} && ' if self.masks else ''}!({{3}})) "
        text = wanted + f"fault(record, {self.faults.code(fault)}, {{0}}, {{1}});"
        mask = self.masks[-1] if self.masks else "true"
        self.builder.do(text, a, b, mask, holds, assigned=())

    def size_text(self, size: Any) -> str:
        """Return a size as a number, or the name of the argument that has it."""
        size = self.symbols.size(size)
        return str(size) if isinstance(size, int) else size.argument

    def index_type(self, size: Any) -> str:
        """Return the type of indices in range of a dimension: that of positions, or i64 if it is larger.

        A dimension may have more elements than its memory: those of an expanded one are the same.
        """
        is_narrow = self.index_element.math == "i32" and is_at_most(size, MAX_NARROW)
        return "i32" if is_narrow else "i64"

    def _length(self, symbol: sympy.Symbol) -> Any:
        """Return the end of a loop, or of an index that values give; None if it has none."""
        entry = self.range_tree_nodes.get(symbol)
        return self.index_sizes.get(symbol.name) if entry is None else entry.length

    def checked_index(self, var: CSEVariable, size: Any, wrap: bool) -> str:
        """Return the name of an index that a value gives: in range, or 0 after the fault is recorded."""
        index = Term("(i64)({0})", (var.name,))
        arguments: list[Operand] = [index, self.size_text(size)]
        code = self.faults.code(faults.INDEX)
        text = f"checked_{'' if wrap else 'nonnegative_'}index(record, {code}, {{0}}, {{1}})"
        if self.masks:
            text = f"({{2}} ? {text} : 0)"
            arguments.append(self.masks[-1])
        type = self.index_type(size)
        name = self.builder.let(type, f"({type}){text}", *arguments)
        self.checked.add(name)
        self.index_sizes[name] = size
        return name

    @contextmanager
    def set_current_node(self, node: Any) -> Iterator[None]:
        """Let the checks of a node's loops end with it."""
        with super().set_current_node(node):
            yield
        self.masks.clear()

    # -- sections

    def codegen_body(self) -> None:
        """End the loop over elements, or the row's statements behind it, as Inductor enters the other."""
        if self.inside_reduction:
            self._end_elements()
        else:
            self._end_row()

    def _end_elements(self) -> None:
        self.cse.end_loop(self.open.row, dict(self.row_definitions))

    def _end_row(self) -> None:
        done = self.open
        self.row_definitions = dict(self.builder.definitions)
        self.sections.append(Section(done.elements, done.folds, done.row))
        self.open = _Section([], [], [])
        self.cse.end_loop(self.open.elements, dict(self.row_definitions))

    def codegen_kernel(self, name: str | None = None) -> str:
        """Return the source of the kernel, with PLACE_OF_NAME for its name."""
        if self.features.is_reduction():
            self._end_elements()
            self._end_row()
        elif not self.sections:
            self.sections.append(Section(self.open.elements))
        self.written = self._write()
        return module_source([(self.PLACE_OF_NAME, self.written.code)])

    def _write(self) -> Kernel:
        dimensions = Dimensions()
        trees = {tree.prefix: tree for tree in self.range_trees}
        prefixes = [p for p in PARALLEL if p in trees]
        for prefix in prefixes:
            self._add_dimensions(dimensions, trees[prefix])
        if not dimensions.sizes:
            dimensions.sizes.append(1)
        dimensions.parallel = len(dimensions.sizes)
        folded = [p for p in FOLDED if p in trees] if self.features.is_reduction() else []
        for prefix in folded:
            self._add_dimensions(dimensions, trees[prefix])
        target = target_of(V.graph.get_current_device_or_throw())
        removed = {number for number, (_, name) in self.stored.items() if is_buffer_removed(name)}
        program, self.inner_names = assemble(
            self.sections,
            dimensions,
            list(self.arrays.items()),
            self._written_as(),
            removed,
            tuple(self.symbols.of.values()),
            (*self.headers, *self.faults.headers),
            self.index_element.math == "i64",
            self.faults.parameters,
            target,
        )
        return write(replace(program, comments=self._comments()), target)

    def _comments(self) -> dict[str, str]:
        """Return the lines of the user's program, by the names of values and of the program's arrays."""
        lines = self.builder.user_lines
        arrays = {f"x{n}": lines.get(name, "") for n, name in enumerate(self.inner_names)}
        return {**lines, **arrays} if lines else {}

    def _written_as(self) -> dict[str, str]:
        """Return the arguments that are the memory of results, by the arguments that read it."""
        inputs, outputs = self.args.input_buffers, self.args.output_buffers
        pairs = {inputs[buffer]: outputs[buffer] for buffer in inputs.keys() & outputs.keys()}
        return {a: b for a, b in pairs.items() if a in self.arrays and b in self.arrays}

    def _add_dimensions(self, dimensions: Dimensions, tree: Any) -> None:
        entries = [e for e in self.range_tree_nodes.values() if e.root is tree]
        dimensions.add(tree, entries, self.symbols, self.index_element.math)
