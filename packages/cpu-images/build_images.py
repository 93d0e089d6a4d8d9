"""The build's step that makes images.ready, with the xpu-runtime and the driver of the build environment."""

from __future__ import annotations

import hashlib
import importlib.util
import os
import subprocess
import sys
import sysconfig
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

# Bytes of the vector registers, and the driver's name of the least CPU that has them.
TARGETS = {32: "core-avx2", 64: "skx"}
FOLDER = Path(__file__).parent


def environment(target: str) -> dict[str, str]:
    """Return the variables that make the driver compile for `target`, on the CPU device, uncached."""
    others = {name: value for name, value in os.environ.items() if not name.startswith("XPU_")}
    chosen = {"ONEAPI_DEVICE_SELECTOR": "opencl:cpu", "CL_CONFIG_CPU_TARGET_ARCH": target}
    return others | chosen | {"XPU_CACHE_SIZE": "0"}


def images_file() -> Path:
    """Return the file for the kernels of the installed xpu-runtime, which all clones of a user share."""
    (package,) = importlib.util.find_spec("xpu_runtime").submodule_search_locations
    kernels = (Path(package) / "kernels.ready").read_bytes()
    home = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return home / "xpu-sdk" / f"images-{hashlib.sha256(kernels).hexdigest()[:16]}.ready"


def write_none(file: Path) -> None:
    """Write a file without images."""
    command = "import pathlib, sys; from xpu_runtime import pack_file; "
    command += "pack_file.write(pathlib.Path(sys.argv[1]), [])"
    subprocess.run([sys.executable, "-c", command, str(file)], check=True)


def build(file: Path) -> None:
    """Write the images for all targets. What the file has is kept, so that only what it lacks is built."""
    for vector_bytes, target in TARGETS.items():
        command = [sys.executable, str(FOLDER / "images.py"), str(vector_bytes), str(file)]
        subprocess.run(command, env=environment(target), check=True)


class BuildImages(BuildHookInterface):  # type: ignore[type-arg]
    """Adds the images to the wheel."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Build them, and mark the wheel as one for this machine's platform.

        ``CPU_IMAGES=0`` makes a wheel without images, for builds that would not save their time.
        """
        file = images_file()
        file.parent.mkdir(parents=True, exist_ok=True)
        if os.environ.get("CPU_IMAGES") == "0":
            file = file.with_name("no_images.ready")
            write_none(file)
        else:
            build(file)
        platform = sysconfig.get_platform().replace("-", "_").replace(".", "_")
        build_data["tag"] = f"py3-none-{platform}"
        build_data["force_include"][str(file)] = "xpu_cpu_images/images.ready"
