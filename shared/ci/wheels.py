"""Build each package's wheel into dist/, but only if its sources changed."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import sysconfig
from collections.abc import Iterable, Sequence
from enum import IntEnum
from pathlib import Path

import nox

from . import manylinux, torch_wheels
from .environments import Environment
from .interpreters import OWN, Interpreter
from .packages import PACKAGES, ROOT, SHARED_PACKAGES, Package

DIST = OWN.dist
# The time of all files in archives, so that two builds are equal: 1980, the earliest that zip knows.
SOURCE_DATE = "315532800"


class Kernels(IntEnum):
    """Which kernels are built ahead. A wheel with more of them serves as well."""

    #: SPIR-V of a few common calls: to build their images takes longer than they save a demo.
    SPIRV = 0
    #: Their images, too, so that the tests have some.
    IMAGES = 1
    #: SPIR-V and images of all sample programs.
    RELEASE = 2


# What each kind is for these wheels; the others have no kernels.
WITH_KERNELS = {
    "xpu-runtime": (Kernels.SPIRV, Kernels.SPIRV, Kernels.RELEASE),
    "xpu-cpu-images": (Kernels.SPIRV, Kernels.IMAGES, Kernels.RELEASE),
}

# Memory of one compiler with the largest batch of files, and a part of the system's.
BYTES_OF_A_JOB = 2_500_000_000

# Wheels that bring headers and libraries. Builds for other Pythons read those of nox's own Python.
HEADER_WHEELS = ("torch", "intel-sycl-rt", "onednn", "pypjrt")

# Folders of a package that are not in its wheel.
NOT_IN_WHEEL = {
    "tests",
    "benchmarks",
    "workloads",
    "fuzz",
    "accuracy",
    "soak",
    "everyday",
    "upstream",
    "build",
    "__pycache__",
    ".pytest_cache",
    ".ruff_cache",
}


def source_files(folder: Path) -> Iterable[Path]:
    """Yield the source files of a wheel in a fixed order."""
    for path in sorted(folder.rglob("*")):
        inside = path.relative_to(folder).parts
        if path.is_file() and not NOT_IN_WHEEL.intersection(inside):
            yield path


def source_key(package: Package, interpreter: Interpreter, torches: Sequence[str] = ()) -> str:
    """Return a digest of the package's sources and of what it is compiled against."""
    known = f"{interpreter.version}{sysconfig.get_platform()}{torches}"
    digest = hashlib.sha256(known.encode())
    _add_files(digest, [package.path, ROOT / "shared" / "cmake", Path(manylinux.__file__).parent])
    for needed in PACKAGES:
        if needed.wheel not in package.needs:
            continue
        if package.needs_headers:
            headers = [path for name in needed.headers for path in sorted(needed.path.glob(name))]
            _add_files(digest, headers)
        else:
            digest.update(source_key(needed, interpreter).encode())
    return digest.hexdigest()


def _add_files(digest: hashlib._Hash, paths: Iterable[Path]) -> None:
    for given in paths:
        for path in source_files(given) if given.is_dir() else [given]:
            digest.update(str(path.relative_to(ROOT)).encode() + b"\0" + path.read_bytes())


def build_wheels(
    session: nox.Session,
    packages: Iterable[Package] = PACKAGES + SHARED_PACKAGES,
    interpreter: Interpreter = OWN,
    kernels: Kernels = Kernels.IMAGES,
    torches: Sequence[str] = (),
) -> list[Path]:
    """Return the wheels of ``packages``; build those that dist/ does not have.

    ``torches`` are the versions of PyTorch that torch-xpu is compiled for, by default the one that its
    build requires.
    """
    dist = interpreter.dist
    known_wheels = dist / "built.json"
    record = json.loads(known_wheels.read_text()) if known_wheels.exists() else {}
    wheels = []
    packages = list(packages)
    if interpreter != OWN:
        # Their kernels and what needs no Python are taken; wheels for every Python are copied.
        for wheel in build_wheels(session, packages, OWN, kernels, torches):
            if "-py3-none-" in wheel.name:
                dist.mkdir(exist_ok=True)
                wheels.append(Path(shutil.copy(wheel, dist)))
        packages = [package for package in packages if _is_compiled(package)]
    for package in packages:
        key = source_key(package, interpreter, torches if package.wheel == "torch-xpu" else ())
        known = record.get(package.wheel, {})
        wheel = dist / known.get("file", "missing")
        wanted = WITH_KERNELS[package.wheel][kernels] if package.wheel in WITH_KERNELS else 0
        lacks_kernels = known.get("kernels", 0) < wanted
        if known.get("key") != key or lacks_kernels or not wheel.is_file():
            wheel = _build(session, package, interpreter, kernels, torches)
            # Building it may have built, and recorded, those that it needs.
            record = json.loads(known_wheels.read_text()) if known_wheels.exists() else {}
            record[package.wheel] = {"key": key, "file": wheel.name, "kernels": wanted}
            known_wheels.write_text(json.dumps(record, indent=1))
        wheels.append(wheel)
    return wheels


def _build(
    session: nox.Session,
    package: Package,
    interpreter: Interpreter,
    kernels: Kernels,
    torches: Sequence[str],
) -> Path:
    # An environment at a fixed path, not pip's temporary one, keeps the include paths the same, so that
    # the build folder and ccache stay valid.
    environment = Environment("wheels", interpreter, compile=False)
    ours = [needed for needed in PACKAGES if needed.wheel in package.needs]
    requires = package.project["build-system"]["requires"]
    others = package.needs if interpreter == OWN else (*package.needs, *HEADER_WHEELS)
    foreign = [line for line in requires if not line.startswith(others)]
    environment.install(session, "pip", "wheel", *foreign)
    if interpreter == OWN:
        environment.install_wheels(session, build_wheels(session, ours, OWN, kernels))
    dist, build = interpreter.dist, interpreter.folder("build")
    fresh = build / "wheel" / package.wheel
    shutil.rmtree(fresh, ignore_errors=True)
    command = ["-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation"]
    command += ["--find-links", str(dist), "--wheel-dir", str(fresh)]
    if _is_compiled(package):
        command += ["--config-settings", f"build-dir={build / package.wheel}"]
        for name, value in _definitions(session, package, interpreter, kernels, torches).items():
            command += ["--config-settings", f"cmake.define.{name}={value}"]
    session.log(f"building {package.wheel}{interpreter.suffix}")
    variables = compiler_environment() | {
        "SOURCE_DATE_EPOCH": SOURCE_DATE,
        "CPU_IMAGES": "0" if kernels == Kernels.SPIRV else "1",
    }
    environment.python(session, *command, str(package.path), env=variables)
    (built,) = fresh.glob("*.whl")
    dist.mkdir(exist_ok=True)
    for old in dist.glob(f"{package.wheel.replace('-', '_')}-*.whl"):
        old.unlink()
    return Path(shutil.move(built, dist / built.name))


def _is_compiled(package: Package) -> bool:
    return package.project["build-system"]["build-backend"].startswith("scikit_build_core")


def _definitions(
    session: nox.Session,
    package: Package,
    interpreter: Interpreter,
    kernels: Kernels,
    torches: Sequence[str],
) -> dict[str, str]:
    """Return CMake's variables for the build of a package."""
    folder = OWN.folder("manylinux")
    # The linker's id of a build is a hash of what is stripped, too, such as names of temporary files.
    without_id = " -Wl,--build-id=none"
    linked = manylinux.link_options(folder) + without_id
    known = {f"CMAKE_{kind}_LINKER_FLAGS": linked for kind in ("SHARED", "MODULE")}
    known["CMAKE_EXE_LINKER_FLAGS"] = manylinux.program_options(folder) + without_id
    # No path of this machine is in a library.
    known["CMAKE_CXX_FLAGS"] = f"-ffile-prefix-map={ROOT}=."
    known["XPU_WHEELS_PYTHON"] = str(Environment("wheels", OWN).bin / "python")
    if package.wheel == "xpu-runtime":
        known["XPU_READY_PROGRAMS"] = "all" if kernels == Kernels.RELEASE else "common"
        if interpreter != OWN:
            known["XPU_READY_FOLDER"] = str(OWN.folder("build") / package.wheel)
    if package.wheel == "torch-xpu":
        folders = [str(torch_wheels.unpack(session, version)) for version in torches]
        known["XPU_TORCH_FOLDERS"] = ";".join(folders)
    return known


def compiler_environment() -> dict[str, str]:
    """Return the environment of a native build: how many compilers run at once, and ccache if installed."""
    memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    jobs = min(len(os.sched_getaffinity(0)), memory // BYTES_OF_A_JOB)
    variables = {"CMAKE_BUILD_PARALLEL_LEVEL": str(max(1, jobs))}
    if shutil.which("ccache"):
        variables |= {
            "CMAKE_C_COMPILER_LAUNCHER": "ccache",
            "CMAKE_CXX_COMPILER_LAUNCHER": "ccache",
            "CCACHE_BASEDIR": str(ROOT),
            "CCACHE_NOHASHDIR": "1",
            # Precompiled headers and what includes them.
            "CCACHE_SLOPPINESS": "pch_defines,time_macros,include_file_mtime,include_file_ctime",
        }
    return variables
