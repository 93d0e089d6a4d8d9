"""A call of a kernel of flex attention among the operations of Inductor's graph."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from torch._inductor import ir
from torch._inductor.virtualized import V
from torch.utils._ordered_set import OrderedSet
from xpu_runtime.codegen.comments import without_comments

from ..builds import start_build
from ..reader.kernel_call import KernelCall
from .problem import Problem
from .source import device_source


class FlexKernel(ir.ExternKernel):
    """Runs the kernel of a problem, which reads ``inputs`` and writes ``outputs``, its tensors.

    Its functions read ``captured`` and add to ``added``.
    """

    def __init__(
        self,
        problem: Problem,
        inputs: Sequence[Any],
        outputs: Sequence[Any],
        captured: Sequence[Any],
        added: Sequence[Any] = (),
    ) -> None:
        every = (*inputs, *outputs, *captured, *added)
        tensors = [self.unwrap_storage_for_input(x) for x in every]
        self.device = problem.device
        exprs = (*problem.grid, *problem.reader.symbols.of)
        super().__init__(None, ir.NoneLayout(device=self.device), tensors, exprs)
        self.problem = problem
        self.mutation_outputs = [
            ir.MutationOutput(ir.NoneLayout(device=self.device), changed, self)
            for changed in (*outputs, *added)
        ]
        # Kernels build while Inductor compiles the rest of the graph.
        self.name_of_kernel, self.source = problem.source()
        self.build = start_build(
            self.name_of_kernel, self.device.index, device_source() + self.source
        )
        V.graph.register_operation(self)

    def get_outputs(self) -> list[ir.Buffer]:
        """Return the changes of tensors."""
        return list(self.mutation_outputs)

    def get_device(self) -> Any:
        """Return the device."""
        return self.device

    def get_unbacked_symbol_defs(self) -> Any:
        """Return no symbols: the kernel gives the host nothing."""
        return OrderedSet()

    def should_allocate(self) -> bool:
        """Return False: outputs are allocated before."""
        return False

    def codegen(self, wrapper: Any) -> None:
        """Write the kernel's definition, once for equal kernels, and its call."""
        problem, index, name = self.problem, self.device.index, self.name_of_kernel
        definition = f"{without_comments(self.source)}{problem.types}{problem.reader.faults.codes}"
        if definition not in wrapper.src_to_kernel:
            wrapper.src_to_kernel[definition] = name
            wrapper.add_import_once("from inductor_xpu.loader import *")
            wrapper.add_import_once("from inductor_xpu.flex_attention.source import device_source")
            source = f"device_source() + '''{self.source}'''"
            wrapper.define_kernel(
                name, f"load_kernel({name!r}, {index}, {source}, {problem.types!r})", gpu=False
            )
            if problem.reader.faults.codes:
                said = tuple(tuple(fault) for fault in problem.reader.faults.codes)
                wrapper.define_kernel(
                    f"{name}_faults", f"load_faults({index}, {said!r})", gpu=False
                )
        for expr in (*problem.grid, *problem.reader.symbols.of):
            for symbol in sorted(expr.free_symbols, key=str):
                wrapper.ensure_size_computed(symbol)
        printed = KernelCall.pexpr
        batches, heads, tiles = map(printed, problem.grid)
        arguments = [x.codegen_reference() for x in self.inputs[: len(problem.tensors)]]
        arguments += problem.reader.buffers()
        if problem.reader.faults.codes:
            arguments.append(f"*{name}_faults")
        arguments += [printed(expr) for expr in problem.reader.symbols.of]
        items = problem.items
        wrapper.writeline(
            f"{name}(({batches}, {heads}, ({tiles}) * {items}), (1, 1, {items}), {', '.join(arguments)})"
        )
