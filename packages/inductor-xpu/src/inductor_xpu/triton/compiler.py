"""Triton's compiler for xpu: passes over TTIR, then a SYCL kernel. Imported by ``import triton``.

Triton looks for one class in this module that derives from its base class, and imports it also for users of
other devices: nothing here imports torch or the runtime's library, before a kernel of xpu is compiled.
"""

from __future__ import annotations

from types import ModuleType
from typing import Any

from triton.backends.compiler import BaseBackend, GPUTarget

from .options import Options, parse
from .target import BACKEND, target_of

# Sums and products are rounded one by one, also where the device has an instruction for both.
_UNFUSED = "#pragma clang fp contract(off)\n"


class XpuBackend(BaseBackend):
    """Compiles Triton's kernels to SYCL source, which the driver builds where the device is."""

    binary_ext = "sycl"

    @staticmethod
    def supports_target(target: GPUTarget) -> bool:
        """Return True for a description of an xpu device."""
        return bool(target.backend == BACKEND)

    def hash(self) -> str:
        """Return what kernels depend on besides their source and options, for Triton's cache."""
        from .cache_key import digest

        return digest(target_of(self.target.arch))

    def parse_options(self, options: dict[str, Any]) -> Options:
        """Return the options of a launch."""
        from triton import knobs

        # Inductor passes no mode of instrumentation.
        defaults = {
            "enable_fp_fusion": knobs.language.default_fp_fusion,
            "instrumentation_mode": knobs.compilation.instrumentation_mode,
        }
        return parse({**defaults, **options})

    def get_codegen_implementation(self, options: Options) -> dict[str, Any]:
        """Return what Triton's frontend asks of a backend: any size may be multiplied."""
        return {"min_dot_size": lambda left, right: (1, 1, 1)}

    def get_module_map(self) -> dict[str, ModuleType]:
        """Return the functions behind ``triton.language.extra.libdevice``."""
        from .libdevice_stubs import stubs

        return {"triton.language.extra.libdevice": stubs()}

    def load_dialects(self, context: Any) -> None:
        """Load no dialect: those of Triton suffice."""

    def pack_metadata(self, metadata: Any) -> tuple[()]:
        """Return what launches get of a kernel's metadata: nothing."""
        return ()

    def add_stages(self, stages: dict[str, Any], options: Options, language: Any = None) -> None:
        """Add the two stages: TTIR without tensor pointers and descriptors, and the SYCL source."""
        from triton.backends.compiler import Language

        from .passes import simplify

        if language is Language.GLUON:
            raise NotImplementedError("gluon: xpu compiles kernels of @triton.jit alone")
        stages["ttir"] = lambda module, metadata: simplify(module)
        stages[self.binary_ext] = lambda module, metadata: self._sycl(module, metadata, options)

    def _sycl(self, module: Any, metadata: dict[str, Any], options: Options) -> bytes:
        from .errors import UnsupportedKernelError
        from .ir.generic_form import generic_text
        from .translate import translate
        from .user_lines import in_users_file

        target = target_of(self.target.arch)
        try:
            translation = translate(generic_text(module), target, options.num_warps)
        except UnsupportedKernelError as error:
            raise in_users_file(error) from None
        metadata.update(
            name=translation.name,
            num_warps=translation.group // target.lanes,
            # Triton 3.9 reads it here; earlier versions ask the target.
            warp_size=self.target.warp_size,
            shared=translation.local_bytes,
            group=translation.group,
            types=translation.types,
            faults=translation.faults,
            # What Inductor reads; kernels of xpu use no memory besides their arguments.
            global_scratch_size=0,
            global_scratch_align=1,
            profile_scratch_size=0,
            profile_scratch_align=1,
        )
        prefix = "" if options.enable_fp_fusion else _UNFUSED
        return (prefix + translation.source).encode()


# A later version of Triton may have more abstract methods. Triton must still be importable with it, for other
# devices; the driver then says which version xpu supports.
XpuBackend.__abstractmethods__ = frozenset()
