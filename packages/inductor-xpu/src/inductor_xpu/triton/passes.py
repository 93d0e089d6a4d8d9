"""Triton's own passes over a kernel's TTIR, before it is translated."""

from __future__ import annotations

from typing import Any


def simplify(module: Any) -> Any:
    """Inline calls, replace tensor pointers and descriptors by addresses, and simplify; return the module."""
    from triton._C.libtriton import ir, passes

    manager = ir.pass_manager(module.context)
    manager.enable_debug()
    passes.common.add_inliner(manager)
    # Triton 3.8 has no tensor pointers.
    if rewrite := getattr(passes.ttir, "add_rewrite_tensor_pointer", None):
        rewrite(manager)
    passes.ttir.add_rewrite_tensor_descriptor_to_pointer(manager)
    passes.common.add_canonicalizer(manager)
    passes.ttir.add_combine(manager)
    passes.ttir.add_reorder_broadcast(manager)
    passes.common.add_cse(manager)
    passes.ttir.add_triton_licm(manager)
    passes.common.add_symbol_dce(manager)
    passes.ttir.add_loop_unroll(manager)
    manager.run(module, "ttir")
    return module
