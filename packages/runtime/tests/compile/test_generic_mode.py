"""The generic mode: kernels are SYCL's own images, cached, and built again when they do not load."""

import ctypes
import string
from pathlib import Path

import pytest
import sources
from cache_files import BUILD, MAGIC, cache_file
from private_library import private_library

pytestmark = pytest.mark.usefixtures("device")

GENERIC = {"XPU_GENERIC_BACKEND": "1"}
TARGET = b"\ntarget=2|"
DIGITS_64 = string.ascii_uppercase + string.ascii_lowercase + string.digits + "+/"


def test_the_generic_mode_keeps_images(child, tmp_path):
    """A second process neither compiles nor asks a helper to."""
    env = GENERIC | {"XPU_CACHE_DIR": str(tmp_path / "kernels")}
    code = BUILD.format(source=sources.SAXPY + "// generic\n")
    child(code, env=env).check()
    assert any(path.suffix == ".bin" for path in (tmp_path / "kernels").iterdir())
    without_compiler = env | {"XPU_BUILD_PROCESSES": "0"}
    loaded = 'assert "libsycl-jit" not in open("/proc/self/maps").read()'
    child(f"{code.rstrip()}\n    {loaded}\n", env=without_compiler).check()


@pytest.mark.values
@pytest.mark.parametrize("lost", [".spv", ".bin"])
def test_the_generic_mode_knows_what_kernels_take_whatever_is_lost(child, tmp_path, lost):
    env = GENERIC | {"XPU_CACHE_DIR": str(tmp_path / "kernels")}
    code = f"""
        import numpy as np
        import xpu_runtime as xr
        y = xr.from_numpy(np.ones(64, np.float32))
        saxpy = xr.compile({sources.SAXPY!r}).kernel("saxpy")
        xr.launch(saxpy, 64, 64, [np.float32(2), y, y, np.int64(64)])
        assert (y.numpy() == 3).all()
        try:
            xr.launch(saxpy, 64, 64, [np.float32(2)])
        except xr.UsageError as error:
            assert "got 1 arguments, expected 4" in str(error), error
        else:
            raise AssertionError("too few arguments were accepted")
        """
    child(code, env=env).check()
    for path in (tmp_path / "kernels").iterdir():
        if path.suffix == lost:
            path.unlink()
    child(code, env=env).check()
    assert any(path.suffix == ".bin" for path in (tmp_path / "kernels").iterdir())


@pytest.mark.parametrize(
    "head",
    [b"", b"XPUIMAGE1\n" + bytes(4), b"XPUIMAGE1\n" + b"\xff" * 4],
    ids=["none", "whole", "cut"],
)
def test_the_generic_mode_builds_again_what_the_backend_refuses(child, tmp_path, head):
    env = GENERIC | {"XPU_CACHE_DIR": str(tmp_path / "kernels")}
    code = BUILD.format(source=sources.SAXPY + "// refused\n")
    child(code, env=env).check()
    payload = head + b"an image of another version" * 10
    for path in (tmp_path / "kernels").glob("*.bin"):
        path.write_bytes(cache_file(path.name, payload))
    child(code, env=env).check()
    assert all(payload not in path.read_bytes() for path in (tmp_path / "kernels").glob("*.bin"))


def damage_target(image):
    """An image for a target that no backend has: SYCL loads it, without its kernels and without an error."""
    begin = image.index(TARGET) + len(TARGET) + 11  # behind the length
    end = image.index(b"\n", begin)
    return image[:begin] + image[begin:end].swapcase() + image[end:]


@pytest.mark.values
def test_the_generic_mode_builds_again_what_loads_without_its_kernels(child, tmp_path):
    env = GENERIC | {"XPU_CACHE_DIR": str(tmp_path / "kernels")}
    code = BUILD.format(source=sources.SAXPY + "// another target\n")
    child(code, env=env).check()
    (path,) = (tmp_path / "kernels").glob("*.bin")
    damaged = cache_file(path.name, damage_target(path.read_bytes()[len(MAGIC) + 32 :]))
    path.write_bytes(damaged)
    assert "cannot load" not in child(code, env=env).check().err
    assert path.read_bytes() != damaged


def test_images_that_never_load_are_one_warning(child, tmp_path):
    """Images of helpers lack their kernels, as those of a backend whose loader rejects its own targets."""
    native_library = pytest.importorskip("xpu_bench").native_library
    library = native_library(Path(__file__).parent / "damaged_target.cpp", (), ("-O1",))
    env = GENERIC | {"XPU_CACHE_DIR": str(tmp_path / "kernels"), "LD_PRELOAD": library._name}
    result = child(
        f"""
        import xpu_runtime as xr
        for number in range(3):
            kernel = xr.compile({sources.SAXPY!r} + f"// {{number}}\\n").kernel("saxpy")
            assert kernel.name == "saxpy"
        """,
        env=env,
    ).check()
    assert result.err.count("this backend cannot load its own kernel images") == 1
    assert not list((tmp_path / "kernels").glob("*.bin"))


@pytest.mark.parametrize(
    ("written", "loadable"),
    [
        (b"llvm_nvptx64-unknown-unknown", b"nvptx64-unknown-unknown-sycl"),
        (b"llvm_amdgcn-unknown-unknown", b"amdgcn-unknown-unknown-sycl"),
        (b"nvptx64-nvidia-cuda", b"nvptx64-nvidia-cuda"),
        (b"spir64-unknown-unknown", b"spir64-unknown-unknown"),
        (b"llvm_nvptx64", b"llvm_nvptx64"),
        (b"", b""),
    ],
)
def test_images_name_targets_that_the_loader_knows(written, loadable):
    def image(target):
        value = (8 * len(target)).to_bytes(8, "little") + target
        bits = int.from_bytes(value, "little")
        text = "".join(DIGITS_64[bits >> at & 63] for at in range(0, 8 * len(value), 6))
        return b"head" + TARGET + text.encode() + b"\narch=2|gAAAAAAAAAA\n\0\xff"

    library = private_library("compile/image_target.cpp", "compile/image_target.cpp")
    data = bytearray(image(written))
    buffer = (ctypes.c_char * len(data)).from_buffer(data)
    library.name_target(buffer, ctypes.c_size_t(len(data)))
    assert data == image(loadable)
