"""Versions, devices, libraries and variables: send the output with a question."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping
from typing import Any

from .. import printing, system_info

HELP = "versions, devices, libraries, variables"
# Properties that say what a device can do, and the words for them.
FEATURES = {
    "fp64": "fp64",
    "fp16": "fp16",
    "bf16_conversions": "bf16",
    "matrix": "matrix units",
    "atomic64": "64-bit atomics",
    "graph": "SYCL graphs",
    "usm_shared": "shared USM",
    "usm_system": "system USM",
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add ``--json``, which prints all that :func:`collect` returns."""
    parser.add_argument("--json", action="store_true", help="all of it, for programs and reports")


def collect() -> dict[str, Any]:
    """Return all of it; if the devices cannot be listed, ``error`` says why."""
    import xpu_runtime as xr

    about = system_info.software()
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
    """Print the tables; return 1 if the devices cannot be listed. With ``--json`` always return 0."""
    about = collect()
    if options.json:
        printing.print_json(about)
        return 0
    software = {"Python": about["python"], "platform": about["platform"]}
    software |= about["xpu"] | about["vendor"] | about["frameworks"]
    software |= dict(map(describe_adapter, about["adapters"].values()))
    printing.print_table("Software", ("what", "version"), software.items())
    for index, properties in enumerate(about["devices"]):
        title = f"xpu:{index} {properties['name']}"
        printing.print_table(title, ("property", "value"), describe_device(properties))
    if "libraries" in about:
        paths = [(name, path) for name, found in about["libraries"].items() for path in found]
        printing.print_table(
            f"Libraries in the process (runtime ABI {about['abi']})", ("name", "path"), paths
        )
    drivers = [(name, library or "-") for name, library in about["opencl_drivers"].items()]
    printing.print_table("OpenCL drivers", ("named by", "library"), drivers)
    printing.print_table("Render nodes", ("node", "PCI vendor"), about["render_nodes"].items())
    printing.print_table("Variables", ("name", "value"), about["variables"].items())
    if "cache" in about:
        printing.console.print(f"Kernel cache: {about['cache']}", soft_wrap=True)
    if "error" in about:
        printing.console.print(f"{about['error']}\nRun: xpu-sdk doctor")
        return 1
    return 0


def describe_adapter(adapter: Mapping[str, Any]) -> tuple[str, str]:
    """Return an adapter's wheel, and its version with what it adapts or why it cannot be used."""
    if "error" in adapter:
        return adapter["wheel"], f"does not load: {adapter['error']}"
    if "problem" in adapter:
        return adapter["wheel"], f"not in use: {adapter['problem']}"
    text = f"{adapter['version']}, adapter of {adapter['framework']}"
    if "abi" in adapter:
        text += f", runtime ABI {adapter['abi']}"
    return adapter["wheel"], text


def describe_device(properties: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield names and values of what a device is and can do; leave out what the driver does not tell."""
    size = printing.format_bytes
    kind = "GPU" if properties["is_gpu"] else properties["type"].upper()
    yield "type", f"{kind}, {properties['vendor']}"
    yield "backend", f"{properties['backend']} ({properties['platform']}, {properties['version']})"
    yield "driver", properties["driver_version"]
    yield "compute units", ", ".join(_compute_units(properties))
    host = ", shared with the host" if properties["unified_memory"] else ""
    largest = size(properties["max_allocation"])
    yield "memory", f"{size(properties['total_memory'])}{host}; {largest} at most in one allocation"
    if properties["cache_size"]:
        yield "cache", size(properties["cache_size"])
    local = size(properties["local_memory"])
    yield "work-group", f"{properties['max_work_group_size']} work-items, {local} of local memory"
    sizes = ", ".join(map(str, properties["sub_group_sizes"]))
    yield "sub-group", f"{properties['sub_group_size']} work-items (offered: {sizes})"
    yield "supports", ", ".join(word for name, word in FEATURES.items() if properties[name])


def _compute_units(properties: Mapping[str, Any]) -> Iterator[str]:
    """Yield the number of units, and of a GPU those of its parts that the driver tells."""
    yield str(properties["max_compute_units"])
    if properties["is_gpu"]:
        if properties["eu_count"]:
            yield f"{properties['eu_count']} EUs"
        if properties["eu_simd_width"]:
            yield f"SIMD {properties['eu_simd_width']}"
        if properties["hw_threads_per_eu"]:
            yield f"{properties['hw_threads_per_eu']} threads in each EU"
    if properties["max_clock_mhz"]:
        yield f"{properties['max_clock_mhz']} MHz"
