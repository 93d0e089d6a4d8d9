"""The judge of floats: what it allows and what it does not, at the element."""

import random

import numpy as np
import pytest
from xpu_testing import mutation, noise
from xpu_testing.float_formats import FORMATS, format_of
from xpu_testing.judge import wrong_elements

F32, F16 = FORMATS["f32"], FORMATS["f16"]
VALUES = np.linspace(1, 1000, 64)


def wrong(got, exact, about=F32, trials=()):
    return np.flatnonzero(
        wrong_elements(np.asarray(got), np.asarray(exact), trials, about)
    ).tolist()


def test_an_element_is_measured_at_itself_and_not_at_the_largest():
    got = VALUES.copy()
    got[0] += 1e-5
    assert wrong(got, VALUES) == [0]
    got[0] = 1 + 2e-7
    assert wrong(got, VALUES) == []


def test_a_sum_that_cancels_may_lose_the_last_digits_of_its_summands():
    summands = np.array([1e4, -1e4 + 1e-3])
    trials = [each.rounded(summands, F32).sum(keepdims=True) for each in noise.trials(1)]
    exact = summands.sum(keepdims=True)
    assert wrong(exact + 1e-3, exact, trials=trials) == []
    assert wrong(exact + 1, exact, trials=trials) == [0]


@pytest.mark.parametrize(
    ("got", "exact"),
    [
        (1.0, np.nan),
        (np.nan, 1.0),
        (np.inf, 1.0),
        (-np.inf, np.inf),
        (3.0, np.inf),
        (np.nan, np.inf),
    ],
)
def test_nan_and_infinity_are_where_the_reference_has_them(got, exact):
    assert wrong([got], [exact]) == [0]
    assert wrong([exact], [exact]) == []


def test_a_result_out_of_range_may_be_infinite():
    assert wrong([np.inf, 65504.0], [70000.0, 65600.0], F16) == []
    assert wrong([-np.inf, 1.0], [70000.0, 65600.0], F16) == [0, 1]


def test_an_element_that_rounding_makes_infinite_is_compared_with_the_finite_ones():
    exact, trials = np.array([5.0]), [np.array([5.1]), np.array([4.9]), np.array([np.inf])]
    assert wrong([np.inf], exact, trials=trials) == []
    assert wrong([4.0], exact, trials=trials) == []
    assert wrong([100.0], exact, trials=trials) == [0]


def test_noise_is_as_large_as_a_step_may_lose():
    (off,) = noise.Noise(0).rounded(np.array([3.0]), F16) - 3
    assert 0 < abs(off) <= 3 * F16.step_error + F16.smallest
    assert noise.Noise(0).rounded(np.array([3.0]), F16, error=0.0) == 3
    clipped = noise.clipped(np.array([1e5, -1e5, 1e-12, 3.0]), F16)
    assert clipped.tolist() == [np.inf, -np.inf, 0, 3]


@pytest.mark.parametrize("kind", mutation.KINDS)
@pytest.mark.parametrize("dtype", ["float32", "float16"])
def test_the_judge_notices_every_mutation(kind, dtype):
    right = VALUES.astype(dtype)
    right[5] = np.nan
    for seed in range(20):
        changed = mutation.mutated(right, kind, random.Random(seed))
        assert wrong(changed.astype(float), right.astype(float), format_of(dtype))


def test_a_mutation_that_changes_nothing_is_none():
    zeros = np.zeros(8, np.float32)
    assert mutation.mutated(zeros, "zeros", None) is None
    assert mutation.mutated(zeros, "tail", None) is None
    assert mutation.mutated(zeros, "nan", None) is None
