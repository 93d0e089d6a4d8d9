"""PyTorch's ways to train on several devices: a small model of GPT-2's shape learns as by one process."""

import pytest
from ranks import run_ranks

pytestmark = pytest.mark.values


@pytest.mark.parametrize(
    "modes",
    [
        ["ddp", "ddp_views", "ddp_hook"],
        ["ddp_bf16_hook", "ddp_no_sync", "zero"],
        ["fsdp1", "fsdp1_mixed"],
        ["fsdp2", "fsdp2_mixed", "fsdp2_offloaded"],
        ["tensor_parallel"],
        ["sequence_parallel"],
        ["sync_batch_norm"],
    ],
    ids="-".join,
)
def test_two_ranks_train_as_one_process(modes):
    for result in run_ranks("training.py", *modes):
        assert [
            line.split()[1] for line in result.out.splitlines() if line.startswith("done")
        ] == modes
