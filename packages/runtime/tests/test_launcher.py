"""Launches of kernels with fixed types of arguments."""

from __future__ import annotations

import threading
from pathlib import Path

import numpy as np
import pytest
from sources import add_kernel

from xpu_runtime.array import bf16_bits

TYPES = {
    "b1": ("bool", np.bool_, [True, False]),
    "i1": ("xpu::i8", np.int8, [-128, 127]),
    "i2": ("xpu::i16", np.int16, [-(2**15), 2**15 - 1]),
    "i4": ("xpu::i32", np.int32, [-(2**31), 2**31 - 1]),
    "i8": ("xpu::i64", np.int64, [-(2**63), 2**63 - 1]),
    "u1": ("xpu::u8", np.uint8, [0, 255]),
    "u2": ("xpu::u16", np.uint16, [0, 2**16 - 1]),
    "u4": ("xpu::u32", np.uint32, [0, 2**32 - 1]),
    "u8": ("xpu::u64", np.uint64, [0, 2**64 - 1]),
    "f2": ("xpu::u16", np.float16, [-1.5, 65504.0, 1e-7, float("inf")]),
    "f4": ("float", np.float32, [-1.5, 3.4e38, 1e-42, float("nan")]),
    "f8": ("xpu::u64", np.float64, [-1.5, 1e308, float("-inf")]),
    "bf2": ("xpu::u16", None, [-1.5, 1 + 2**-8, 1 + 3 * 2**-8, float("inf"), float("nan")]),
}


def store_kernel(xr, parameter: str):
    """A kernel that stores the bytes of its second argument."""
    source = (
        "#include <xpu/core.h>\n"
        f"XPU_KERNEL(1) store(xpu::global<{parameter}> to, {parameter} x) {{ *to = x; }}\n"
    )
    return xr.compile(source).kernel("store")


def constants(xr, count: int):
    return [xr.from_numpy(np.full(64, i, np.float32)) for i in range(count)]


@pytest.mark.values
@pytest.mark.parametrize("name", TYPES)
def test_values_of_each_type_arrive(xr, name):
    parameter, dtype, values = TYPES[name]
    launch = xr.Launcher(store_kernel(xr, parameter), "p" + name)
    size = int(name.lstrip("biuf"))
    to = xr.zeros(size, "u8")
    for value in values:
        launch(1, 1, to, value)
        got = to.numpy()
        expected = np.array([value], dtype) if dtype else bf16_bits(np.array([value], np.float32))
        assert got.tobytes() == expected.tobytes()


def test_numpy_scalars_are_values(xr):
    launch = xr.Launcher(add_kernel(xr, 2), "ppi8")
    a = constants(xr, 2)
    launch(np.int64(64), [np.int32(64)], *a, np.int16(64))
    xr.synchronize()


@pytest.mark.values
def test_a_struct_is_bytes(xr):
    source = (
        "#include <xpu/core.h>\nstruct Pair { float a; int b; float c; };\n"
        "XPU_KERNEL(1) unpack(xpu::global<float> to, Pair p) { *to = p.a + p.b + p.c; }\n"
    )
    launch = xr.Launcher(xr.compile(source).kernel("unpack"), "ps12")
    to = xr.zeros(1)
    packed = np.array([(1.5, 2, 4.25)], "f4,i4,f4")
    for value in (packed.tobytes(), bytearray(packed.tobytes()), packed.view(np.uint8)):
        xr.kernels.fill(to, 0)
        launch(1, 1, to, value)
        assert to.numpy()[0] == 7.75
    for wrong in (b"", bytes(11), bytes(13), 5):
        with pytest.raises(xr.UsageError, match=r"argument 1: .* expected an object with 12 bytes"):
            launch(1, 1, to, wrong)


@pytest.mark.values
@pytest.mark.parametrize("pointers", [1 + 5, 1 + 58, 1 + 200])
def test_kernels_take_as_many_arguments_as_the_device_allows(xr, pointers):
    arrays = constants(xr, pointers)
    kernel = add_kernel(xr, pointers)
    xr.Launcher(kernel, "p" * pointers + "i8")(64, 64, *arrays, 64)
    assert (arrays[0].numpy() == sum(range(pointers))).all()
    xr.kernels.fill(arrays[0], 0)
    xr.launch(kernel, 64, 64, [*arrays, np.int64(64)])
    assert (arrays[0].numpy() == sum(range(pointers))).all()


@pytest.mark.values
def test_a_graph_replays_a_launch_with_many_arguments(xr):
    arrays = constants(xr, 60)
    launch = xr.Launcher(add_kernel(xr, 60), "p" * 60 + "i8")
    launch(64, 64, *arrays, 64)
    graph, stream = xr.Graph(), xr.Stream()
    with xr.stream(stream), graph.capture(stream):
        launch(64, 64, *arrays, 64)
    del launch
    stream.synchronize()
    arrays[1].copy_from(np.full(64, 1000, np.float32))
    graph.replay(stream)
    stream.synchronize()
    assert (arrays[0].numpy() == sum(range(60)) + 999).all()


@pytest.mark.values
def test_addresses_are_arguments(xr):
    arrays = constants(xr, 3)
    launch = xr.Launcher(add_kernel(xr, 3), "pppi8")
    launch(64, 64, arrays[0].pointer, arrays[1], arrays[2].pointer, 64)
    assert (arrays[0].numpy() == 3).all()


@pytest.mark.values
def test_streams_and_handles(xr):
    arrays = constants(xr, 2)
    launch = xr.Launcher(add_kernel(xr, 2), "ppi8")
    own = xr.Stream()
    for stream in (None, 0, own, own.handle, xr.default_stream().handle):
        xr.kernels.fill(arrays[0], 0)
        xr.synchronize()
        with xr.stream(own):
            launch(64, 64, *arrays, 64, stream=stream)
        xr.synchronize()
        assert (arrays[0].numpy() == 1).all()


@pytest.mark.values
def test_views_that_nothing_keeps_are_arguments(xr):
    """An object may make its view anew each time that it is asked for it."""

    class Part:
        def __init__(self, array, first: int) -> None:
            self.array, self.first = array, first

        @property
        def _tensor(self):
            return self.array.view((64,), (1,), self.first)._tensor

    whole = xr.from_numpy(np.arange(256, dtype=np.float32))
    launch = xr.Launcher(add_kernel(xr, 3), "pppi8")
    for first in (0, 64, 128):
        to = xr.zeros(64)
        launch(64, 64, to, Part(whole, first), Part(whole, first + 64), 64)
        assert (to.numpy() == 2 * np.arange(64) + 2 * first + 64).all()
    for wrong in (None, 5):
        launch_wrong = type("Wrong", (), {"_tensor": wrong})()
        with pytest.raises((xr.UsageError, RuntimeError)):
            launch(64, 64, to, launch_wrong, to, 64)


BAD_CALLS = {
    "few": (lambda a: (64, 64, a), {}, "got 3 positional arguments, expected .* 3 arguments"),
    "many": (lambda a: (64, 64, a, a, 64, 64), {}, "got 6 positional"),
    "none": (lambda a: (), {}, "got 0 positional"),
    "float": (lambda a: (64, 64, a, a, 64.0), {}, r"argument 2: got 64\.0 .* expected i8"),
    "text": (lambda a: (64, 64, a, a, "64"), {}, "argument 2: got '64' .* expected i8"),
    "large": (lambda a: (64, 64, a, a, 2**63), {}, "argument 2: got 9223372036854775808"),
    "array as a number": (lambda a: (64, 64, a, a, a), {}, "argument 2: got .* expected i8"),
    "None": (
        lambda a: (64, 64, None, a, 64),
        {},
        "argument 0: got <class .NoneType.>, expected a tensor",
    ),
    "True": (lambda a: (64, 64, a, True, 64), {}, "argument 1: got True"),
    "negative address": (lambda a: (64, 64, a, -1, 64), {}, "argument 1: got -1"),
    "long address": (lambda a: (64, 64, a, 1 << 64, 64), {}, "argument 1: got 184467"),
    "numpy": (lambda a: (64, 64, a, np.zeros(64, np.float32), 64), {}, "argument 1: .*ndarray"),
    "negative size": (lambda a: (-64, 64, a, a, 64), {}, "global size: got -64"),
    "float size": (lambda a: (64.0, 64, a, a, 64), {}, r"global size: got 64\.0"),
    "no size": (lambda a: ((), 64, a, a, 64), {}, r"global size: got <class .tuple.>"),
    "four sizes": (lambda a: ((1, 1, 1, 64), 64, a, a, 64), {}, "global size: got"),
    "dimensions": (lambda a: ((1, 64), 64, a, a, 64), {}, "got 2 and 1"),
    "remainder": (lambda a: (65, 64, a, a, 64), {}, "65 is not a multiple of group size 64"),
    "empty group": (lambda a: (64, 0, a, a, 64), {}, "group size 0"),
    "stream": (lambda a: (64, 64, a, a, 64), {"stream": "main"}, "stream: got 'main'"),
    "negative handle": (lambda a: (64, 64, a, a, 64), {"stream": -1}, "stream: got -1"),
    "handle": (lambda a: (64, 64, a, a, 64), {"stream": 12345}, "12345"),
    "keyword": (lambda a: (64, 64, a, a, 64), {"queue": 0}, "keyword queue, expected stream"),
}


@pytest.mark.parametrize("name", BAD_CALLS)
def test_a_bad_call_names_what_is_wrong_and_launches_nothing(xr, name):
    array = xr.zeros(64)
    launch = xr.Launcher(add_kernel(xr, 2), "ppi8")
    arguments, keywords, message = BAD_CALLS[name]
    xr.trace.start()
    try:
        with pytest.raises(xr.UsageError, match=message):
            launch(*arguments(array), **keywords)
    finally:
        events = xr.trace.stop()
    assert not [event for event in events if "add_all" in str(event)]


@pytest.mark.parametrize(
    ("types", "message"),
    [
        ("pp", "got 2 arguments, expected 3"),
        ("ppi8i8", "got 4 arguments, expected 3"),
        ("ppi4", "argument 2: got 4 bytes, expected 8 bytes"),
        ("pi8i8", "argument 1: got 8 bytes, expected an address"),
        ("ppp", "argument 2: got an address, expected 8 bytes"),
        ("ppx", '"x" begins with no type'),
        ("pps", '"s" begins with no type'),
        ("pps0", '"s0" begins with no type'),
        ("pps99999999999", "begins with no type"),
        ("pp i8", '" i8" begins with no type'),
    ],
)
def test_types_are_checked_once(xr, types, message):
    with pytest.raises(xr.UsageError, match=message):
        xr.Launcher(add_kernel(xr, 2), types)


def test_only_a_kernel_can_be_launched(xr):
    for arguments in ((5, "p"), (add_kernel(xr, 2), 5), (add_kernel(xr, 2),), ()):
        with pytest.raises((TypeError, RuntimeError)):
            xr.Launcher(*arguments)


def test_an_empty_range_launches_nothing(xr):
    array = xr.zeros(64)
    launch = xr.Launcher(add_kernel(xr, 2), "ppi8")
    launch(0, 64, array, array, 64)
    launch((4, 0), (1, 64), array, array, 64)


def test_a_launcher_may_be_called_while_its_arguments_are_read(xr):
    array = xr.zeros(64)
    launch = xr.Launcher(add_kernel(xr, 2), "ppi8")

    class Recursive:
        def __index__(self) -> int:
            launch(64, 64, array, array, 64)
            return 64

    launch(64, 64, array, array, Recursive())

    class Failing:
        def __index__(self) -> int:
            raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        launch(64, 64, array, array, Failing())
    with pytest.raises(KeyError, match="mine"):
        launch(Failing(), 64, array, array, 64)
    xr.synchronize()


@pytest.mark.values
def test_threads_share_a_launcher(xr):
    launch = xr.Launcher(add_kernel(xr, 3), "pppi8")
    wrong = []

    def work(number: int) -> None:
        stream = xr.Stream()
        with xr.stream(stream):
            to, one, other = (xr.from_numpy(np.full(64, n, np.float32)) for n in (0, number, 1))
            for _ in range(200):
                launch(64, 64, to, one, other, 64, stream=stream.handle)
            if not (to.numpy() == number + 1).all():
                wrong.append(number)

    threads = [threading.Thread(target=work, args=(n,)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


@pytest.mark.values
def test_repeated_arguments_are_those_of_each_launch(xr):
    """A launch sets only the arguments that differ from the last launch of the kernel."""
    source = (
        "#include <xpu/core.h>\n"
        "XPU_KERNEL(1) place(xpu::global<xpu::i64> to, xpu::i64 at, xpu::i64 a, xpu::i32 b, double c) {\n"
        "  to[at] = a * 10000 + b * 100 + (xpu::i64)c;\n}\n"
    )
    if not xr.devices()[0].fp64:
        source = source.replace("double", "float")
    last = "f8" if xr.devices()[0].fp64 else "f4"
    launch = xr.Launcher(xr.compile(source).kernel("place"), "pi8i8i4" + last)
    rng = np.random.default_rng(3)
    buffers = [xr.zeros(200, "i64") for _ in range(3)]
    expected = np.zeros((3, 200), np.int64)
    values = [0, 0, 0, 0]
    for at in range(200):
        for i in rng.choice(4, rng.integers(0, 5), replace=False):
            values[i] = int(rng.integers(0, 3 if i == 0 else 99))
        launch(1, 1, buffers[values[0]], at, *values[1:])
        expected[values[0], at] = values[1] * 10000 + values[2] * 100 + values[3]
    assert (np.stack([buffer.numpy() for buffer in buffers]) == expected).all()


def test_launches_beside_traces_and_captures_of_other_threads(xr):
    launch, ended = xr.Launcher(add_kernel(xr, 2), "ppi8"), threading.Event()
    arrays = constants(xr, 2)

    def work() -> None:
        while not ended.is_set():
            launch(64, 64, *arrays, 64)

    thread = threading.Thread(target=work)
    thread.start()
    stream = xr.Stream()
    for _ in range(10):
        xr.trace.start()
        graph = xr.Graph()
        with xr.stream(stream), graph.capture(stream):
            launch(64, 64, *arrays, 64)
        graph.replay(stream)
        xr.trace.stop()
        assert len(graph) == 1
    ended.set()
    thread.join()
    xr.synchronize()


def test_a_forked_child_launches_nothing(child):
    child(
        """
        import os
        import numpy as np
        import xpu_runtime as xr
        from sources import add_kernel
        launch, array = xr.Launcher(add_kernel(xr, 2), "ppi8"), xr.zeros(64)
        launch(64, 64, array, array, 64)
        if (pid := os.fork()) == 0:
            try:
                launch(64, 64, array, array, 64)
            except xr.DeviceError:
                del launch
                os._exit(7)
            os._exit(1)
        assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 7
        launch(64, 64, array, array, 64)
        """,
        env={"PYTHONPATH": str(Path(__file__).parent)},
    ).check()
