"""Every kernel that ships has images; they load without the driver's compiler and compute the same."""

import shutil
import struct
from pathlib import Path

import pytest
import xpu_runtime as xr
from xpu_runtime import pack_file

import xpu_cpu_images

pytestmark = [pytest.mark.cpu_device, pytest.mark.driver_binaries]
IMAGES = Path(xpu_cpu_images.__file__).with_name("images.ready")
MODULES = Path(xr.__file__).with_name("kernels.ready")

UNUSED = "import xpu_runtime as xr; xr.ready_kernels.use_images(False)"
PROGRAM = """
import xpu_runtime as xr
x, y = xr.empty((64, 64)), xr.empty((64, 64), "bf16")
for array in (x, y):
    xr.kernels.fill(array.transpose(), 3)
xr.synchronize()
assert (x.numpy() == 3).all() and (y.numpy() == 3).all()
"""


# Prints how many helper processes there are with this process's cache.
HELPERS = """
import os
from pathlib import Path
count = 0
for folder in Path("/proc").glob("[0-9]*"):
    try:
        ours = os.environb[b"XPU_CACHE_DIR"] in (folder / "environ").read_bytes()
        count += ours and (folder / "comm").read_text().startswith("xpu-build-kern")
    except OSError:
        continue
print(count)
"""


@pytest.fixture(scope="module")
def images():
    return {item.key: item for item in pack_file.read(IMAGES)}


@pytest.mark.parametrize("vector_bytes", [32, 64])
def test_every_module_that_ships_has_an_image(images, vector_bytes):
    modules = [i.content for i in pack_file.read(MODULES) if i.devices & vector_bytes]
    keys = {xr.ready_kernels.image_key(module, vector_bytes) for module in modules}
    assert len(modules) > 30
    assert keys <= images.keys()


def test_each_image_is_for_the_cpus_that_its_key_names(images):
    """The flags of an image's ELF head are the driver's level of the instruction set."""
    levels = {32: set(), 64: set()}
    for image in images.values():
        levels[image.devices].add(struct.unpack_from("<I", image.content, 48)[0])
    (avx2,), (avx512,) = levels[32], levels[64]
    assert avx2 < avx512


def built(child, cache, before="", **env):
    """Run PROGRAM after another statement; return how many kernels were built, and its messages."""
    # Kernels that are dumped are other ones, which do not ship.
    env |= {"XPU_CACHE_DIR": str(cache), "XPU_DUMP_KERNELS": ""}
    ran = child(before + PROGRAM, env=env).check()
    return len(list(cache.glob("*.bin"))), ran.err


def test_kernels_that_ship_are_not_built(child, tmp_path):
    assert built(child, tmp_path / "with")[0] == 0
    assert built(child, tmp_path / "without", before=UNUSED)[0] > 0


def test_no_helper_is_started(child, tmp_path):
    """Also where the cache stays empty, because all that is wanted ships."""
    code = PROGRAM + HELPERS
    env = {"XPU_CACHE_DIR": str(tmp_path), "XPU_DUMP_KERNELS": ""}
    assert child(code, env=env).check().out.split() == ["0"]
    assert child(UNUSED + code, env=env).check().out.split() != ["0"]


def cut(data):
    return data[: len(data) // 2]


def of_another_kind(data):
    return b"else" + data[4:]


def with_other_code(data):
    start = pack_file.HEAD.size + pack_file.ENTRY.size * int.from_bytes(data[8:16], "little")
    return data[:start] + bytes(byte ^ 255 for byte in data[start:])


def of_another_driver(data):
    """The keys are others then."""
    count = int.from_bytes(data[8:16], "little")
    data = bytearray(data)
    for index in range(count):
        data[pack_file.HEAD.size + pack_file.ENTRY.size * index + 31] ^= 255
    return bytes(data)


@pytest.mark.parametrize(
    ("change", "warnings"),
    [(cut, 1), (of_another_kind, 1), (with_other_code, 1), (of_another_driver, 0)],
)
def test_other_files_are_not_used(child, tmp_path, change, warnings):
    count, messages = in_a_copy(child, tmp_path, change(IMAGES.read_bytes()))
    assert count > 0
    assert messages.count("install xpu-cpu-images again") == warnings


def test_what_the_driver_rejects_is_built(child, tmp_path, images):
    """As an image of AVX-512 is on a CPU without it."""
    changed = tmp_path / "changed"
    pack_file.write(changed, [i._replace(content=b"no image", split=0) for i in images.values()])
    count, messages = in_a_copy(child, tmp_path, changed.read_bytes())
    assert count > 0
    assert not messages


def in_a_copy(child, tmp_path, data):
    """Run PROGRAM with copies of the packages, beside libraries of the vendor that stay where they are."""
    for package in (Path(xr.__file__).parent, IMAGES.parent):
        shutil.copytree(package, tmp_path / "site" / package.name)
    (tmp_path / "site" / IMAGES.parent.name / IMAGES.name).write_bytes(data)
    xr.devices()
    (sycl,) = xr.library_paths()["libsycl.so"]
    paths = {"PYTHONPATH": str(tmp_path / "site"), "LD_LIBRARY_PATH": str(Path(sycl).parent)}
    return built(child, tmp_path / "cache", **paths)
