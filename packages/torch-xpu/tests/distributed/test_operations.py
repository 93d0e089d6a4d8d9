"""Collectives of xpu tensors: values and order."""

import re

import pytest
from ranks import run_ranks

pytestmark = pytest.mark.values


@pytest.mark.parametrize("backend", ["none", "gloo"])
def test_operations(backend):
    for result in run_ranks("operations.py", backend):
        assert int(re.search(r"(\d+) cases", result.out)[1]) > 1800


def test_checker_of_pytorch_accepts_the_operations():
    run_ranks("operations.py", "gloo", env={"TORCH_DISTRIBUTED_DEBUG": "DETAIL"})


def wrong_mixes(count: int, *arguments: str) -> int:
    results = run_ranks("order.py", str(count), *arguments)
    return sum(int(re.search(r"(\d+) of", result.out)[1]) for result in results)


def test_order_of_kernels_streams_and_collectives():
    assert wrong_mixes(300) == 0


@pytest.mark.parametrize("wait", ["work", "caller"])
def test_a_wait_that_is_left_out_is_noticed(wait):
    assert wrong_mixes(30, wait) > 0


def test_collectives_at_random_beside_threads():
    for result in run_ranks("at_random.py", "4"):
        assert "collectives" in result.out


def test_operands():
    run_ranks("operands.py", env={"XPU_CPU_DEVICES": "2"})
