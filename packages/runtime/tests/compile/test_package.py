"""Files of kernels of compiled programs: found without the cache and without a compiler."""

import pytest
import sources

from xpu_runtime import pack_file, ready_kernels

pytestmark = pytest.mark.driver_binaries
OTHER = sources.SAXPY.replace("saxpy", "other")
WITH_ASSEMBLY = sources.SAXPY + "\n#ifdef XPU_CPU_VECTOR\n#endif\n"

# Adds files and builds a kernel. Prints where it was, the milliseconds and whether there was a compiler.
FIRST_BUILD = """
import time
import xpu_runtime as xr

xr.synchronize()
for path in {paths!r}:
    xr.ready_kernels.add(path)
begin = time.perf_counter()
kernel = xr.compile({source!r}).kernel({name!r})
elapsed = 1e3 * (time.perf_counter() - begin)
places = [answer.store for answer in xr.cache.explain({source!r}) if answer.found]
print(",".join(places), elapsed, "libsycl-jit" in open("/proc/self/maps").read(), sep="|")
"""


@pytest.fixture
def first_build(child):
    """Return a function of files and a kernel: the places that have it, the time, whether it was compiled."""

    def run(paths, source=sources.SAXPY, name="saxpy", **variables):
        env = {
            "XPU_CACHE_SIZE": "0",
            "XPU_BUILD_PROCESSES": "0",
            "XPU_DUMP_KERNELS": "",
        } | variables
        code = FIRST_BUILD.format(source=source, name=name, paths=[str(path) for path in paths])
        result = child(code, env=env).check()
        places, elapsed, compiled = result.out.strip().split("|")
        return places, float(elapsed), compiled == "True", result.err

    return run


@pytest.fixture(scope="module")
def packaged(tmp_path_factory):
    path = tmp_path_factory.mktemp("package") / "model.kernels"
    ready_kernels.package(path, [sources.SAXPY, sources.SAXPY, OTHER])
    return path


def test_what_a_package_holds_is_not_compiled(first_build, packaged):
    times = []
    for _ in range(3):
        places, elapsed, compiled, _ = first_build([packaged])
        assert places == "package,package"
        assert not compiled
        times.append(elapsed)
    assert min(times) < 50


def test_without_the_package_it_is_compiled(first_build):
    places, _, compiled, _ = first_build([])
    assert places == ""
    assert compiled


def test_another_kernel_is_compiled(first_build, packaged):
    source = sources.SAXPY + "// of no package\n"
    places, _, compiled, _ = first_build([packaged], source)
    assert places == ""
    assert compiled


def test_several_packages_serve_at_once(first_build, tmp_path):
    paths = [tmp_path / "first.kernels", tmp_path / "second.kernels"]
    ready_kernels.package(paths[0], [OTHER])
    ready_kernels.package(paths[1], [sources.SAXPY])
    for source, name in ((sources.SAXPY, "saxpy"), (OTHER, "other")):
        assert first_build([*paths, *paths], source, name)[0] == "package,package"


def test_without_native_code_the_spirv_is_built(first_build, packaged, tmp_path):
    """As on a machine with another driver, device or CPU, whose key no entry has."""
    spirv = [item for item in pack_file.read(packaged) if item.content[:4] == b"\x03\x02\x23\x07"]
    assert len(spirv) == 2
    path = tmp_path / "spirv.kernels"
    pack_file.write(path, spirv)
    places, _, compiled, _ = first_build([path])
    assert places == "package"
    assert not compiled


def flip(data, at):
    return data[:at] + bytes([data[at] ^ 1]) + data[at + 1 :]


@pytest.mark.parametrize(
    "damage",
    [
        lambda data: data[:7],
        lambda data: flip(data, 3),
        lambda data: flip(data, pack_file.HEAD.size + 40),
        lambda data: data[: pack_file.HEAD.size + 20],
        lambda data: data[: pack_file.HEAD.size + 2 * pack_file.ENTRY.size],
    ],
    ids=["head", "magic", "entry", "entries", "contents"],
)
def test_a_damaged_file_is_a_miss_and_one_warning(first_build, packaged, tmp_path, damage):
    path = tmp_path / "damaged.kernels"
    one = tmp_path / "one.kernels"
    ready_kernels.package(one, [sources.SAXPY])
    path.write_bytes(damage(one.read_bytes()))
    *_, errors = first_build([path])
    assert errors.count("is damaged") == 1
    assert str(path) in errors


def test_an_intact_copy_serves_after_a_damaged_one(child, packaged, tmp_path):
    data = packaged.read_bytes()
    contents = pack_file.HEAD.size + pack_file.ENTRY.size * len(pack_file.read(packaged))
    damaged = tmp_path / "damaged.kernels"
    damaged.write_bytes(data[:contents] + bytes(len(data) - contents))
    code = f"""
import xpu_runtime as xr
xr.ready_kernels.add({str(damaged)!r})
xr.compile({OTHER!r}).kernel("other")
xr.ready_kernels.add({str(packaged)!r})
print(",".join(answer.store for answer in xr.cache.explain({sources.SAXPY!r}) if answer.found))
"""
    out = child(code, env={"XPU_CACHE_SIZE": "0", "XPU_DUMP_KERNELS": ""}).check().out
    assert out.strip() == "package,package"


def test_a_missing_file_is_an_error(xr, tmp_path):
    with pytest.raises(xr.UsageError, match="cannot open "):
        ready_kernels.add(tmp_path / "gone.kernels")


# Dumps are for other machines too, so a process that writes them builds no assembly.
KEYS_WITH_ASSEMBLY = """
import xpu_runtime as xr
from pathlib import Path
from xpu_runtime import pack_file, ready_kernels

path = Path("assembly.kernels")
ready_kernels.package(path, [{source!r}])
keys = {{item.key for item in pack_file.read(path)}}
wanted = {{ready_kernels.build({source!r}, vector_bytes=size)[0] for size in (0, 32, 64)}}
print(len(wanted), wanted <= keys)
"""


def test_kernels_with_assembly_have_the_spirv_of_other_cpus(child, tmp_path, xr):
    if xr.Device(0).type != "cpu" or xr.generic_backend():
        pytest.skip("assembly is for CPUs")
    code = KEYS_WITH_ASSEMBLY.format(source=WITH_ASSEMBLY)
    result = child(code, env={"XPU_DUMP_KERNELS": ""}, cwd=tmp_path)
    assert result.check().out.split() == ["3", "True"]
