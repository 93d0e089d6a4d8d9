"""Environment of the runtime: misspelt variables, and the adapters with the ABI each was built against."""

from __future__ import annotations

import difflib
import sys
from collections.abc import Iterator

from .. import adapters
from .finding import Finding


def check() -> Iterator[Finding]:
    """Yield misspelt variables, then every adapter."""
    from xpu_runtime import env

    known = [variable.name for variable in env.registry()]
    for name in env.unknown():
        near = difflib.get_close_matches(name, known, 1)
        meant = f"; is {near[0]} meant?" if near else ""
        yield Finding(f"variable {name}", "fail", f"nothing reads it{meant}", f"unset {name}")
    found = adapters.installed()
    if not found:
        yield Finding("adapters", "note", "none installed: the runtime serves no framework here")
    for adapter in found:
        yield _adapter(adapter)


def _adapter(adapter: adapters.Adapter) -> Finding:
    import xpu_runtime

    layer = f"adapter {adapter.name}"
    fix = f"{sys.executable} -m pip install --force-reinstall {adapter.wheel} xpu-runtime"
    if adapter.about is None:
        return Finding(layer, "fail", f"does not load: {adapter.error}", fix)
    if "problem" in adapter.about:
        return Finding(layer, "fail", str(adapter.about["problem"]), str(adapter.about["fix"]))
    about = f"{adapter.about.get('version')} for {adapter.about.get('framework')}"
    if "abi" not in adapter.about:
        return Finding(layer, "ok", about)
    abi = adapter.about["abi"]
    if abi != xpu_runtime.abi_version:
        found = (
            f"built against runtime ABI {abi}, but the runtime here has {xpu_runtime.abi_version}"
        )
        return Finding(layer, "fail", found, fix)
    return Finding(layer, "ok", f"{about}, ABI {abi}")
