"""The soak says what memory it needs, and refuses where that is not free."""

import os
import sys
from pathlib import Path

import pytest
from xpu_testing import free_memory, processes

ROOT = Path(__file__).resolve().parents[3]
SOAK = ROOT / "packages" / "xpu-sdk" / "soak"


@pytest.mark.parametrize(
    ("gib", "chosen", "needed"),
    [(8, "test_large.py", 16), (2, "test_leaks.py", 4), (15, ".", 16)],
)
def test_refuses_where_too_little_is_free(tmp_path, gib, chosen, needed):
    (tmp_path / "small_machine.py").write_text(
        f"from xpu_testing import free_memory\nfree_memory.free_memory = lambda: {gib} * 2**30\n"
    )
    command = [sys.executable, "-m", "pytest", "-c", str(ROOT / "pyproject.toml")]
    command += [f"--rootdir={ROOT}", "-p", "no:cacheprovider", "-p", "small_machine"]
    path = {"PYTHONPATH": str(tmp_path)}
    done = processes.run([*command, str(SOAK / chosen)], timeout=120, env=os.environ | path)
    assert done.returncode == 2, done.stdout + done.stderr
    about = f"soak: needs up to {needed} GiB of memory, {gib}.0 GiB are free"
    assert about in done.stdout
    assert "end other programs, or choose tests that need less" in done.stdout
    assert "PASSED" not in done.stdout


MEMINFO = "MemTotal:  33554432 kB\nMemFree:  1024 kB\nMemAvailable:  20971520 kB\n"


def machine(root, groups, cgroup):
    """A root folder with files of the kernel."""
    (root / "proc/self").mkdir(parents=True)
    (root / "proc/meminfo").write_text(MEMINFO)
    (root / "proc/self/cgroup").write_text(cgroup)
    for folder, files in groups.items():
        (root / "sys/fs/cgroup" / folder).mkdir(parents=True, exist_ok=True)
        for name, text in files.items():
            (root / "sys/fs/cgroup" / folder / name).write_text(text)
    return root


GIB = 2**30


def second(limit, used, reclaimable):
    return {
        "memory.max": f"{limit}\n",
        "memory.current": f"{used}\n",
        "memory.stat": f"anon 5\ninactive_file {reclaimable}\n",
    }


def test_free_memory_is_the_least_of_machine_and_groups(tmp_path):
    groups = {"": {}, "a": second(6 * GIB, 3 * GIB, GIB), "a/b": second("max", 2 * GIB, 0)}
    assert free_memory.free_memory(machine(tmp_path, groups, "0::/a/b\n")) == 4 * GIB


def test_free_memory_without_a_limit_is_the_machines(tmp_path):
    root = machine(tmp_path, {"a": second("max", 2 * GIB, 0)}, "0::/a\n")
    assert free_memory.free_memory(root) == 20 * GIB


def test_free_memory_by_the_first_version_of_cgroups(tmp_path):
    files = {
        "memory.limit_in_bytes": f"{8 * GIB}\n",
        "memory.usage_in_bytes": f"{5 * GIB}\n",
        "memory.stat": f"total_inactive_file {2 * GIB}\n",
    }
    root = machine(tmp_path, {"memory/a": files}, "4:memory:/a\n3:cpu,cpuacct:/a\n")
    assert free_memory.free_memory(root) == 5 * GIB


def test_free_memory_of_this_machine():
    assert 0 < free_memory.free_memory() < 2**50
