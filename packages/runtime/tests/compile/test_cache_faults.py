"""What may happen to the caches on disk: right values, one warning that says what is wrong, no error."""

from __future__ import annotations

import concurrent.futures
import os
import shutil
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from helper_processes import helper_processes
from xpu_testing import processes

pytestmark = pytest.mark.values

# Prints the values of two kernels that no other test has.
CODE = """
    import numpy as np
    import xpu_runtime as xr

    def value(k):
        source = "\\n".join(["#include <xpu/core.h>",
            f"XPU_KERNEL(1) fault(xpu::global<float> y) {{ y[0] = {k}.25f; }}"])
        y = xr.zeros(1)
        xr.launch(xr.compile(source).kernel("fault"), 1, 1, [y])
        return float(y.numpy()[0])

    print(value(1), value(2))
"""
VALUES = "1.25 2.25"


def warnings_in(err: str) -> list[str]:
    """What was said, but that a compilation took long."""
    return [
        line
        for line in err.splitlines()
        if line.strip() and "kernels are compiled when" not in line
    ]


@pytest.fixture
def folder(tmp_path):
    return tmp_path / "kernels"


@pytest.fixture
def run(child, folder):
    """Runs CODE with the cache in ``folder``; returns what it warned of."""

    def run(warnings: int, said: str = "", **variables: str | None) -> None:
        done = child(CODE, env={"XPU_CACHE_DIR": str(folder)} | variables).check()
        assert done.out.strip() == VALUES
        assert len(warnings_in(done.err)) == warnings, done.err
        assert said in done.err

    return run


def flip(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 4
    path.write_bytes(data)


def replace_by_folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


def replace_by_full_folder(path: Path) -> None:
    replace_by_folder(path)
    (path / "of the user's").write_text("")


def link(target: str):
    def change(path: Path) -> None:
        path.unlink()
        path.symlink_to(path.name if target == "itself" else target)

    return change


def link_to_a_copy(path: Path) -> None:
    copy = path.with_name(path.name + ".copy")
    path.rename(copy)
    path.symlink_to(copy)


def replace_by_pipe(path: Path) -> None:
    path.unlink()
    os.mkfifo(path)


# What happened to every file, how many warnings that is, and of what.
DAMAGE = {
    "cut": (lambda path: os.truncate(path, path.stat().st_size // 2), 1, "is damaged"),
    "cut in its head": (lambda path: os.truncate(path, 20), 1, "is damaged"),
    "emptied": (lambda path: os.truncate(path, 0), 1, "is damaged"),
    "flipped": (flip, 1, "is damaged"),
    "replaced by a folder": (replace_by_folder, 1, "is not a file"),
    "replaced by a full folder": (replace_by_full_folder, 1, "is not a file"),
    "replaced by a pipe": (replace_by_pipe, 1, "is not a file"),
    "a link to itself": (link("itself"), 1, "is a link to itself"),
    "a link to nothing": (link("/nowhere/at/all"), 0, ""),
    "a link to a device": (link("/dev/zero"), 1, "is not a file"),
    "a link to a copy": (link_to_a_copy, 0, ""),
}


@pytest.mark.parametrize("damage", DAMAGE)
def test_damaged_files(run, folder, damage):
    change, warnings, said = DAMAGE[damage]
    run(0)
    for path in list(folder.iterdir()):
        change(path)
    run(warnings, said)
    if "full" not in damage:
        run(0)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away")
def test_files_of_others(run, folder):
    run(0)
    for path in folder.iterdir():
        os.chown(path, 65534, 65534)
    run(1, "belongs to somebody else")
    run(0)


def in_namespace(script: str) -> list[str]:
    """A command that runs a shell script where it may mount."""
    return ["unshare", "--map-root-user", "--mount", "sh", "-ec", script]


def can_mount() -> bool:
    if not shutil.which("unshare"):
        return False
    trial = in_namespace("mount -t tmpfs none /mnt")
    return subprocess.run(trial, capture_output=True, timeout=30, check=False).returncode == 0


@pytest.mark.skipif(not can_mount(), reason="this user may mount nothing")
@pytest.mark.parametrize("filled", [False, True], ids=["read-only", "full"])
def test_disks(folder, filled):
    """Full or read-only, with a cache that has one of the two kernels."""
    folder.mkdir(mode=0o700)
    options = "size=64k,mode=700" if filled else "size=1m,mode=700,ro"
    fill = "head -c 1m /dev/zero > $0/full 2>/dev/null || true;" if filled else ""
    script = f'mount -t tmpfs -o {options} none "$0"; {fill} "$1" -c "$2"'
    environment = os.environ | {"XPU_CACHE_DIR": str(folder)}
    code = "\n".join(line.removeprefix("    ") for line in CODE.splitlines())
    command = [*in_namespace(script), str(folder), sys.executable, code]
    done = processes.run(command, timeout=120, env=environment)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == VALUES
    assert done.stderr.count("kernel cache: cannot write") == len(warnings_in(done.stderr)) == 1


def test_no_home(run):
    run(0, HOME=None, XDG_CACHE_HOME=None, XPU_CACHE_DIR=None)


def test_a_home_where_nothing_can_be_made(run):
    run(1, "kernel cache is off", HOME="/proc/none", XDG_CACHE_HOME=None, XPU_CACHE_DIR=None)


@pytest.mark.parametrize("helpers", ["0", "2"])
def test_a_temporary_folder_that_is_none(run, helpers):
    run(1, "temporary files, /nowhere", TMPDIR="/nowhere", XPU_BUILD_PROCESSES=helpers)


def test_no_temporary_folder_and_nothing_on_the_path(run):
    nothing = dict.fromkeys(("TMPDIR", "TMP", "TEMP", "TEMPDIR"))
    run(0, PATH="/nowhere", **nothing)


def test_a_folder_that_is_removed_meanwhile(child, folder):
    code = f"""{CODE}
    import shutil
    shutil.rmtree({str(folder)!r})
    print(value(3))
    """
    done = child(code, env={"XPU_CACHE_DIR": str(folder)}).check()
    assert done.out.split() == [*VALUES.split(), "3.25"]
    assert not warnings_in(done.err)
    assert list(folder.iterdir())


def test_eight_processes_of_which_some_are_killed(child, folder):
    """Whoever is killed as it writes: nobody else has a wrong value, or a warning."""
    environment = os.environ | {"XPU_CACHE_DIR": str(folder)}
    code = "\n".join(line.removeprefix("    ") for line in CODE.splitlines())
    code += "\nfor k in range(3, 8): value(k)"
    command = [sys.executable, "-c", code]

    def one(number: int) -> tuple[bool, int, str, list[str]]:
        tree = processes.ProcessTree(
            command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        process = tree.process
        killed = number % 3 == 0
        if killed:
            deadline = time.monotonic() + 60
            while not list(folder.glob("*.bin"))[number:] and time.monotonic() < deadline:
                time.sleep(0.002)
            process.kill()
        try:
            out, err = process.communicate(timeout=240)
        except BaseException:
            tree.kill()
            raise
        return killed, process.returncode, out.strip(), warnings_in(err)

    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        ended = list(pool.map(one, range(8)))
    assert [(code, out, err) for killed, code, out, err in ended if not killed] == [
        (0, VALUES, [])
    ] * sum(not killed for killed, *_ in ended)
    after = child(f"{CODE}\n    print(xr.cache.verify())", env={"XPU_CACHE_DIR": str(folder)})
    assert after.check().out.splitlines() == [VALUES, "[]"]
    deadline = time.monotonic() + 30
    while helper_processes(str(folder)) and time.monotonic() < deadline:
        time.sleep(0.1)
    assert not helper_processes(str(folder))


def test_what_a_killed_writer_left_goes(run, folder):
    folder.mkdir(mode=0o700)
    old, new = (folder / f"{letter * 64}.bin.123456.part" for letter in "ab")
    for path in (old, new):
        path.write_bytes(b"XPUC")
    os.utime(old, (1, 1))
    run(0)
    assert not old.exists()
    assert new.exists()


def test_threads_that_write_the_same(child, folder):
    """Each writes a file of its own: none is cut by another's."""
    child(
        """
        import concurrent.futures
        import xpu_runtime as xr

        def write(k):
            xr.cache.write(str(k % 3), "plan", bytes([k % 3]) * 100_000)
            assert xr.cache.read(str(k % 3), "plan") == bytes([k % 3]) * 100_000

        with concurrent.futures.ThreadPoolExecutor(8) as pool:
            list(pool.map(write, range(400)))
        assert len(xr.cache.list()) == 3 and xr.cache.verify() == []
        """,
        env={"XPU_CACHE_DIR": str(folder)},
    ).check()
    assert len(list(folder.iterdir())) == 3


def test_it_is_listed_as_others_make_room(xr, tmp_path, monkeypatch):
    monkeypatch.setattr(xr.cache, "folder", lambda: tmp_path)
    ending = threading.Event()

    def come_and_go():
        while not ending.is_set():
            for k in range(50):
                (tmp_path / f"{k:064}.bin").write_bytes(b"")
            for k in range(50):
                (tmp_path / f"{k:064}.bin").unlink(missing_ok=True)

    coming = threading.Thread(target=come_and_go)
    coming.start()
    try:
        for _ in range(100):
            xr.cache.list()
            xr.cache.verify()
            xr.cache.stats()
        for _ in range(20):
            xr.cache.clear()
    finally:
        ending.set()
        coming.join()


def test_what_is_no_file_is_damaged_and_stays(xr, tmp_path, monkeypatch):
    monkeypatch.setattr(xr.cache, "folder", lambda: tmp_path)
    folder, left = tmp_path / f"{1:064}.bin", tmp_path / f"{2:064}.bin.123456.part"
    folder.mkdir()
    left.write_bytes(b"half")
    assert xr.cache.verify() == [folder]
    xr.cache.clear()
    assert folder.exists()
    assert not left.exists()
