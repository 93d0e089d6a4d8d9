"""The cache of built kernels: what a second process takes from it, and what it survives."""

import concurrent.futures
import hashlib
import os
import time
from pathlib import Path

import pytest
import sources
from cache_files import BUILD, MAGIC, cache_file
from helper_processes import helper_processes

pytestmark = pytest.mark.usefixtures("device")

WHICH_HELPERS = f"""
    import os, sys
    sys.path.insert(0, {str(Path(__file__).parent)!r})
    from helper_processes import helper_processes
    print(len(helper_processes(os.environ["XPU_CACHE_DIR"])))
"""


def test_second_process_takes_kernels_from_the_cache(xr, child, tmp_path):
    env = {"XPU_CACHE_DIR": str(tmp_path / "kernels")}
    code = BUILD.format(source=sources.SAXPY + f"// {time.time()}\n")
    cold = float(child(code, env=env).check().out)
    assert list((tmp_path / "kernels").glob("*.bin"))
    warm = float(child(code, env=env).check().out)
    assert warm < cold / 2


@pytest.mark.cpu_device
@pytest.mark.driver_binaries
def test_what_a_driver_keeps_itself_needs_no_helper(child, tmp_path):
    """A Level Zero driver caches its own binaries: our cache has a marker, and no helper is started."""
    code = BUILD.format(source=sources.SAXPY + "// in the cache of the driver\n") + WHICH_HELPERS
    env = {"XPU_CACHE_DIR": str(tmp_path)}
    assert child(code, env=env).check().out.split()[-1] != "0"
    (binary,) = tmp_path.glob("*.bin")
    entry = cache_file(binary.name, b"driver")
    binary.write_bytes(entry)
    while helper_processes(str(tmp_path)):  # they end with the first process
        time.sleep(0.05)
    assert child(code, env=env).check().out.split()[-1] == "0"
    assert binary.read_bytes() == entry


@pytest.mark.parametrize("damage", ["truncate", "flip", "empty", "foreign"])
def test_a_damaged_cache_file_is_a_miss_and_one_warning(child, tmp_path, damage):
    folder = tmp_path / "kernels"
    code = BUILD.format(source=sources.SAXPY + f"// {damage}\n")
    child(code, env={"XPU_CACHE_DIR": str(folder)}).check()
    for path in folder.iterdir():
        data = path.read_bytes()
        broken = {
            "truncate": data[: len(data) // 2],
            "flip": data[:-1] + bytes([data[-1] ^ 1]),
            "empty": b"",
            "foreign": b"something else altogether" * 10,
        }
        path.write_bytes(broken[damage])
    again = child(code, env={"XPU_CACHE_DIR": str(folder)}).check()
    assert again.err.count("is damaged") == 1
    assert "is damaged" not in child(code, env={"XPU_CACHE_DIR": str(folder)}).check().err


def test_a_cache_that_others_may_write_is_not_used(child, tmp_path):
    folder = tmp_path / "kernels"
    folder.mkdir()
    os.chmod(folder, 0o777)
    result = child(BUILD.format(source=sources.SAXPY), env={"XPU_CACHE_DIR": str(folder)}).check()
    assert "chmod 700" in result.err
    assert not list(folder.iterdir())


def test_a_full_disk_is_a_warning(child, tmp_path):
    # A folder under a plain file can be neither made nor written, whoever the user is.
    (tmp_path / "file").write_text("")
    result = child(
        BUILD.format(source=sources.SAXPY),
        env={"XPU_CACHE_DIR": str(tmp_path / "file" / "kernels")},
    )
    assert "kernel cache is off" in result.check().err


def test_writes_that_fail_are_a_warning(child, tmp_path):
    limit = """
    import resource, signal
    import xpu_runtime as xr
    xr.device_count()
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (16, 16))
    """
    code = limit + BUILD.format(source=sources.SAXPY)
    result = child(code, env={"XPU_CACHE_DIR": str(tmp_path / "kernels")}).check()
    assert "continuing without it" in result.err
    assert not list((tmp_path / "kernels").iterdir())


DIGITS = "0123456789abcdef" * 4


def old_file(folder, name, data):
    """A file that was last used long ago."""
    path = folder / name
    path.write_bytes(data)
    os.utime(path, (1, 1))
    return path


@pytest.fixture
def full_folder(tmp_path):
    folder = tmp_path / "kernels"
    folder.mkdir(mode=0o700)
    return folder


def make_room(child, folder, **env):
    """Write one small file to a cache that may hold 50 KB."""
    code = "import xpu_runtime as xr; xr.cache.write('new', 'plan', bytes(100))"
    child(code, env={"XPU_CACHE_DIR": str(folder), "XPU_CACHE_SIZE": "50K"} | env).check()


def test_a_relative_folder_stays_the_same(child, tmp_path):
    """A program may change its working directory, and helpers have one of their own."""
    later = tmp_path / "later"
    (later / "kernels").mkdir(parents=True)
    os.chmod(later / "kernels", 0o777)  # not checked: it is not the cache
    code = f"""
    import os, sys
    import xpu_runtime as xr
    xr.cache.write("first", "plan", b"1")
    os.chdir({str(later)!r})
    xr.cache.write("second", "plan", b"2")
    assert xr.cache.read("first", "plan") == b"1"
    print(xr.cache.folder())
    """ + BUILD.format(source=sources.SAXPY + "// relative\n")
    done = child(code, env={"XPU_CACHE_DIR": "kernels"}, cwd=tmp_path).check()
    assert done.out.splitlines()[0] == str(tmp_path / "kernels")
    assert len(list((tmp_path / "kernels").glob("*.plan.entry"))) == 2
    assert list((tmp_path / "kernels").glob("*.bin"))
    assert list(later.rglob("*")) == [later / "kernels"]


def test_a_relative_folder_of_dumps_stays_the_same(child, tmp_path):
    (tmp_path / "dumps").mkdir()
    (tmp_path / "later").mkdir()
    code = "".join(
        BUILD.format(source=sources.SAXPY + f"// dumped {number}\n") + f"    os.chdir({folder!r})\n"
        for number, folder in enumerate([str(tmp_path / "later"), "/"])
    )
    env = {"XPU_CACHE_DIR": str(tmp_path / "kernels"), "XPU_DUMP_KERNELS": "dumps"}
    child("    import os\n" + code, env=env, cwd=tmp_path).check()
    assert len(list((tmp_path / "dumps").glob("*.sycl"))) == 2


def test_a_file_under_the_name_of_another_is_damaged(child, tmp_path):
    """Such as one that a tool for synchronizing folders has mixed up."""
    code = """
    import xpu_runtime as xr
    xr.cache.write("one", "plan", b"of one")
    xr.cache.write("other", "plan", b"of the other")
    """
    env = {"XPU_CACHE_DIR": str(tmp_path / "kernels")}
    child(code, env=env).check()
    one, other = sorted((tmp_path / "kernels").iterdir())
    one.write_bytes(other.read_bytes())
    done = child(
        "import xpu_runtime as xr\n"
        "print(len(xr.cache.verify()), xr.cache.read('one', 'plan'), xr.cache.read('other', 'plan'))",
        env=env,
    ).check()
    count, *payloads = done.out.split(maxsplit=1)
    assert count == "1"
    assert sorted(payloads[0].count(p) for p in ("of one", "of the other", "None")) == [0, 1, 1]
    assert "is damaged" in done.err


@pytest.mark.cpu_device
@pytest.mark.skipif(
    os.environ.get("XPU_GENERIC_BACKEND") == "1", reason="the generic mode keeps SYCL's images"
)
def test_the_key_of_native_code_has_the_features_of_the_cpu(child, tmp_path):
    """A name, such as a hypervisor's, may belong to CPUs that differ, and a home to several machines."""
    code = (
        BUILD.format(source=sources.SAXPY + "// features\n")
        + """
    device = xr.devices()[0].properties()
    names = ("platform", "name", "device_id", "driver_version", "version")
    print("|".join(str(device[name]) for name in names))
    print(xr._native.C.cpu_feature_digits())
    """
    )
    done = child(code, env={"XPU_CACHE_DIR": str(tmp_path)}).check()
    target, digits = done.out.splitlines()[-2:]
    (spirv,) = tmp_path.glob("*.spv")
    (native,) = tmp_path.glob("*.bin")
    digest = hashlib.sha256(spirv.read_bytes()[len(MAGIC) + 32 :]).hexdigest()
    fields = [text.encode() for text in (digest, target, "driver", digits)]
    keys = [
        hashlib.sha256(b"".join(len(f).to_bytes(8, "little") + f for f in part)).hexdigest()
        for part in (fields[:3], fields)
    ]
    assert native.stem == keys[1]
    assert native.stem != keys[0]
    assert len(digits) == 16


@pytest.mark.parametrize("kind", [".spv", ".bin", ".plan.entry", ".other_kind.entry"])
def test_least_recently_used_files_make_room(child, full_folder, kind):
    old = old_file(full_folder, DIGITS + kind, MAGIC + bytes(100_000))
    make_room(child, full_folder)
    assert not old.exists()
    assert [path.suffix for path in full_folder.iterdir()] == [".entry"]


@pytest.mark.parametrize("data", [b"", MAGIC[:4], MAGIC + bytes(100)])
def test_what_killed_writers_left_makes_room(child, full_folder, data):
    old = old_file(full_folder, DIGITS + ".spv.a1B2c3.part", data)
    make_room(child, full_folder)
    assert not old.exists()


FOREIGN_NAMES = [
    "thesis.txt", "thesis.entry", DIGITS + ".entry", DIGITS + ".UP.entry", DIGITS + ".plan",
    DIGITS + "." + 17 * "k" + ".entry", "film.part", "photo.bin", DIGITS, DIGITS + ".txt",
    DIGITS[1:] + ".bin", DIGITS + "0.bin", DIGITS.upper() + ".bin", DIGITS + ".spv.part",
    "my " + DIGITS + ".bin",
]  # fmt: skip


@pytest.mark.parametrize("name", FOREIGN_NAMES)
def test_files_with_other_names_stay(child, full_folder, name):
    theirs = old_file(full_folder, name, MAGIC + bytes(100_000))
    make_room(child, full_folder)
    assert theirs.exists()
    code = "import xpu_runtime as xr; assert xr.cache.clear() == 1; assert xr.cache.list() == []"
    child(code, env={"XPU_CACHE_DIR": str(full_folder)}).check()
    assert list(full_folder.iterdir()) == [theirs]


@pytest.mark.parametrize("name", [DIGITS + ".bin", DIGITS + ".spv.a1B2c3.part"])
def test_files_with_other_headers_stay(child, full_folder, name):
    theirs = old_file(full_folder, name, bytes(100_000))
    make_room(child, full_folder)
    assert theirs.exists()


def test_links_and_what_they_lead_to_stay(child, full_folder, tmp_path):
    theirs = old_file(tmp_path, "thesis", MAGIC + bytes(100_000))
    link = full_folder / (DIGITS + ".bin")
    link.symlink_to(theirs)
    os.utime(link, (1, 1), follow_symlinks=False)
    make_room(child, full_folder)
    assert theirs.exists()
    assert link.is_symlink()


def test_nothing_is_deleted_in_a_folder_that_others_may_write(child, full_folder):
    old = old_file(full_folder, DIGITS + ".bin", MAGIC + bytes(100_000))
    code = f"""
    import os
    import xpu_runtime as xr
    assert xr.cache.folder()
    os.chmod({str(full_folder)!r}, 0o777)
    xr.cache.write("new", "plan", bytes(100))
    """
    child(code, env={"XPU_CACHE_DIR": str(full_folder), "XPU_CACHE_SIZE": "50K"}).check()
    assert old.exists()


def test_two_writers_at_once(child, tmp_path):

    code = BUILD.format(source=sources.SAXPY + "// two\n")
    env = {"XPU_CACHE_DIR": str(tmp_path / "kernels")}
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        for result in pool.map(lambda _: child(code, env=env), range(2)):
            assert "kernel cache" not in result.check().err


def test_cache_module(xr):
    kinds = ("SPIR-V", "native")
    assert set(xr.cache.stats()) >= {
        f"{kind} {what}" for kind in kinds for what in ("files", "bytes")
    }
    assert xr.cache.verify() == []


def test_kinds_of_adapters_are_their_own(child, tmp_path):
    child(
        """
        import xpu_runtime as xr
        xr.cache.write("key", "graph", b"1")
        xr.cache.write("key", "compiled_graph", b"22")
        assert xr.cache.read("key", "graph") == b"1"
        assert xr.cache.read("key", "compiled_graph") == b"22"
        assert xr.cache.read("key", "plan") is None
        assert xr.cache.stats() == {
            "SPIR-V files": 0, "SPIR-V bytes": 0, "native files": 0, "native bytes": 0,
            "compiled_graph files": 1, "compiled_graph bytes": 44,
            "graph files": 1, "graph bytes": 43,
        }, xr.cache.stats()
        assert xr.cache.clear() == 2
        """,
        env={"XPU_CACHE_DIR": str(tmp_path / "kernels")},
    ).check()


@pytest.mark.parametrize("kind", ["", "Plan", "a" * 17, "spv.", "../up", "plan2", "a b"])
def test_other_kinds_are_refused(xr, kind):
    for call in (lambda: xr.cache.read("key", kind), lambda: xr.cache.write("key", kind, b"")):
        with pytest.raises(xr.UsageError, match="cache: got the kind"):
            call()


def test_adapters_keep_plans_there(child, tmp_path):
    env = {"XPU_CACHE_DIR": str(tmp_path / "kernels")}
    child(
        "import xpu_runtime as xr; xr.cache.write('mine', 'plan', bytes(range(256)))", env=env
    ).check()
    read = "import xpu_runtime as xr; print(xr.cache.read({!r}, 'plan') == bytes(range(256)))"
    assert child(read.format("mine"), env=env).check().out.strip() == "True"
    assert child(read.format("other"), env=env).check().out.strip() == "False"
    (cached,) = (tmp_path / "kernels").glob("*.plan.entry")
    cached.write_bytes(cached.read_bytes()[:-1])
    result = child(read.format("mine"), env=env).check()
    assert result.out.strip() == "False"
    assert "damaged" in result.err
    assert child(
        "import xpu_runtime as xr; assert xr.cache.read('mine', 'plan') is None",
        env=env | {"XPU_CACHE_SIZE": "0"},
    ).check()


def test_what_a_program_wants_is_recorded_in_order(child, tmp_path):
    code = """
        import xpu_runtime as xr
        SOURCE = "#include <xpu/core.h>\\nXPU_KERNEL(1) one(xpu::global<int> x) { x[0] = %d; }\\n"
        kernels = []
        for n, options in ((1, []), (2, ["-DSOME=1", "-O2"]), (1, []), (3, [])):
            kernels.append(xr.compile(SOURCE % n, options).kernel("one"))
    """
    record = tmp_path / "record"
    for _ in range(2):
        child(code, env={"XPU_RECORD_KERNELS": str(record)}).check()
    kernels = [part.split(b"\0")[1:] for part in record.read_bytes().split(b"\0\0")[:-1]]
    once = [
        (b"x[0] = %d" % n, options) for n, options in ((1, []), (2, [b"-DSOME=1", b"-O2"]), (3, []))
    ]
    assert len(kernels) == 6
    for (source, *options), (text, expected) in zip(kernels, 2 * once, strict=True):
        assert text in source
        assert options == expected
    assert (
        child(code, env={"XPU_RECORD_KERNELS": str(tmp_path / "no" / "folder")})
        .check()
        .err.count("cannot record kernels")
        == 1
    )


# Takes more than two seconds to compile, with many of it.
SLOW = """
#include <xpu/core.h>
template <int K> constexpr int waste() {{
  int s = K;
  for (int i = 0; i < 100000; ++i) s = s * 7 % 31;
  return s;
}}
// {salt}
XPU_KERNEL(1) saxpy(xpu::global<float> y) {{ {body} }}
"""


@pytest.mark.parametrize("mode", [{}, {"XPU_GENERIC_BACKEND": "1"}], ids=["tuned", "generic"])
@pytest.mark.parametrize(
    ("size", "told"),
    [("1G", "the next start does not wait"), ("0", "kernel cache is off")],
    ids=["cache", "none"],
)
def test_a_long_build_says_whether_it_is_cached(child, tmp_path, mode, size, told):
    body = "".join(f"constexpr int c{k} = waste<{k}>(); y[{k}] = c{k};" for k in range(64))
    source = SLOW.format(body=body, salt=size)
    env = mode | {"XPU_CACHE_DIR": str(tmp_path / "kernels"), "XPU_CACHE_SIZE": size}
    result = child(BUILD.format(source=source), env=env).check()
    assert result.err.count("when they are first used: 1 took") == 1
    assert ("xpu-sdk warm" in result.err) == (size == "1G")  # it builds ahead what can be kept
    assert told in result.err
