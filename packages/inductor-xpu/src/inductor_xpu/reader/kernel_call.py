"""The call of a kernel in the module that Inductor writes."""

from __future__ import annotations

from typing import Any

import torch
from torch._inductor.codegen.common import CSEVariable, PythonPrinter
from torch._inductor.codegen.simd import SIMDKernel
from torch._inductor.virtualized import V
from xpu_runtime.codegen.kernel import Kernel

from .faults import Faults
from .symbols import Symbols


class KernelCall(SIMDKernel[CSEVariable]):
    """Loads and calls the kernel ``written``, whose arrays have Inductor's names ``inner_names``."""

    pexpr = PythonPrinter().doprint
    kexpr = pexpr
    written: Kernel
    inner_names: list[str]
    arrays: dict[str, torch.dtype]
    symbols: Symbols
    faults: Faults

    @property
    def loading(self) -> str:
        """The wrapper's call that loads the kernel, after its name, device and source."""
        count = len(self.symbols.of) + len(self.written.sizes)
        types = "p" * len(self.inner_names) + self.faults.types + "i8" * count
        if not self.symbols.of:
            return f"{types!r}"
        names = tuple(symbol.name for symbol in self.symbols.of.values())
        return f"{types!r}, {self.written.group}, {names!r}, {self.written.division!r}"

    def codegen_nan_check(self) -> None:
        """Write checks that the kernel read and wrote finite numbers (config.nan_asserts)."""
        defined, outer, _, _ = self.args.python_argdefs()
        by_inner = {argument.name: name for argument, name in zip(defined, outer, strict=True)}
        for inner in self.inner_names:
            if self.arrays[inner].is_floating_point or self.arrays[inner].is_complex:
                V.graph.wrapper_code.writeline(_finite_check(by_inner[inner]))

    def call_kernel(self, name: str, node: Any = None, deallocate_ws: bool = True) -> None:
        """Write the call of the kernel into the wrapper: of a Launcher, or with sizes, of a SizedLauncher."""
        wrapper, kernel = V.graph.wrapper_code, self.written
        defined, outer, _, _ = self.args.python_argdefs()
        by_inner = {argument.name: name for argument, name in zip(defined, outer, strict=True)}
        arguments = [by_inner[inner] for inner in self.inner_names]
        if V.graph.cpp_wrapper:
            from ..ahead import kernel_code

            wrapper.writeline(kernel_code.call(name, self, arguments))
            return
        if self.faults.codes:
            arguments.append(f"*{name}_faults")
        if not self.symbols.of:
            launch = [kernel.groups * kernel.group, kernel.group, *arguments, *kernel.sizes]
            wrapper.writeline(f"{name}({', '.join(map(str, launch))})")
            return
        for expr in self.symbols.of:
            for symbol in sorted(expr.free_symbols, key=str):
                wrapper.ensure_size_computed(symbol)
        sizes = "".join(f"{self.pexpr(expr)}, " for expr in self.symbols.of)
        wrapper.writeline(f"{name}(({sizes}), {', '.join(arguments)})")


def _finite_check(array: str) -> str:
    if V.graph.cpp_wrapper:
        call = f'aoti_torch_check_inf_and_nan("{array}", {array})'
        return f"AOTI_TORCH_ERROR_CODE_CHECK({call});"
    return f"assert {array}.isfinite().all().item()"
