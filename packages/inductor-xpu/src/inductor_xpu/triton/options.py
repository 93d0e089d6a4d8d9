"""Options of a kernel's compilation: those of other backends too, so that kernels need no change."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any


@dataclass(frozen=True)
class Options:
    """What a launch or a configuration of autotuning may set, and what Triton's frontend reads.

    ``num_warps`` is the number of sub-groups on a GPU. The CPU device runs a program in one sub-group, and no
    device pipelines loops: ``num_stages``, ``maxnreg`` and ``grf_mode`` change nothing.
    """

    num_warps: int = 4
    num_ctas: int = 1
    num_stages: int = 3
    maxnreg: int | None = None
    enable_fp_fusion: bool = True
    launch_cooperative_grid: bool = False
    launch_pdl: bool = False
    ir_override: str | None = None
    supported_fp8_dtypes: tuple[str, ...] = ("fp8e4nv", "fp8e5")
    deprecated_fp8_dot_operand_dtypes: tuple[str, ...] = ()
    default_dot_input_precision: str = "ieee"
    allowed_dot_input_precisions: tuple[str, ...] = ("ieee", "tf32", "tf32x3", "bf16x3", "bf16x6")
    max_num_imprecise_acc_default: int = 0
    extern_libs: tuple[tuple[str, str], ...] = ()
    debug: bool = False
    sanitize_overflow: bool = True
    arch: str | None = None
    backend_name: str = "xpu"
    instrumentation_mode: str = ""
    # Triton 3.9 passes it with every launch, for its sanitizer of floats.
    fpsan_homomorphic_casts: bool = False
    # Options of Intel's fork, which kernels set where they find an xpu.
    grf_mode: str = "default"
    generate_native_code: bool = False

    def __post_init__(self) -> None:
        if self.num_warps < 1 or self.num_warps & (self.num_warps - 1):
            raise ValueError(f"num_warps must be a power of 2; got {self.num_warps}")
        if self.num_ctas != 1:
            raise ValueError(
                f"num_ctas: got {self.num_ctas}; xpu has no clusters of programs, so it must be 1"
            )
        if self.launch_cooperative_grid:
            raise ValueError(
                "launch_cooperative_grid: programs of xpu cannot wait for each other, so a kernel that "
                "needs all of them at once would never end; split it into two kernels"
            )
        if self.instrumentation_mode:
            raise ValueError(
                f"instrumentation_mode: got {self.instrumentation_mode!r}; xpu has no sanitizer and no "
                "instrumentation of kernels, so TRITON_INSTRUMENTATION_MODE and "
                "triton.knobs.compilation.instrumentation_mode must be empty"
            )

    def hash(self) -> str:
        """Return a digest for the keys of Triton's cache."""
        text = repr(sorted(vars(self).items()))
        return hashlib.sha256(text.encode()).hexdigest()


def parse(options: Mapping[str, Any]) -> Options:
    """Return the options among those given; None and names of other backends are left out."""
    known = {field.name for field in fields(Options)}
    return Options(**{k: v for k, v in options.items() if k in known and v is not None})
