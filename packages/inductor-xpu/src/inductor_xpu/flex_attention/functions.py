"""Score and mask functions as typed statements, which become members of a struct in a kernel's source."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import sympy
import torch
from torch._inductor.codegen.common import CSEVariable
from torch._inductor.codegen.simd_kernel_features import SIMDKernelFeatures
from torch._inductor.utils import upcast_compute_type
from torch._inductor.virtualized import V
from torch.utils._sympy.value_ranges import ValueRanges
from xpu_runtime.codegen.check import check
from xpu_runtime.codegen.elements import Element, element
from xpu_runtime.codegen.program import Array, LoopProgram, Section
from xpu_runtime.codegen.render import HOLE, Renderer
from xpu_runtime.codegen.scope import Scope
from xpu_runtime.codegen.statements import Let, Statement
from xpu_runtime.codegen.tiles import MAX_NARROW

from ..reader.kernel import LoopKernel
from ..reader.magnitudes import is_at_most
from ..reader.operators import converted, unwrap
from ..reader.proxy import Proxy
from ..reader.targets import target_of
from ..reader.values import Statements, Values, element_of

# The positions that a function gets, in the order of its arguments.
POSITIONS = ("b", "h", "q", "k")
# Whether the lane has a query and a key that the mask shows: only there an index out of range is a fault.
VALID = "valid"


@dataclass(frozen=True)
class Function:
    """A function with its parameters as C++ declarations; ``result`` has the type ``type``."""

    name: str
    type: str
    parameters: tuple[str, ...]
    statements: tuple[Statement, ...]


class FunctionReader(LoopKernel):
    """Reads functions of one query and one key, of which all lanes compute their own.

    ``extents`` are the ends of positions. Arrays, symbols and faults are those of all functions of a kernel.
    """

    def __init__(
        self, device: torch.device, extents: Sequence[Any], captured: Sequence[Any]
    ) -> None:
        features = SIMDKernelFeatures([], sympy.S.One)
        super().__init__({"x": sympy.S.One}, features=features)
        self.device = device
        self.extents = dict(zip(POSITIONS, extents, strict=True))
        self.captured = captured
        self.inputs: dict[str, CSEVariable] = {}
        self.functions: list[Function] = []

    @cached_property
    def index_element(self) -> Element:
        """The element type of positions: i32 if those of all captured tensors fit."""
        sizes = [tensor.get_layout().storage_size() for tensor in self.captured]
        fits = all(is_at_most(size, MAX_NARROW) for size in (*sizes, *self.extents.values()))
        return element("i32" if fits else "i64")

    def __enter__(self) -> FunctionReader:
        super().__enter__()
        self.exit_stack.enter_context(V.set_ops_handler(_Proxy(self, self.overrides())))
        return self

    def read(
        self,
        name: str,
        inputs: Mapping[str, torch.dtype],
        result: torch.dtype,
        body: Callable[[], Any],
    ) -> None:
        """Read a function: what ``body`` makes of the inputs, placeholders of these names."""
        self.builder = Statements(None)
        self.cse = Values(self.builder)
        self.inputs = {
            name: self.cse.variable(name, ValueRanges.unknown(), upcast_compute_type(dtype))
            for name, dtype in inputs.items()
        }
        value = converted(body(), result)
        type = element_of(upcast_compute_type(result)).math
        self.builder.add(Let("result", type, value))
        parameters = (
            *(f"{element_of(v.dtype).math} {name}" for name, v in self.inputs.items()),
            f"bool {VALID}",
        )
        self.functions.append(Function(name, type, parameters, tuple(self.builder.statements)))

    def load(self, name: str, index: sympy.Expr) -> CSEVariable:
        """Return an input, or an element of a captured tensor."""
        return self.inputs[name] if name in self.inputs else super().load(name, index)

    def add(self, store: Callable[[], Any]) -> None:
        """Add to an element of a gradient where the lane is valid; ``store`` calls the operator."""
        self.masks.append(VALID)
        store()
        self.masks.pop()

    def is_position_within(self, var: CSEVariable, size: Any) -> bool:
        """Return True if a value is a position of the function's, which is in range of a dimension."""
        extent = self.extents.get(var.name)
        return extent is not None and V.graph.sizevars.statically_known_leq(extent, size)

    def checked_index(self, var: CSEVariable, size: Any, wrap: bool) -> str:
        """Return the name of an index that is in range; where the lane is not valid, it is 0."""
        self.masks.append(self._both(VALID))
        try:
            return super().checked_index(var, size, wrap)
        finally:
            self.masks.pop()

    # -- what is written

    def buffers(self) -> list[str]:
        """Return the names of the tensors that the functions use, in the order of the arrays."""
        args = self.args
        names = {inner: name for name, inner in args.input_buffers.items()}
        names |= {inner: name for name, inner in args.output_buffers.items()}
        return [names[inner] for inner in self.arrays]

    def program_arrays(self) -> list[Array]:
        """Return the arrays x0, x1, …."""
        outputs = set(self.args.output_buffers.values())
        return [
            Array(element_of(dtype), None, inner in outputs) for inner, dtype in self.arrays.items()
        ]

    def members(self) -> list[str]:
        """Return the struct's members: the functions, and what they use."""
        index = self.index_element.math
        declarations = [
            declaration(f"x{n}", array) for n, array in enumerate(self.program_arrays())
        ]
        declarations += self.faults.parameters
        declarations += [f"{index} {symbol}" for symbol in self.symbols.of.values()]
        lines = [f"{text};" for text in declarations]
        for function in self.functions:
            lines += self._lines(function)
        return lines

    def _lines(self, function: Function) -> list[str]:
        arrays, symbols = self.program_arrays(), tuple(self.symbols.of.values())
        parameters = (*function.parameters, *self.faults.parameters)
        program = LoopProgram(
            arrays,
            (1,),
            1,
            [Section(function.statements)],
            parameters=parameters,
            symbols=symbols,
            wide=self.index_element.math == "i64",
        )
        check(program, target_of(self.device))
        renderer = Renderer(arrays, lambda position: position, scope=Scope.of(program))
        body = [line.replace(HOLE, "") for line in renderer.lines(function.statements)]
        head = f"XPU_FN {function.type} {function.name}({', '.join(function.parameters)}) const {{"
        return [head, *(f"  {line}" for line in body), "  return result;", "}"]


def declaration(name: str, array: Array) -> str:
    """Return the declaration of an array."""
    return f"global<{'' if array.writable else 'const '}{array.element.stored}> {name}"


class _Proxy(Proxy):
    """Positions in range of a dimension need no check."""

    def indirect_indexing(
        self, var: CSEVariable, size: Any, check: bool = True, wrap_neg: bool = True
    ) -> sympy.Symbol:
        """Return a value as an index."""
        if self.kernel.is_position_within(unwrap(var), size):
            check = wrap_neg = False
        return super().indirect_indexing(var, size, check, wrap_neg)
