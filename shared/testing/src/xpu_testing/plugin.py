"""The pytest plugin: fixtures and markers that every suite may use."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator

import numpy as np
import pytest

from . import validation
from .budget import Budget
from .canary import Canary
from .child import run_child
from .choice import choose_sample, head_commit
from .limits import DEFAULT_SECONDS, TimeLimits
from .values import disable_value_comparisons, values_checked

MARKERS = {
    "values": "compares computed values: deselected on a virtual GPU",
    "onednn": "needs oneDNN: deselected in the generic mode",
    "driver_binaries": "needs SPIR-V or a driver's binaries: deselected in the generic mode",
    "onednn_matmul": "needs oneDNN's matrix products: deselected if the GPU's driver is too old",
    "fp64": "computes in f64 without a parameter that says so: deselected on devices without f64",
    "cpu_device": "tests the CPU device: deselected if the first device is another",
    "timeout": "time limit in seconds, instead of --test-timeout",
}
GENERIC_LACKS = {"onednn", "driver_binaries"}
NONE_CAN_RUN = pytest.StashKey[bool]()
CHOICE = pytest.StashKey[str]()
LEFT_OUT = pytest.StashKey[int]()


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options, which every suite has."""
    parser.addoption(
        "--sample",
        type=int,
        default=1,
        metavar="N",
        help="run one test of N, chosen by --choice, and on a virtual GPU all tests of f64",
    )
    parser.addoption(
        "--choice",
        default="",
        metavar="TEXT",
        help="what chooses the tests of --sample and --budget, instead of the commit",
    )
    parser.addoption(
        "--test-timeout",
        type=float,
        default=DEFAULT_SECONDS,
        metavar="SECONDS",
        help="fail a test after SECONDS, or kill it with what it started; 0: no limit",
    )
    parser.addoption(
        "--budget",
        type=float,
        default=0,
        metavar="SECONDS",
        help="begin no test after SECONDS, and say how many were left out; 0: run all",
    )
    parser.addoption("--repeat", type=int, default=1, metavar="N", help="run each test N times")


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Multiply each test by ``--repeat``; each repetition is a test of its own in the report."""
    repetitions = metafunc.config.getoption("--repeat")
    if repetitions > 1:
        metafunc.fixturenames.append("repetition")
        metafunc.parametrize("repetition", range(repetitions), ids=str)


def pytest_configure(config: pytest.Config) -> None:
    """Set up the process before test modules import the runtime, which reads variables once."""
    if not values_checked():
        disable_value_comparisons()
        # Results are then whatever was in memory, NaNs included.
        config.addinivalue_line("filterwarnings", "ignore::RuntimeWarning")
    # Background jobs of a script ignore Ctrl-C, and so would the processes that tests start.
    if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    os.environ.update(validation.variables(os.environ))  # before the runtime starts
    for name, meaning in MARKERS.items():
        config.addinivalue_line("markers", f"{name}: {meaning}")
    config.pluginmanager.register(TimeLimits(config), "xpu_testing_limits")
    config.stash[CHOICE] = choice = config.getoption("--choice") or head_commit(config.rootpath)
    if seconds := config.getoption("--budget"):
        config.pluginmanager.register(Budget(seconds, choice), "xpu_testing_budget")


def pytest_report_collectionfinish(config: pytest.Config, items: list[pytest.Item]) -> list[str]:
    """Print what chose the tests, so that the same ones can be run again."""
    if config.getoption("--sample") == 1 and not config.getoption("--budget"):
        return []
    left_out = f"{config.stash.get(LEFT_OUT, 0)} left out"
    return [f"tests chosen by --choice={config.stash[CHOICE]}: {len(items)}, {left_out}"]


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Deselect, not skip, tests that the GPU check or device cannot run, so that the count tells what ran."""
    excluded_marks = set()
    if not values_checked():
        excluded_marks |= {"values", "cpu_device"}
    elif any(item.get_closest_marker("cpu_device") for item in items) and not has_cpu_device():
        excluded_marks |= {"cpu_device"}
    if any(map(needs_tuned_mode, items)) and is_generic():
        excluded_marks |= GENERIC_LACKS
    if any(item.get_closest_marker("onednn_matmul") for item in items) and not has_onednn_matmul():
        excluded_marks |= {"onednn_matmul"}
    deselected = {
        item for item in items if any(mark.name in excluded_marks for mark in item.iter_markers())
    }
    doubles = {item for item in items if asks_for_fp64(item)}
    if doubles and not has_fp64():
        deselected |= doubles
    candidates = [item for item in items if item not in deselected]
    config.stash[NONE_CAN_RUN] = bool(items) and not candidates
    sample = choose_sample(candidates, config.getoption("--sample"), config.stash[CHOICE])
    left_out = {x for x in candidates if x not in sample and not is_only_for_this_gpu(x)}
    config.stash[LEFT_OUT] = len(left_out)
    deselected |= left_out
    if deselected:
        config.hook.pytest_deselected(items=list(deselected))
        items[:] = [item for item in items if item not in deselected]


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Let a suite pass of which the GPU check or device can run no test. Other empty runs fail, as ever."""
    if session.config.stash.get(NONE_CAN_RUN, False):
        session.exitstatus = pytest.ExitCode.OK


def needs_tuned_mode(item: pytest.Item) -> bool:
    """Return True if the generic mode lacks what the test needs."""
    return any(mark.name in GENERIC_LACKS for mark in item.iter_markers())


def is_generic() -> bool:
    """Return True if the runtime uses only plain SYCL: by a variable, or because of the first device."""
    import xpu_runtime

    return xpu_runtime.generic_backend()


def has_onednn_matmul() -> bool:
    """Return True if oneDNN multiplies matrices on the first device."""
    import xpu_runtime

    return xpu_runtime.device_count() > 0 and not xpu_runtime.dnn.onednn_matmul_unsupported_reason()


def has_cpu_device() -> bool:
    """Return True if the first device is the CPU device."""
    import xpu_runtime

    return xpu_runtime.device_count() > 0 and xpu_runtime.devices()[0].type == "cpu"


def has_fp64() -> bool:
    """Return True if the first device computes in double precision."""
    import xpu_runtime

    return xpu_runtime.device_count() > 0 and xpu_runtime.devices()[0].fp64


def is_only_for_this_gpu(item: pytest.Item) -> bool:
    """Return True if the test cannot run on the other virtual GPU, which has no f64."""
    return not values_checked() and asks_for_fp64(item)


def asks_for_fp64(item: pytest.Item) -> bool:
    """Return True if the test has the mark fp64, or a parameter is a dtype of double precision."""
    if item.get_closest_marker("fp64"):
        return True
    callspec = getattr(item, "callspec", None)
    return callspec is not None and is_double(list(callspec.params.values()))


def is_double(value: object) -> bool:
    """Return True for a dtype of f64 or c128, by our names, numpy's or PyTorch's, and for a list with one."""
    if isinstance(value, (list, tuple)):
        return any(is_double(part) for part in value)
    if isinstance(value, str):
        return value in ("f64", "c128", "float64", "complex128")
    if isinstance(value, (type, np.dtype)):
        return value in (np.float64, np.complex128)
    # Do not import PyTorch, which not every suite has.
    return type(value).__name__ == "dtype" and str(value) in ("torch.float64", "torch.complex128")


@pytest.fixture(scope="session")
def xr():  # type: ignore[no-untyped-def]
    """The runtime's Python module."""
    import xpu_runtime

    return xpu_runtime


@pytest.fixture
def device(xr) -> Iterator[object]:  # type: ignore[no-untyped-def]
    """The first device, which is current during the test."""
    with xr.device(0) as current:
        yield current


@pytest.fixture
def rng(request: pytest.FixtureRequest) -> np.random.Generator:
    """Random numbers that depend on the test's name only, not on its file."""
    return np.random.default_rng(list(request.node.name.encode()))


@pytest.fixture
def canary() -> type[Canary]:
    """The class of outputs with guarded edges."""
    return Canary


@pytest.fixture
def child() -> Callable[..., object]:
    """A function that runs code in a fresh interpreter: ``child("import xpu_runtime").check()``."""
    return run_child
