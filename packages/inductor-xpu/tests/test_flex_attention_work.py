"""How flex attention divides its work on devices that are not here."""

import pytest
from xpu_runtime.codegen.target import Target

from inductor_xpu.flex_attention.work import choose_parts, choose_work, padded

GPU = Target(lanes=16, units=512, gpu=True, max_items=1024, local_memory=64 * 1024)


def choose(head, target=GPU, columns=8192):
    return choose_work(
        target,
        columns=columns,
        rows=8192,
        columns_bytes=4 * (head + padded(head) + 2),
        rows_bytes=8 * padded(head),
        bytes=4,
    )


@pytest.mark.parametrize("head", [16, 64, 80, 128, 200])
def test_local_memory_of_a_gpu_is_enough(head):
    work = choose(head)
    columns = work.vectors * GPU.lanes
    used = columns * 4 * (head + padded(head) + 2) + work.rows * 8 * padded(head)
    used += work.teams * GPU.lanes * work.rows * 4
    assert used <= GPU.local_memory
    assert work.teams == work.vectors


def test_few_queries_leave_no_sub_group_idle():
    assert choose(64, columns=17).vectors == 2
    assert choose(64, columns=1).vectors == 1


def test_heads_that_no_division_holds_are_rejected():
    with pytest.raises(NotImplementedError, match="local memory"):
        choose(1024)


def test_groups_share_the_keys_of_few_queries():
    assert choose_parts(GPU, groups=8, row_tiles=256) == 64
    assert choose_parts(GPU, groups=200, row_tiles=256) == 3
    assert choose_parts(GPU, groups=8, row_tiles=5) == 2
    assert choose_parts(GPU, groups=4096, row_tiles=256) == 1
