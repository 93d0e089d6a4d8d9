"""``xpu-sdk cache export`` and ``import``: another machine of the same kind starts with a filled cache."""

import gzip
import io
import json
import os
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest
from test_cache_command import filled  # noqa: F401

pytestmark = pytest.mark.usefixtures("filled")


@pytest.fixture
def archive(xpu_sdk, filled, tmp_path):  # noqa: F811
    done = xpu_sdk("cache", "export", "cache.tar.gz")
    assert done.returncode == 0, done.stdout
    assert f"{len(names(filled))} files" in done.stdout
    return tmp_path / "cache.tar.gz"


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def rewritten(archive, change):
    """Write the archive anew with the members that `change` makes of each."""
    with tarfile.open(archive) as old:
        members = [(m.name, old.extractfile(m).read()) for m in old]
    with tarfile.open(archive, "w:gz") as new:
        for member in members:
            for name, data in change(*member):
                info = tarfile.TarInfo(name)
                info.size = len(data)
                new.addfile(info, io.BytesIO(data))


def refused(xpu_sdk, *words):
    done = xpu_sdk("cache", "import", "cache.tar.gz")
    assert done.returncode == 1
    text = " ".join(done.stdout.split())
    assert all(word in text for word in words), text
    assert "Traceback" not in done.stdout + done.stderr


def test_files_come_back(xpu_sdk, archive, filled):  # noqa: F811
    before = {path.name: path.read_bytes() for path in filled.iterdir()}
    assert xpu_sdk("cache", "clear").returncode == 0
    assert not names(filled)
    assert "imported" in xpu_sdk("cache", "import", archive.name).stdout
    assert {path.name: path.read_bytes() for path in filled.iterdir()} == before


def test_an_existing_file_is_not_replaced(xpu_sdk, archive):
    before = archive.read_bytes()
    assert xpu_sdk("cache", "export", archive.name).returncode == 1
    assert archive.read_bytes() == before


def test_damaged_files_are_left_out(xpu_sdk, filled, tmp_path):  # noqa: F811
    file = next(filled.glob("*.bin"))
    file.write_bytes(file.read_bytes()[:-1] + b"?")
    done = xpu_sdk("cache", "export", "cache.tar.gz")
    assert file.name in done.stdout.replace("\n", "")
    with tarfile.open(tmp_path / "cache.tar.gz") as archive:
        assert file.name not in archive.getnames()


def test_damaged_members_are_left_out(xpu_sdk, archive, filled):  # noqa: F811
    spoil = next(name for name in names(filled) if name.endswith(".bin"))
    rewritten(archive, lambda name, data: [(name, data[:-1] + b"?" if name == spoil else data)])
    before = names(filled)
    xpu_sdk("cache", "clear")
    done = xpu_sdk("cache", "import", archive.name)
    assert done.returncode == 1
    assert spoil in done.stdout.replace("\n", "")
    assert names(filled) == [name for name in before if name != spoil]


def test_other_devices_are_refused_by_name(xpu_sdk, archive):
    about = json.dumps({"form": 2, "devices": [["level_zero", "Some GPU", "1.2"]]}).encode()
    rewritten(archive, lambda name, data: [(name, about if name == "about.json" else data)])
    refused(xpu_sdk, "Some GPU 1.2", "this machine has")


@pytest.mark.parametrize("name", ["../../stranger", "stranger.txt", "/tmp/stranger"])
def test_other_names_are_refused(xpu_sdk, archive, name, filled):  # noqa: F811
    rewritten(archive, lambda old, data: [(old, data), (name, data)])
    before = names(filled)
    refused(xpu_sdk, "expected cached files")
    assert names(filled) == before


@pytest.mark.parametrize(
    "kind",
    [
        "text",
        "cut",
        "no about",
        "nested about",
        "other form",
        "no devices",
        "no index",
        "tar of nothing",
        "missing",
    ],
)
def test_other_files_are_refused(xpu_sdk, archive, kind):
    if kind == "text":
        archive.write_text("not an archive")
    elif kind == "cut":
        archive.write_bytes(archive.read_bytes()[:-200])
    elif kind == "no devices":
        about = b'{"form": 2, "devices": [3]}'
        rewritten(archive, lambda name, data: [(name, about if name == "about.json" else data)])
    elif kind == "nested about":
        about = b"[" * 100_000
        rewritten(archive, lambda name, data: [(name, about if name == "about.json" else data)])
    elif kind == "no index":
        rewritten(archive, lambda name, data: [] if name == "index.json" else [(name, data)])
    elif kind == "no about":
        rewritten(archive, lambda name, data: [] if name == "about.json" else [(name, data)])
    elif kind == "other form":
        rewritten(archive, lambda name, data: [(name, b'{"form": 3, "devices": []}')])
    elif kind == "tar of nothing":
        rewritten(archive, lambda name, data: [])
    else:
        archive.unlink()
    refused(xpu_sdk, "cannot import")


FLIP = Path(__file__).parent / "programs" / "flipped_bits.py"
FLIPS = 60


def test_a_flipped_bit_is_named_or_loses_nothing(archive, tmp_path, cache_home, request):
    """With `--repeat 10` they are 600."""
    parameters = getattr(request.node, "callspec", None)
    begin = FLIPS * (parameters.params.get("repetition", 0) if parameters else 0)
    env = os.environ | {"XDG_CACHE_HOME": str(cache_home)}
    command = [sys.executable, str(FLIP), str(begin), str(begin + FLIPS)]
    subprocess.run(command, cwd=tmp_path, env=env, check=True, timeout=120)


def test_what_is_behind_a_damaged_header_is_imported(xpu_sdk, archive, filled):  # noqa: F811
    tar = bytearray(gzip.decompress(archive.read_bytes()))
    with tarfile.open(archive) as old:
        lost, *others = old.getnames()[1:-1]
    tar[tar.index(lost.encode())] ^= 1
    archive.write_bytes(gzip.compress(tar))
    xpu_sdk("cache", "clear")
    done = xpu_sdk("cache", "import", archive.name)
    assert done.returncode == 1
    assert lost in done.stdout
    assert names(filled) == sorted(others)


MIB = 1 << 20


def test_a_member_takes_little_memory(archive, tmp_path, cache_home):
    """Neither a large cached file nor a large member name is read into memory as a whole."""
    with tarfile.open(archive) as old:
        about = old.extractfile("about.json").read()
    with gzip.open(archive, "wb", compresslevel=1) as out:
        for name, kind, size, data in [
            ("about.json", tarfile.REGTYPE, len(about), about),
            ("0" * 64 + ".spv", tarfile.REGTYPE, 128 * MIB, b"XPUCACHE2\n"),
            ("long", tarfile.GNUTYPE_LONGNAME, 64 * MIB, b""),
        ]:
            info = tarfile.TarInfo(name)
            info.type, info.size = kind, size
            out.write(info.tobuf() + data)
            end = size + -size % 512
            for left in range(end - len(data), 0, -MIB):
                out.write(bytes(min(left, MIB)))
    code = """
import tracemalloc
import xpu_runtime as xr
from xpu_runtime import cache_archive
xr.devices()
tracemalloc.start()
try:
    cache_archive.import_("cache.tar.gz")
except xr.UsageError as error:
    print(error)
print(tracemalloc.get_traced_memory()[1])
"""
    env = os.environ | {"XDG_CACHE_HOME": str(cache_home)}
    out = subprocess.check_output([sys.executable, "-c", code], cwd=tmp_path, env=env, text=True)
    assert "expected cached files" in out
    assert int(out.split()[-1]) < 16 * MIB


def test_more_than_the_cache_may_take_is_refused(xpu_sdk, archive, filled):  # noqa: F811
    size = sum(path.stat().st_size for path in filled.iterdir())
    before = names(filled)
    xpu_sdk("cache", "clear")
    done = xpu_sdk("cache", "import", archive.name, XPU_CACHE_SIZE=str(size))
    assert done.returncode == 1
    assert f"Set XPU_CACHE_SIZE to {size * 10 // 9 + 1} or more" in done.stdout
    assert names(filled) == []
    done = xpu_sdk("cache", "import", archive.name, XPU_CACHE_SIZE=str(size * 10 // 9 + 1))
    assert done.returncode == 0
    assert names(filled) == before


def test_a_file_is_needed(xpu_sdk):
    assert xpu_sdk("cache", "import").returncode == 2
    assert xpu_sdk("cache", "list", "file").returncode == 2
