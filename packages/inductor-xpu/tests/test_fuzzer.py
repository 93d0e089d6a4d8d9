"""The fuzzer notices faults of the generator: each mutation changes the result of a case of seed 0.

Where the fuzzer's programs change, other cases notice them: try the numbers from 100 on.
"""

import sys
from pathlib import Path
from unittest import mock

import pytest
import torch
import xpu_runtime
from xpu_runtime.codegen import division, keep_values, write_pointwise, write_rows
from xpu_testing import fuzzing

from inductor_xpu.reader import kernel, operators, reductions

sys.path.append(str(Path(__file__).parents[1] / "fuzz" / "inductor"))
from case import Case

pytestmark = [
    pytest.mark.values,
    pytest.mark.filterwarnings("ignore"),
    pytest.mark.skipif(xpu_runtime.generic_backend(), reason="the cases have tails for 16 lanes"),
]


def combination(kind, template):
    return mock.patch.dict(reductions._SIMPLE, {kind: reductions._Combination(template, template)})


def masked_elements_are_zero():
    stock = operators.Operators.masked
    changed = staticmethod(lambda mask, body, other: stock(mask, body, 0))
    return mock.patch.object(operators.Operators, "masked", changed)


def last_of_equal_numbers():
    stock = reductions.Term

    def changed(template, args=()):
        return stock(template.replace("{1} < {3}", "{1} > {3}"), args)

    return mock.patch.object(reductions, "Term", changed)


def values_of_other_arguments():
    def changed(operand, keys):
        return getattr(operand, "template", operand)

    return mock.patch.object(keep_values, "_key", changed)


def atomic_updates_are_stores():
    stock = kernel.Store

    def changed(array, position, value, combine=""):
        return stock(array, position, value)

    return mock.patch.object(kernel, "Store", changed)


def columns_without_a_tail():
    def changed(columns, width, lanes, overlap):
        return columns // width, columns // width

    return mock.patch.object(division, "column_blocks", changed)


def one_group_fewer():
    stock = division.Division.launch

    def changed(self, values):
        groups, sizes = stock(self, values)
        return max(0, groups - 1), sizes

    return mock.patch.object(division.Division, "launch", changed)


def tiles_without_a_tail():
    def changed(call, index, count, target, first, end, team=None):
        step = "e += XPU_SUB_GROUP"
        return [f"for ({index} e = {first}; e + XPU_SUB_GROUP <= {end}; {step}) {call}"]

    return mock.patch.object(write_pointwise, "loop_over", changed)


MUTATIONS = {
    "a sum counts too much": (104, lambda: combination("sum", "{0} + {1} * 1.01f")),
    "a maximum is the last element": (104, lambda: combination("max", "{1}")),
    "differences are sums": (100, lambda: mock.patch.dict(operators._WRAPPING, {"sub": "+"})),
    "comparisons hold for equal ones": (
        105,
        lambda: mock.patch.dict(operators._COMPARISONS, {"gt": ">="}),
    ),
    "masked elements are zero": (106, masked_elements_are_zero),
    "the last of equal numbers": (156, last_of_equal_numbers),
    "values of other arguments are kept": (114, values_of_other_arguments),
    "atomic updates are stores": (100, atomic_updates_are_stores),
    "columns have no tail": (107, columns_without_a_tail),
    "rows have no tail": (101, lambda: mock.patch.object(write_rows, "loop_over", return_value=[])),
    "tiles have no tail": (100, tiles_without_a_tail),
    "a group fewer": (100, one_group_fewer),
    "updates of columns repeat": (
        263,
        lambda: mock.patch.object(kernel.LoopKernel, "_written_as", return_value={}),
    ),
}


@pytest.mark.parametrize("name", MUTATIONS)
def test_a_mutation_is_noticed(name):
    number, mutate = MUTATIONS[name]
    torch._dynamo.reset()
    case = Case(fuzzing.case_random(0, number))
    with torch._inductor.config.patch(force_disable_caches=True):
        assert case.run() == fuzzing.PASSED
        with mutate(), pytest.raises(fuzzing.Difference):
            case.run()
