"""A kernel of Inductor's scheduler, read as a loop program."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import sympy
import torch
from torch._inductor.codegen.common import CSEProxy, CSEVariable, PythonPrinter, is_buffer_removed
from torch._inductor.codegen.simd import SIMDKernel
from torch._inductor.utils import upcast_compute_type
from torch._inductor.virtualized import V
from torch.utils._sympy.value_ranges import ValueRanges
from xpu_runtime.codegen.elements import element
from xpu_runtime.codegen.kernel import Kernel, module_source
from xpu_runtime.codegen.literals import literal
from xpu_runtime.codegen.program import Fold, Section
from xpu_runtime.codegen.statements import Load, Operand, Statement, Store, Term
from xpu_runtime.codegen.write import write

from .assemble import assemble
from .loops import FOLDED, PARALLEL, Dimensions
from .operators import Operators, converted
from .positions import Positions
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


class LoopKernel(SIMDKernel[CSEVariable]):
    """Collects statements while Inductor runs the bodies of its loops; ``codegen_kernel`` writes the program."""

    overrides = Operators
    pexpr = PythonPrinter().doprint
    kexpr = pexpr
    PLACE_OF_NAME = "NAME_OF_KERNEL"

    def __init__(self, tiling: dict[str, sympy.Expr], **named: Any) -> None:
        super().__init__(tiling, **named)
        self.builder = Statements()
        self.cse = Values(self.builder)
        self.symbols = Symbols()
        self.positions = Positions(
            self.symbols, lambda: self.builder, lambda: self.index_element.math
        )
        self.arrays: dict[str, torch.dtype] = {}
        self.sections: list[Section] = []
        self.open = _Section(self.builder.statements, [], [])
        # Definitions that elements of every later loop may use.
        self.row_definitions: dict[Any, str] = {}
        self.masks: list[Operand] = []
        self.headers: dict[str, None] = {"convert": None}
        # The buffers of stores, which Inductor may remove when all kernels that read them are known.
        self.stored: dict[int, tuple[Store, str]] = {}
        self.fold_count = itertools.count()

    @property
    def index_element(self) -> Any:
        """The element type of positions."""
        return element("i64" if self.features.select_index_dtype() == "tl.int64" else "i32")

    def __enter__(self) -> LoopKernel:
        super().__enter__()
        self.exit_stack.enter_context(V.set_ops_handler(_Proxy(self, self.overrides())))
        return self

    def dtype_to_str(self, dtype: torch.dtype) -> str:
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
        dtype = V.graph.get_dtype(name)
        computed = upcast_compute_type(dtype)
        if V.graph.is_unspec_arg(name):
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
        self.builder.add(store)
        self.stored[id(store)] = store, name

    def store_reduction(self, name: str, index: sympy.Expr, value: CSEVariable) -> None:
        elements, self.builder.statements = self.builder.statements, self.open.row
        inside, self.inside_reduction = self.inside_reduction, False
        try:
            self.store(name, index, value)
        finally:
            self.builder.statements, self.inside_reduction = elements, inside

    def reduction(self, dtype: torch.dtype, src_dtype: torch.dtype, kind: Any, value: Any) -> Any:
        key = src_dtype, kind, value
        if key in self.cse.reduction_cache:
            return self.cse.reduction_cache[key]
        number = next(self.fold_count)
        values = value if isinstance(value, tuple) else (value,)
        computed = upcast_compute_type(src_dtype if kind in ("argmax", "argmin") else dtype)
        count = {"welford_reduce": 3, "welford_combine": 3, "online_softmax_reduce": 2}.get(kind, 1)
        names = [f"fold{number}_{part}" for part in range(count)]
        operands = [converted(v, computed) for v in values]
        position = self._position_along_reduction() if kind in ("argmax", "argmin") else ""
        self.headers |= dict.fromkeys(("math", "exp", "integer"))
        self.open.folds.append(
            fold(kind, names, element_of(computed), computed, operands, position)
        )
        result_dtype = upcast_compute_type(dtype)
        results = tuple(
            self.cse.variable(name, ValueRanges.unknown(), result_dtype) for name in names
        )
        self.cse.reduction_cache[key] = results if count > 1 else results[0]
        return self.cse.reduction_cache[key]

    def _position_along_reduction(self) -> Operand:
        position = sympy.S.Zero
        for tree in self.range_trees:
            if tree.is_reduction:
                position = position * tree.numel + tree.full_range().symbol()
        return self.builder.define("i64", Term("(i64)({0})", (self.positions.affine(position),)))

    @contextmanager
    def masked(self, mask: Operand) -> Iterator[None]:
        """Let loads of the block touch memory only where the mask holds, too."""
        if self.masks:
            mask = self.builder.let("bool", "{0} && {1}", self.masks[-1], mask)
        self.masks.append(mask)
        try:
            yield
        finally:
            self.masks.pop()

    def check_bounds(self, expr: sympy.Expr, size: sympy.Expr, lower: bool, upper: bool) -> None:
        """Do nothing: the check is a part of the index (see _Proxy)."""

    def device_assert_async(self, cond: CSEVariable, msg: str) -> None:
        raise NotImplementedError("assertions of values")

    # -- sections

    def codegen_body(self) -> None:
        """End the loop over elements, or the statements of the row behind it, as Inductor enters the other."""
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
        removed = {number for number, (_, name) in self.stored.items() if is_buffer_removed(name)}
        program, self.inner_names = assemble(
            self.sections,
            dimensions,
            list(self.arrays.items()),
            removed,
            tuple(self.symbols.of.values()),
            tuple(self.headers),
            self.index_element.math == "i64",
        )
        return write(program, target_of(V.graph.get_current_device_or_throw()))

    def _add_dimensions(self, dimensions: Dimensions, tree: Any) -> None:
        entries = [e for e in self.range_tree_nodes.values() if e.root is tree]
        dimensions.add(tree, entries, self.symbols, self.index_element.math)

    # -- the launch

    @property
    def loading(self) -> str:
        """The wrapper's call that loads the kernel, after its name, device and source."""
        count = len(self.symbols.of) + len(self.written.sizes)
        types = "p" * len(self.inner_names) + "i8" * count
        if not self.symbols.of:
            return f"{types!r}"
        names = tuple(symbol.name for symbol in self.symbols.of.values())
        return f"{types!r}, {self.written.group}, {names!r}, {self.written.division!r}"

    def call_kernel(self, name: str, node: Any = None, deallocate_ws: bool = True) -> None:
        """Write the call of the kernel into the wrapper: of a Launcher, or with sizes, of a SizedLauncher."""
        wrapper, kernel = V.graph.wrapper_code, self.written
        defined, outer, _, _ = self.args.python_argdefs()
        by_inner = {argument.name: name for argument, name in zip(defined, outer, strict=True)}
        arguments = [by_inner[inner] for inner in self.inner_names]
        if not self.symbols.of:
            launch = [kernel.groups * kernel.group, kernel.group, *arguments, *kernel.sizes]
            wrapper.writeline(f"{name}({', '.join(map(str, launch))})")
            return
        for expr in self.symbols.of:
            for symbol in sorted(expr.free_symbols, key=str):
                wrapper.ensure_size_computed(symbol)
        sizes = "".join(f"{self.pexpr(expr)}, " for expr in self.symbols.of)
        wrapper.writeline(f"{name}(({sizes}), {', '.join(arguments)})")


class _Proxy(CSEProxy):
    """Inductor's proxy; indices that values give are checked and wrapped by the device library."""

    def indirect_indexing(
        self, var: CSEVariable, size: Any, check: bool = True, wrap_neg: bool = True
    ) -> sympy.Symbol:
        kernel, builder = self.kernel, self.kernel.builder
        size = kernel.symbols.size(size)
        size = str(size) if isinstance(size, int) else size.name
        type = kernel.index_element.math
        index = Term(f"({type})({{0}})", (var.name,))
        if wrap_neg and not var.bounds.lower >= 0:
            index = Term("({0} < 0 ? {0} + {1} : {0})", (index, size))
        return sympy.Symbol(builder.define(type, index), integer=True)
