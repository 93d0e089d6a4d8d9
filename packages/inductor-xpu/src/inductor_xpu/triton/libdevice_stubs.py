"""The module behind ``triton.language.extra.libdevice``: Triton's functions, with CUDA's types."""

from __future__ import annotations

from functools import cache
from types import ModuleType
from typing import Any


@cache
def stubs() -> ModuleType:
    """Return the functions; the symbols that they put into TTIR are those of libdevice.find()."""
    from triton.language import core
    from triton.language.extra.cuda import libdevice

    @core.extern  # type: ignore[untyped-decorator]
    def fast_tanhf(arg0: Any, _semantic: Any = None) -> Any:
        single = core.dtype("fp32")
        symbols = {(single,): ("__nv_fast_tanhf", single)}
        return core.extern_elementwise("", "", [arg0], symbols, is_pure=True, _semantic=_semantic)

    module = ModuleType("inductor_xpu.triton.libdevice_functions")
    vars(module).update({k: v for k, v in vars(libdevice).items() if not k.startswith("__")})
    vars(module)["fast_tanhf"] = fast_tanhf
    return module
