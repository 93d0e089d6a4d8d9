"""Streams are ordered, events mark and time points in them."""

from __future__ import annotations

import os
import threading

import pytest

from .framework import Framework

LONG, SHORT = 20_000_000, 1_000


class StreamConformance:
    """What must hold of every framework's streams and events."""

    def test_the_default_stream_is_one_and_is_current(self, api: Framework) -> None:
        assert api.default_stream() == api.default_stream() == api.current_stream()

    def test_streams_are_hashable(self, api: Framework) -> None:
        assert len({api.default_stream(), api.default_stream()}) == 1

    def test_the_current_stream_is_a_threads_own(self, api: Framework) -> None:
        other, seen = api.stream(), []
        with api.use(other):
            assert api.current_stream() == other
            thread = threading.Thread(target=lambda: seen.append(api.current_stream()))
            thread.start()
            thread.join()
        assert seen == [api.default_stream()]
        assert api.current_stream() == api.default_stream()

    @pytest.mark.values
    def test_work_is_asynchronous_and_waits_end_it(self, api: Framework) -> None:
        stream, event = api.stream(), api.event()
        api.keep_busy(stream, LONG)
        event.record(stream)
        if (
            os.environ.get("XPU_STRICT_MEMORY") != "1"
        ):  # which ends every call's work within the call
            assert not event.query()
            assert not api.query(stream)
        event.synchronize()
        assert event.query()
        api.synchronize(stream)
        assert api.query(stream)

    @pytest.mark.values
    def test_a_stream_waits_for_anothers_event(self, api: Framework) -> None:
        first, second, event, array = api.stream(), api.stream(), api.event(), api.array(4096)
        api.fill(array, 1, first)
        api.keep_busy(first, LONG)
        api.fill(array, 2, first)
        event.record(first)
        api.wait(second, event)
        api.fill(array, 3, second)
        api.wait(api.current_stream(), event)
        api.synchronize(second)
        assert set(api.read(array)) == {3}

    @pytest.mark.values
    def test_events_time_the_device(self, api: Framework) -> None:
        stream = api.stream()

        def timed(rounds: int) -> float:
            begin, end = api.event(), api.event()
            api.keep_busy(stream, SHORT)
            begin.record(stream)
            api.keep_busy(stream, rounds)
            end.record(stream)
            end.synchronize()
            return api.elapsed(begin, end)

        timed(SHORT)
        long = timed(LONG)
        assert long > 1
        assert timed(SHORT) < long / 2

    def test_an_event_never_recorded_is_reached(self, api: Framework) -> None:
        event = api.event()
        assert event.query()
        event.synchronize()
        api.wait(api.stream(), event)
