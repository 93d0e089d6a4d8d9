"""Each test gets a kernel cache of its own and runs the command in a child, as a user does."""

import os
import sys
from pathlib import Path

import pytest
from xpu_testing import processes

sys.path.insert(0, str(Path(__file__).parent))  # the programs that tests run


@pytest.fixture
def cache_home(tmp_path):
    home = tmp_path / "cache"
    home.mkdir(mode=0o700)
    return home


@pytest.fixture
def xpu_sdk(tmp_path, cache_home):
    """Runs ``xpu-sdk`` and returns the finished process."""

    def run(*arguments, **env):
        variables = os.environ | {"XDG_CACHE_HOME": str(cache_home), "COLUMNS": "200"} | env
        command = [sys.executable, "-m", "xpu_sdk", *arguments]
        return processes.run(command, timeout=300, env=variables, cwd=tmp_path)

    return run
