"""Tests of several processes: each starts two ranks."""

import sys
from pathlib import Path

# The helpers beside the tests are importable.
sys.path.insert(0, str(Path(__file__).parent))
