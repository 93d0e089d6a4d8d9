"""Test the PyTorch adapter in PyTorch's wheel for CUDA, on a machine without CUDA's driver."""

from __future__ import annotations

import nox

from .environments import Environment, preparation_lock
from .packages import PACKAGES, ROOT
from .wheels import build_wheels

# Suites that use the wheel's own devices, accelerator and autograd; operators are the same on both wheels.
SUITES = (
    "test_cuda_wheel.py",
    "test_import.py",
    "test_device.py",
    "memory/test_storage.py",
    "memory/test_memory.py",
    "training/test_autocast.py",
    "test_graph.py",
    "training/test_optimizers.py",
    "aten/test_transforms.py",
)


def run(session: nox.Session) -> None:
    """Install both wheels and run the suites. The wheel for CUDA and its dependencies take 5 GB."""
    environment = Environment("cuda-wheel")
    adapter = next(package for package in PACKAGES if package.wheel == "torch-xpu")
    (torch,) = (line for line in adapter.project["build-system"]["requires"] if "torch==" in line)
    with preparation_lock():
        # Exactly this version: one with a local part, such as +cpu, is another wheel.
        environment.install(session, torch.replace("==", "==="))
        environment.install_wheels(session, build_wheels(session), adapter.group("test"))
    environment.python(session, "-c", "import torch; assert torch.version.cuda, torch.__version__")
    files = (str(adapter.path / "tests" / name) for name in SUITES)
    settings = ("-c", str(ROOT / "pyproject.toml"), f"--rootdir={ROOT}")
    environment.python(session, "-m", "pytest", *settings, *session.posargs, *files)
