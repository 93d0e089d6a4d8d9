"""Write the code of loop programs: equal kernels once, in modules."""

from __future__ import annotations

from xpu_runtime.codegen import kernel as codegen_kernel
from xpu_runtime.codegen.kernel import Code, Kernel
from xpu_runtime.codegen.program import LoopProgram
from xpu_runtime.codegen.share import share_codes
from xpu_runtime.codegen.target import Target
from xpu_runtime.codegen.write import write

from .pending_kernel import PendingKernel

# Kernels per module: most of a compilation's cost does not depend on their number.
MODULE_KERNELS = 8


class Kernels:
    """The kernel ``of`` each pending kernel; ``sources`` are the modules, whose number a source has."""

    def __init__(self, programs: dict[PendingKernel, LoopProgram], target: Target) -> None:
        written: dict[PendingKernel, Kernel] = {}
        for step, program in programs.items():
            kernel = written[step] = write(program, target)
            step.in_place = [step.arguments[number] for number in kernel.in_place]
        self.of = share_codes(written)
        self.names: dict[Code, str] = {}
        for kernel in self.of.values():
            self.names.setdefault(kernel.code, f"fused_{len(self.names)}")
        complex = {
            self.of[k].code for k, program in programs.items() if "complex" in program.headers
        }
        self.modules: dict[Code, str] = {}  # the source of each code's module
        for kind in (False, True):
            codes = [code for code in self.names if (code in complex) == kind]
            for begin in range(0, len(codes), MODULE_KERNELS):
                group = codes[begin : begin + MODULE_KERNELS]
                source = codegen_kernel.module_source([(self.names[code], code) for code in group])
                self.modules |= dict.fromkeys(group, source)
        self.sources = list(dict.fromkeys(self.modules.values()))
        self.numbers = {source: number for number, source in enumerate(self.sources)}
