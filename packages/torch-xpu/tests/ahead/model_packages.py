"""Packages as inductor-xpu writes them, of files that are given."""

import hashlib
import json
import re
import subprocess
from pathlib import Path

import torch
from torch._inductor.package import package_aoti
from xpu_runtime import ready_kernels

import torch_xpu
from torch_xpu import _bridge
from torch_xpu.torch_version import COMPILED_FOLDER

MANIFEST = "model.wrapper.xpu_package.txt"
MODEL = Path(__file__).parent / "model" / "model.cpp"


def manifest_of(files, form="1", version=torch.__version__, abi=None):
    """Return the text that names the versions and the files, by digest."""
    abi = _bridge.aoti_abi if abi is None else abi
    lines = [f"form {form}", f"torch {version}", f"abi {abi}"]
    lines += [
        f"file {name} {hashlib.sha256(content).hexdigest()}" for name, content in files.items()
    ]
    return "\n".join(lines) + "\n"


def write_package(folder, files, manifest):
    """Write a package into a folder; return its path."""
    folder.mkdir(exist_ok=True)
    contents = dict(files) | {
        "model.wrapper_metadata.json": json.dumps({"AOTI_DEVICE_KEY": "xpu"}).encode()
    }
    if manifest is not None:
        contents[MANIFEST] = manifest.encode()
    for name, content in contents.items():
        (folder / name).write_bytes(content)
    package = folder / "model.pt2"
    return Path(package_aoti(str(package), [str(folder / name) for name in contents]))


def load(package, device=-1):
    """Return the loader of a package's model."""
    return torch._C._aoti.AOTIModelPackageLoader(str(package), "model", False, 1, device)


def model_source():
    """Return the source of the model's kernel."""
    (source,) = re.findall(r'R"\((.*?)\)"', MODEL.read_text(), re.DOTALL)
    return source


def model_files(folder):
    """Compile the model; return its files: the library, and the kernels for this machine."""
    library = folder / "model.wrapper.so"
    ours, theirs = Path(torch_xpu.__file__).parent, Path(torch.__file__).parent
    command = ["c++", "-std=c++20", "-shared", "-fPIC", MODEL, "-o", library]
    command += [f"-I{headers / 'include'}" for headers in (ours, COMPILED_FOLDER)]
    command += ["-isystem", theirs / "include", f"-L{COMPILED_FOLDER / 'lib'}"]
    command += [
        "-ltorch_xpu_device",
        f"-L{theirs / 'lib'}",
        "-ltorch_cpu",
        "-Wl,--allow-shlib-undefined",
    ]
    subprocess.run([*map(str, command)], check=True, timeout=300)
    kernels = folder / "model.kernels"
    ready_kernels.package(kernels, [model_source()])
    return {path.name: path.read_bytes() for path in (library, kernels)}
