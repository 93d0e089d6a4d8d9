"""Each test gets a kernel cache of its own and runs the command in a child, as a user does."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

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
        return subprocess.run(
            [sys.executable, "-m", "xpu_sdk", *arguments],
            env=variables,
            cwd=tmp_path,
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )

    return run
