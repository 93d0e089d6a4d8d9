"""Tests of Triton on xpu; none where Triton is not installed."""

import importlib.util
import sys
from pathlib import Path

collect_ignore_glob = [] if importlib.util.find_spec("triton") else ["*"]

# The helpers beside the tests are importable.
sys.path.insert(0, str(Path(__file__).parent))
