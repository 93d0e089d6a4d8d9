"""Tests of Triton on xpu; none where Triton is not installed."""

import importlib.util

collect_ignore_glob = [] if importlib.util.find_spec("triton") else ["*"]
