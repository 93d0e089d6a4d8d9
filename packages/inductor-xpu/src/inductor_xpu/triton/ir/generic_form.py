"""MLIR modules of Triton as text in generic form.

The switch for this form is an option of the whole process, which Triton's bindings do not offer; libtriton
exports the functions behind it. It is on only while a text is made.
"""

from __future__ import annotations

import ctypes
import threading
from functools import cache
from typing import Any

_REGISTER = "_ZN4mlir27registerAsmPrinterCLOptionsEv"
_RESET = "_ZN4llvm2cl25ResetAllOptionOccurrencesEv"
_PARSE = "LLVMParseCommandLineOptions"
_lock = threading.Lock()


def generic_text(module: Any) -> str:
    """Return the text of a module in generic form, with locations.

    Raises RuntimeError if this version of Triton does not export what is needed.
    """
    library = _library()
    with _lock:
        # The parser ends the process on an option that is given twice, so each begins anew.
        library[_RESET]()
        arguments = (ctypes.c_char_p * 2)(b"xpu", b"--mlir-print-op-generic")
        library[_PARSE](2, arguments, b"")
        try:
            return str(module)
        finally:
            library[_RESET]()


@cache
def _library() -> ctypes.CDLL:
    from triton._C import libtriton

    library = ctypes.CDLL(libtriton.__file__)
    missing = [name for name in (_REGISTER, _RESET, _PARSE) if not hasattr(library, name)]
    if missing:
        raise RuntimeError(
            f"triton: libtriton does not export {', '.join(missing)}; install the stock "
            "triton that goes with your torch"
        )
    library[_PARSE].argtypes = [ctypes.c_int, ctypes.c_void_p, ctypes.c_char_p]
    library[_PARSE].restype = None
    library[_RESET].restype = None
    library[_REGISTER]()
    return library
