"""The same seed and the same input give the same bits, whatever number of cores there is."""

import hashlib
from pathlib import Path

import pytest

DIGESTS = Path(__file__).parent / "programs" / "digests.py"


@pytest.mark.values
@pytest.mark.cpu_device
def test_cores_and_runs(child):
    """Random fills, float reductions and scans on one core, on two, and on two again."""
    one, two, again = (
        child(DIGESTS, arguments=[cores]).check().out.splitlines() for cores in "122"
    )
    assert len(one) > 50
    assert all(len(line.split()[-1]) == 2 * hashlib.sha256().digest_size for line in one)
    assert one == two == again
