"""What a timeout leaves: PyTorch's flight record, and a message that names what is pending."""

import pickle
import subprocess
import sys

import pytest
from ranks import run_ranks

pytestmark = pytest.mark.values


@pytest.mark.parametrize("variable", ["TORCH_FR_DUMP_TEMP_FILE", "TORCH_NCCL_DEBUG_INFO_TEMP_FILE"])
def test_a_timeout_writes_the_flight_record(variable, tmp_path):
    run_ranks("failures.py", "recorded", env={variable: str(tmp_path / "rank_")})
    record = pickle.loads((tmp_path / "rank_0").read_bytes())
    calls = [entry for entry in record["entries"] if entry["process_group"][0] == "0/xpu"]
    assert [entry["profiling_name"] for entry in calls] == ["gloo:all_reduce"] * 3
    assert calls[-1]["input_sizes"] == [[1024, 3]]
    assert calls[-1]["timeout_ms"] == 3000
    assert record["pg_config"]["0/xpu"]["ranks"] == "[0, 1]"


def test_no_record_is_written_unless_the_user_names_a_file(tmp_path):
    run_ranks("failures.py", "recorded", env={"HOME": str(tmp_path), "XDG_CACHE_HOME": None})
    assert not list(tmp_path.rglob("*trace_rank*"))


def test_tool_of_pytorch_names_the_rank_that_did_not_come(tmp_path):
    run_ranks("failures.py", "recorded", env={"TORCH_FR_DUMP_TEMP_FILE": str(tmp_path / "rank_")})
    tool = "torch.distributed.flight_recorder.fr_trace"
    command = [sys.executable, "-m", tool, str(tmp_path), "--prefix", "rank_"]
    shown = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
    lines = (shown.stdout + shown.stderr).splitlines()
    assert "Not all ranks joining collective, sequence number: 3" in lines
    assert "missing ranks: {1}" in lines
