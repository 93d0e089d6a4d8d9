"""``xpu-sdk cache export`` and ``import``: another machine of the same kind starts with a filled cache."""

import io
import json
import os
import subprocess
import sys
import tarfile

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
    file = next(filled.glob("*.spv"))
    file.write_bytes(file.read_bytes()[:-1] + b"?")
    done = xpu_sdk("cache", "export", "cache.tar.gz")
    assert file.name in done.stdout.replace("\n", "")
    with tarfile.open(tmp_path / "cache.tar.gz") as archive:
        assert file.name not in archive.getnames()


def test_damaged_members_are_left_out(xpu_sdk, archive, filled):  # noqa: F811
    spoil = next(name for name in names(filled) if name.endswith(".spv"))
    rewritten(archive, lambda name, data: [(name, data[:-1] + b"?" if name == spoil else data)])
    before = names(filled)
    xpu_sdk("cache", "clear")
    done = xpu_sdk("cache", "import", archive.name)
    assert done.returncode == 0
    assert spoil in done.stdout.replace("\n", "")
    assert names(filled) == [name for name in before if name != spoil]


def test_other_devices_are_refused_by_name(xpu_sdk, archive):
    about = json.dumps({"form": 1, "devices": [["level_zero", "Some GPU", "1.2"]]}).encode()
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
    ["text", "cut", "no about", "other form", "no devices", "tar of nothing", "missing"],
)
def test_other_files_are_refused(xpu_sdk, archive, kind):
    if kind == "text":
        archive.write_text("not an archive")
    elif kind == "cut":
        archive.write_bytes(archive.read_bytes()[:-200])
    elif kind == "no devices":
        rewritten(archive, lambda name, data: [(name, b'{"form": 1, "devices": [3]}')])
    elif kind == "no about":
        rewritten(archive, lambda name, data: [] if name == "about.json" else [(name, data)])
    elif kind == "other form":
        rewritten(archive, lambda name, data: [(name, b'{"form": 2, "devices": []}')])
    elif kind == "tar of nothing":
        rewritten(archive, lambda name, data: [])
    else:
        archive.unlink()
    refused(xpu_sdk, "cannot import")


SPOIL = """
import random, sys
from pathlib import Path
from xpu_runtime import UsageError, cache, cache_archive
file = Path("cache.tar.gz")
data, outcomes = file.read_bytes(), set()
for seed in range(200):
    spoiled = bytearray(data)
    spoiled[random.Random(seed).randrange(len(data))] ^= 1 << seed % 8
    file.write_bytes(spoiled)
    cache.clear()
    try:
        outcomes.add("damaged" if cache_archive.import_(file).damaged else "whole")
    except UsageError:
        outcomes.add("refused")
    assert not cache.verify()
assert outcomes >= {"refused", "damaged"}, outcomes
"""


def test_whatever_bit_is_wrong_no_damaged_file_is_stored(archive, tmp_path, cache_home):
    env = os.environ | {"XDG_CACHE_HOME": str(cache_home)}
    subprocess.run([sys.executable, "-c", SPOIL], cwd=tmp_path, env=env, check=True, timeout=120)


def test_a_file_is_needed(xpu_sdk):
    assert xpu_sdk("cache", "import").returncode == 2
    assert xpu_sdk("cache", "list", "file").returncode == 2
