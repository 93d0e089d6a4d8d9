"""How a host waits for a GPU: the policy, with a simulated device."""

import ctypes
import random
from typing import NamedTuple

import pytest
from private_library import private_library

MICROSECOND = 1000
MILLISECOND = 1000 * MICROSECOND
SECOND = 1000 * MILLISECOND
DAY = 86_400 * SECOND


class Wait(NamedTuple):
    """One wait, in ns."""

    time: int
    polls: int
    spun: int
    done: int


@pytest.fixture
def wait():
    """Wait for work of so many nanoseconds, by one policy."""
    library = private_library("streams/wait_policy.cpp", "wait_policy.h")
    library.make_policy.restype = ctypes.c_void_p
    library.destroy_policy.argtypes = [ctypes.c_void_p]
    library.wait_for.argtypes = [
        ctypes.c_void_p,
        ctypes.c_int64,
        ctypes.c_int64,
        ctypes.POINTER(ctypes.c_int64),
    ]
    policy = library.make_policy()

    def wait(duration: int, timeout: int = DAY) -> Wait:
        result = (ctypes.c_int64 * 4)()
        library.wait_for(policy, duration, timeout, result)
        return Wait(*result)

    yield wait
    library.destroy_policy(policy)


@pytest.mark.parametrize("microseconds", [1, 5, 20, 60, 99])
def test_short_work_is_seen_at_once(wait, microseconds):
    duration = microseconds * MICROSECOND
    assert all(wait(duration).time <= duration + 2 * MICROSECOND for _ in range(20))


@pytest.mark.parametrize("microseconds", [120, 400, 1000, 4000, 20_000])
def test_long_work_is_seen_soon(wait, microseconds):
    duration = microseconds * MICROSECOND
    for _ in range(5):
        over = wait(duration).time - duration
        assert over <= duration / 32 + 28 * MICROSECOND


def test_a_long_wait_takes_little_of_a_core(wait):
    long = wait(10 * SECOND)
    assert long.spun <= 100 * MICROSECOND
    assert long.polls < 11_000


def test_the_host_spins_for_as_long_as_the_last_waits_took(wait):
    for _ in range(30):
        wait(8 * MICROSECOND)
    assert wait(SECOND).spun <= 12 * MICROSECOND
    assert 90 * MICROSECOND <= wait(SECOND).spun <= 100 * MICROSECOND  # the last one was long


def test_a_slow_wait_among_short_ones_is_not_forgotten_at_once(wait):
    for _ in range(30):
        wait(8 * MICROSECOND)
    wait(60 * MICROSECOND)
    wait(8 * MICROSECOND)
    assert wait(50 * MICROSECOND).time <= 52 * MICROSECOND


def test_a_timeout_ends_the_wait(wait):
    ended = wait(SECOND, timeout=10 * MILLISECOND)
    assert not ended.done
    assert 10 * MILLISECOND <= ended.time <= 10.4 * MILLISECOND
    assert wait(MILLISECOND, timeout=10 * MILLISECOND).done


def test_random_work_is_never_seen_late(wait):
    rng = random.Random(0)
    for _ in range(300):
        duration = round(10 ** rng.uniform(3, 8))
        result = wait(duration)
        assert result.spun <= 100 * MICROSECOND
        assert 0 <= result.time - duration <= max(duration / 32, 20 * MICROSECOND) + 8 * MICROSECOND
