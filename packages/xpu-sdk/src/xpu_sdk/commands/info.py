"""Versions, libraries, devices and variables: what to send with a question."""

from __future__ import annotations

import argparse
from typing import Any

from .. import facts, show

HELP = "versions, libraries, devices, variables"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="for programs")


def collect() -> dict[str, Any]:
    """All of it; what fails is said in its place."""
    import xpu_runtime as xr

    about = facts.software()
    try:
        about["devices"] = [device.properties() for device in xr.devices()]
        about["abi"] = xr.abi_version
        about["libraries"] = xr.library_paths()
        about["cache"] = str(xr.cache.folder() or "off")
        if not about["devices"]:
            about["error"] = "no device was found"
    except (ImportError, xr.Error) as error:
        about["devices"] = []
        about["error"] = f"{type(error).__name__}: {error}"
    return about


def run(options: argparse.Namespace) -> int:
    about = collect()
    if options.json:
        show.as_json(about)
        return 0
    software = {"python": about["python"], "platform": about["platform"]}
    software |= about["xpu"] | about["vendor"] | about["frameworks"]
    software |= {f"adapter {name}": text for name, text in about["adapters"].items()}
    show.table("Software", ("what", "version"), software.items())
    if "libraries" in about:
        paths = [(name, path) for name, found in about["libraries"].items() for path in found]
        show.table(
            f"Libraries in the process (runtime ABI {about['abi']})", ("name", "path"), paths
        )
    drivers = [(name, library or "-") for name, library in about["opencl_drivers"].items()]
    show.table("OpenCL drivers", ("named by", "library"), drivers)
    show.table("Render nodes", ("node", "PCI vendor"), about["render_nodes"].items())
    for index, properties in enumerate(about["devices"]):
        show.table(f"xpu:{index} {properties['name']}", ("property", "value"), properties.items())
    show.table("Variables", ("name", "value"), about["variables"].items())
    if "cache" in about:
        show.console.print(f"Kernel cache: {about['cache']}")
    if "error" in about:
        show.console.print(f"{about['error']}\nRun: xpu-sdk doctor")
        return 1
    return 0
