"""The fuzzer of fusions notices faults: each mutation changes the result of a case of seed 0."""

import dataclasses
import sys
from pathlib import Path
from unittest import mock

import pytest
import torch
from xpu_testing import fuzzing

from inductor_xpu.fusions import chains, convolutions, gemm, operators, steps

sys.path.append(str(Path(__file__).parents[1] / "fuzz" / "fusions"))
from fused_case import FusedCase

pytestmark = [pytest.mark.values, pytest.mark.filterwarnings("ignore")]


def steps_in_reverse():
    stock = operators.steps_as_arguments
    return mock.patch.object(gemm, "steps_as_arguments", lambda given: stock(given[::-1]))


def changed_factor():
    def changed(step, *_):
        return dataclasses.replace(step, alpha=step.alpha * 1.5, beta=step.beta + 0.25)

    def arguments(given):
        return operators.steps_as_arguments([changed(step) for step in given])

    return mock.patch.object(gemm, "steps_as_arguments", arguments)


def differences_commute():
    return mock.patch.object(chains, "_COMMUTATIVE", ("add", "mul", "sub", "div"))


def operand_as_it_is():
    return mock.patch.object(gemm, "_with_reshaped_operand", lambda chain, step: step)


def bias_is_lost():
    return mock.patch.dict(gemm._GEMMS, {torch.ops.aten.addmm.default: (1, 2, None)})


def activation(name, *changed):
    table = [
        dataclasses.replace(a, steps=lambda numbers: changed) if a.name == name else a
        for a in steps.ACTIVATIONS
    ]
    return mock.patch.object(chains, "ACTIVATIONS", table)


def steps_of_convolutions_in_reverse():
    stock = operators.steps_as_arguments
    return mock.patch.object(convolutions, "steps_as_arguments", lambda given: stock(given[::-1]))


MUTATIONS = {
    "steps in reverse": (2, steps_in_reverse),
    "a changed factor": (2, changed_factor),
    "differences commute": (34, differences_commute),
    "the operand of a view keeps its shape": (320, operand_as_it_is),
    "the bias is lost": (43, bias_is_lost),
    "steps of convolutions in reverse": (33, steps_of_convolutions_in_reverse),
    "gelu is silu": (12, lambda: activation("gelu_erf", steps.Step("silu"))),
    "relu is abs": (131, lambda: activation("relu", steps.Step("abs"))),
    "slopes are 0.1": (101, lambda: activation("leaky_relu", steps.Step("relu", 0.1))),
}


@pytest.mark.parametrize("name", MUTATIONS)
def test_a_mutation_is_noticed(name):
    number, mutate = MUTATIONS[name]
    case = FusedCase(fuzzing.case_random(0, number))
    with torch._inductor.config.patch(force_disable_caches=True):
        assert case.run() == fuzzing.PASSED
        with mutate(), pytest.raises(Exception, match=r"wrong|expected|number of sizes"):
            case.run()
