"""The pytest plugin: fixtures and markers that every suite may use."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator
from zlib import crc32

import numpy as np
import pytest

from . import validation
from .canary import Canary
from .child import run_child
from .limits import DEFAULT_SECONDS, TimeLimits
from .values import leave_out_comparisons, values_checked

MARKERS = {
    "values": "compares computed values all through: left out on the virtual GPU",
    "onednn": "needs oneDNN: left out under XPU_GENERIC_BACKEND=1",
    "onednn_matmul": "needs oneDNN's matrix products: left out where the GPU's driver is too old",
    "fp64": "computes in f64 whatever it is given: left out on devices without it",
    "cpu_device": "is about the CPU device: left out where the first device is another",
    "timeout": "has a time limit of its own, in seconds, instead of --test-timeout",
}


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--share",
        type=int,
        default=1,
        metavar="N",
        help="run one test of N, and on a virtual GPU all those of f64",
    )
    parser.addoption(
        "--test-timeout",
        type=float,
        default=DEFAULT_SECONDS,
        metavar="SECONDS",
        help="a test over this fails, or is killed with what it started; 0: no limit",
    )
    parser.addoption("--times", type=int, default=1, metavar="N", help="run each test N times")


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    times = metafunc.config.getoption("--times")
    if times > 1:
        metafunc.fixturenames.append("time_of_many")
        metafunc.parametrize("time_of_many", range(times), ids=str)


def pytest_configure(config: pytest.Config) -> None:
    if not values_checked():
        leave_out_comparisons()
        # What is read back there is whatever was in memory, NaNs included.
        config.addinivalue_line("filterwarnings", "ignore::RuntimeWarning")
    # Where a script put the tests into its background, what they start would ignore Ctrl-C too.
    if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    os.environ.update(validation.variables(os.environ))  # before anything has started the runtime
    for name, meaning in MARKERS.items():
        config.addinivalue_line("markers", f"{name}: {meaning}")
    config.pluginmanager.register(TimeLimits(config), "xpu_testing_limits")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Deselect, not skip, what has no meaning on the stand-in: the count says what really ran."""
    absent = set()
    if not values_checked():
        absent |= {"values", "cpu_device"}
    elif any(item.get_closest_marker("cpu_device") for item in items) and not has_cpu_device():
        absent |= {"cpu_device"}
    if os.environ.get("XPU_GENERIC_BACKEND") == "1":
        absent |= {"onednn"}
    if any(item.get_closest_marker("onednn_matmul") for item in items) and not has_onednn_matmul():
        absent |= {"onednn_matmul"}
    out = {item for item in items if any(mark.name in absent for mark in item.iter_markers())}
    doubles = {item for item in items if asks_for_fp64(item)}
    if doubles and not has_fp64():
        out |= doubles
    staying = [item for item in items if item not in out]
    share = config.getoption("--share")
    mine = share_of(staying, share)
    out |= {item for item in staying if item not in mine and not only_here(item)}
    if out:
        config.hook.pytest_deselected(items=list(out))
        items[:] = [item for item in items if item not in out]


def share_of(items: list[pytest.Item], share: int) -> set[pytest.Item]:
    """By name, not by place: a new test does not change which of the others run. Never none."""
    parts = {item: crc32(item.nodeid.encode()) for item in items}
    mine = {item for item in items if parts[item] % share == 0}
    return mine or set(sorted(items, key=parts.__getitem__)[:1])


def has_onednn_matmul() -> bool:
    """Whether oneDNN does matrix products on the first device."""
    import xpu_runtime

    return xpu_runtime.device_count() > 0 and not xpu_runtime.dnn.onednn_matmul_unsupported_reason()


def has_cpu_device() -> bool:
    """Whether the first device is the CPU device."""
    import xpu_runtime

    return xpu_runtime.device_count() > 0 and xpu_runtime.devices()[0].type == "cpu"


def has_fp64() -> bool:
    """Whether the first device computes in double precision."""
    import xpu_runtime

    return xpu_runtime.device_count() > 0 and xpu_runtime.devices()[0].fp64


def only_here(item: pytest.Item) -> bool:
    """Whether the other virtual GPU has to leave the test out."""
    return not values_checked() and asks_for_fp64(item)


def asks_for_fp64(item: pytest.Item) -> bool:
    """Whether the test is marked so, or a dtype among its parameters is one of double precision."""
    if item.get_closest_marker("fp64"):
        return True
    callspec = getattr(item, "callspec", None)
    return callspec is not None and is_double(list(callspec.params.values()))


def is_double(value: object) -> bool:
    """Whether it is a dtype of double precision, by our names, numpy's or PyTorch's, or holds one."""
    if isinstance(value, (list, tuple)):
        return any(is_double(part) for part in value)
    if isinstance(value, str):
        return value in ("f64", "c128", "float64", "complex128")
    if isinstance(value, (type, np.dtype)):
        return value in (np.float64, np.complex128)
    # Without importing PyTorch, which not every suite has.
    return type(value).__name__ == "dtype" and str(value) in ("torch.float64", "torch.complex128")


@pytest.fixture(scope="session")
def xr():  # type: ignore[no-untyped-def]
    """The runtime's Python module."""
    import xpu_runtime

    return xpu_runtime


@pytest.fixture
def device(xr) -> Iterator[object]:  # type: ignore[no-untyped-def]
    """The first device, made current; nothing may be left running on it."""
    with xr.device(0) as current:
        yield current


@pytest.fixture
def rng(request: pytest.FixtureRequest) -> np.random.Generator:
    """Random numbers that depend on the test's name only."""
    return np.random.default_rng(list(request.node.nodeid.encode()))


@pytest.fixture
def canary() -> type[Canary]:
    """The class of outputs with guarded edges."""
    return Canary


@pytest.fixture
def child() -> Callable[..., object]:
    """Runs code in a fresh interpreter: ``child("import xpu_runtime").check()``."""
    return run_child
