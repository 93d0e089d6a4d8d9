"""Importing costs nothing and loads nothing; layers below know nothing of layers above."""

import re
import subprocess
from pathlib import Path

import pytest

VENDOR = (
    "libsycl",
    "libdnnl",
    "libOpenCL",
    "libintelocl",
    "libur_",
    "libze_",
    "libtbb",
    "libxpu_runtime",
)


def test_import_maps_no_vendor_library(child):
    code = """
        import xpu_runtime
        print(open("/proc/self/maps").read())
    """
    maps = child(code).check().out
    assert not [name for name in VENDOR if name in maps]


def test_import_is_quick(child):
    code = """
        import time
        begin = time.perf_counter()
        import xpu_runtime
        print(time.perf_counter() - begin)
    """
    assert min(float(child(code).check().out) for _ in range(3)) <= 0.10


def test_code_generation_loads_no_native_module(child):
    code = """
        import sys
        import xpu_runtime.codegen.builder, xpu_runtime.codegen.share, xpu_runtime.codegen.write
        assert "xpu_runtime._C" not in sys.modules
        assert "numpy" not in sys.modules
    """
    child(code).check()


def test_loading_the_native_module_touches_no_device(child):
    code = """
        from xpu_runtime._native import C
        assert not C.is_initialized()
        assert "libintelocl" not in open("/proc/self/maps").read()
        C.device_count()
        assert C.is_initialized()
    """
    child(code).check()


def test_public_names_exist(xr):
    for name in xr.__all__:
        assert getattr(xr, name) is not None, name
    with pytest.raises(AttributeError, match="nonsense"):
        _ = xr.nonsense


def test_every_environment_variable_in_the_code_is_registered(xr):
    known = {variable.name for variable in xr.env.registry()}
    tree = Path(__file__).parents[1]
    sources = [*tree.glob("csrc/**/*.cpp"), *tree.glob("csrc/**/*.h"), *tree.glob("src/**/*.py")]
    reads = re.compile(r"(?:env::\w+|getenv|environ(?:\.get)?)[(\[]\s*\"(XPU_\w+)\"")
    used = {name for source in sources for name in reads.findall(source.read_text())}
    assert used
    assert used <= known, used - known


def test_library_knows_no_framework_and_no_python(xr):
    xr.device_count()
    library = Path(xr.library_paths()["libxpu_runtime.so"][0])
    needed = subprocess.run(
        ["readelf", "-d", library], capture_output=True, text=True, timeout=60, check=True
    ).stdout
    assert "libsycl.so" in needed
    for stranger in ("python", "torch", "jax", "libc10"):
        assert stranger not in needed
