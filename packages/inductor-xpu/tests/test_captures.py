"""mode="reduce-overhead" beside default mode: strides, shared memory, gradients, other devices.

These are a sample of the modules; captured_case.py runs all.
"""

from pathlib import Path
from unittest import mock

import pytest
import torch
from captured_case import CASES, CapturedCase, elementwise, linear, strided
from xpu_testing import run_child

from inductor_xpu import results

pytestmark = [
    pytest.mark.usefixtures("forget_compiled_code"),
    pytest.mark.values,
    pytest.mark.timeout(300),
    # What Inductor imports warns about itself.
    pytest.mark.filterwarnings("ignore:`torch.jit:DeprecationWarning"),
]


def case(value, result, trains):
    return CapturedCase(CASES.index((value, result)), trains)


@pytest.mark.parametrize(
    ("value", "result", "trains"),
    [
        (linear, "plain", True),  # its saved tensors are padded
        (strided, "expanded", False),
        (elementwise, "parts that overlap", False),
        (elementwise, "views of the parameter", True),
        (elementwise, "changed state", False),
    ],
)
def test_results_and_gradients_equal_those_of_default_mode(value, result, trains):
    case(value, result, trains).run()


def test_a_device_that_is_not_current():
    code = f"""
import sys, torch
sys.path.append({str(Path(__file__).parent)!r})
from captured_case import CASES, CapturedCase, elementwise
CapturedCase(CASES.index((elementwise, "plain")), True, "xpu:1").run()
assert torch.xpu.current_device() == 0

# A graph over two devices is not captured.
function = torch.compile(
    lambda x, y: ((x.sin() * 2).to("xpu:1") + y, x + 1), mode="reduce-overhead"
)
for n in range(5):
    x, y = torch.full((3,), float(n), device="xpu:0"), torch.ones(3, device="xpu:1")
    one, other = function(x, y)
    torch.testing.assert_close(one.cpu(), x.cpu().sin() * 2 + 1)
    torch.testing.assert_close(other.cpu(), x.cpu() + 1)
"""
    run_child(code, env={"XPU_CPU_DEVICES": "2"}, timeout=280).check()


def test_parts_of_one_tensor_that_are_changed_in_place():
    """What lies between the elements of one input belongs to the other."""

    def function(x, y):
        x.add_(1)
        y.mul_(2)

    def parts():
        whole = torch.arange(24.0, device="xpu").reshape(4, 6)
        return whole, whole[:, :3], whole[:, 3:]

    call = torch.compile(function, mode="reduce-overhead")
    for _ in range(5):
        (got, *inputs), (expected, *others) = parts(), parts()
        call(*inputs)
        function(*others)
        assert torch.equal(got, expected)


def uncopied(self, inputs):
    made = [make([*inputs, *self.blocks]) for make in self.makers]
    return [made[number] for number in self.order]


def ignore(self, value):
    """Set nothing."""


MUTATIONS = {
    "strides of dense tensors": (
        (linear, "plain", True),
        lambda: mock.patch.object(results, "_is_dense", return_value=True),
    ),
    "a copy for each result": (
        (elementwise, "parts that overlap", False),
        lambda: mock.patch.object(results, "_memory", id),
    ),
    "results in memory that a backward pass consumed": (
        (linear, "plain", True),
        lambda: mock.patch(
            "inductor_xpu.graphs.ReplayedModel.consumes",
            property(lambda self: False, ignore),
            create=True,
        ),
    ),
    "results that the next call overwrites": (
        (elementwise, "plain", False),
        lambda: mock.patch.object(results.Results, "copies", uncopied),
    ),
}


@pytest.mark.parametrize("name", MUTATIONS)
def test_the_cases_notice(name):
    about, mutation = MUTATIONS[name]
    with mutation(), pytest.raises((AssertionError, RuntimeError)):
        case(*about).run()
