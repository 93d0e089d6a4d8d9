"""The fuzzer of fusions notices faults: each mutation changes the result of a case of seed 0."""

import dataclasses
import sys
from pathlib import Path
from unittest import mock

import pytest
import torch
from xpu_testing import fuzzing

from inductor_xpu.fusions import chains, expressions, operators, products, steps

sys.path.append(str(Path(__file__).parents[1] / "fuzz" / "fusions"))
from fused_case import FusedCase

pytestmark = [pytest.mark.values, pytest.mark.filterwarnings("ignore")]


def steps_in_reverse():
    stock = operators.steps_as_arguments
    return mock.patch.object(products, "steps_as_arguments", lambda given: stock(given[::-1]))


def changed_factor():
    def changed(step, *_):
        return dataclasses.replace(step, alpha=step.alpha * 1.5, beta=step.beta + 0.25)

    def arguments(given):
        return operators.steps_as_arguments([changed(step) for step in given])

    return mock.patch.object(products, "steps_as_arguments", arguments)


def readers_do_not_count():
    def only_reader(node):
        return next(iter(node.users), None)

    return mock.patch.object(chains, "_only_reader", only_reader)


def differences_commute():
    return mock.patch.object(chains, "_COMMUTATIVE", ("add", "mul", "sub", "div"))


def operand_as_it_is():
    return mock.patch.object(products, "_with_reshaped_operand", lambda chain, step: step)


def bias_is_lost():
    return mock.patch.dict(products._PRODUCTS, {torch.ops.aten.addmm.default: (1, 2, None)})


def parts_have_no_readers():
    def match(expression, end, source):
        return next(
            (n for n, _ in expressions._matches(expression, end, source, {}, frozenset())), None
        )

    return mock.patch.object(chains, "match", match)


def gelu_is_silu():
    changed = [
        dataclasses.replace(a, steps=lambda numbers: (steps.Step("silu"),))
        if a.name == "gelu_erf"
        else a
        for a in steps.ACTIVATIONS
    ]
    return mock.patch.object(chains, "ACTIVATIONS", changed)


MUTATIONS = {
    "steps in reverse": (2, steps_in_reverse),
    "a changed factor": (2, changed_factor),
    "readers do not count": (0, readers_do_not_count),
    "differences commute": (34, differences_commute),
    "the operand of a view keeps its shape": (0, operand_as_it_is),
    "the bias is lost": (43, bias_is_lost),
    "parts have no readers": (0, parts_have_no_readers),
    "gelu is silu": (12, gelu_is_silu),
}


@pytest.mark.parametrize("name", MUTATIONS)
def test_a_mutation_is_noticed(name):
    number, mutate = MUTATIONS[name]
    case = FusedCase(fuzzing.case_random(0, number))
    with torch._inductor.config.patch(force_disable_caches=True):
        assert case.run() == fuzzing.PASSED
        with mutate(), pytest.raises(Exception, match=r"wrong|expected|shape|size"):
            case.run()
