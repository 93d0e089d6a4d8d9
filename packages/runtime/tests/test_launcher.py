"""Launches of kernels with fixed types of arguments."""

from __future__ import annotations

import threading

import numpy as np
import pytest
import sources

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


def add_kernel(xr, pointers: int, **options):
    """A kernel that adds up all arrays but the first, into the first."""
    parameters = ", ".join(f"xpu::global<float> p{i}" for i in range(pointers))
    total = " + ".join(f"p{i}[i]" for i in range(1, pointers))
    source = (
        f"#include <xpu/core.h>\nXPU_KERNEL(1) add_all({parameters}, long n) {{\n"
        f"  long i = xpu::global_id();\n  if (i < n) p0[i] = {total};\n}}\n"
    )
    return xr.compile(source, **options).kernel("add_all")


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


def test_more_bytes_than_the_device_allows_are_out_of_resources(xr):
    if xr.generic_backend():
        pytest.skip("images of such a backend are built before their parameters are known")
    most = xr.devices()[0].max_argument_bytes // 8
    with pytest.raises(xr.OutOfResources, match=r"\d+ bytes of arguments"):
        add_kernel(xr, most + 1)


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


def test_too_many_work_items_are_out_of_resources(xr):
    array = xr.zeros(64)
    kernel = add_kernel(xr, 2)
    most = kernel.max_work_group_size
    with pytest.raises(
        xr.OutOfResources, match=f"a group of {2 * most} work-items is over the limit"
    ):
        xr.Launcher(kernel, "ppi8")(2 * most, 2 * most, array, array, 64)


LOCAL = """
#include <xpu/core.h>
#include <xpu/local.h>
XPU_KERNEL(1) reverse(xpu::global<float> to) {{
  static xpu::Local<float, {count}> tile;
  tile[xpu::local_id()] = xpu::local_id();
  xpu::barrier();
  to[xpu::global_id()] = tile[63 - xpu::local_id()];
}}
XPU_KERNEL(1) plain(xpu::global<float> to) {{ to[xpu::global_id()] = 1; }}
"""


def test_too_much_local_memory_is_out_of_resources(xr):
    if xr.generic_backend():
        pytest.skip("images of such a backend do not tell how much local memory they need")
    count = xr.devices()[0].local_memory // 4 + 64
    module = xr.compile(LOCAL.format(count=count))
    for build in (lambda: module.kernel("reverse"), module.spirv, lambda: module.kernel("reverse")):
        with pytest.raises(xr.OutOfResources, match="bytes of local memory"):
            build()


def test_kernels_tell_their_resources(xr):
    module = xr.compile(LOCAL.format(count=64))
    reverse, plain = (module.kernel(name).resources() for name in ("reverse", "plain"))
    told = not xr.generic_backend()
    assert reverse["local_bytes"] == (256 if told else None)
    assert plain["local_bytes"] == (0 if told else None)
    for resources in (reverse, plain):
        assert resources["sub_group_size"] in (0, xr.devices()[0].sub_group_size)
        assert resources["max_work_group_size"] > 0
    occupancy = module.kernel("plain").occupancy(64)
    assert occupancy is None or 0 < occupancy <= 1


def test_a_kernel_takes_a_required_sub_group_size(xr):
    device = xr.devices()[0]
    source = (
        "#include <xpu/core.h>\n#include <xpu/group.h>\n"
        "XPU_KERNEL(1) lanes(xpu::global<int> to) { *to = XPU_SUB_GROUP; }\n"
    )
    to = xr.zeros(1, "i32")
    for size in device.sub_group_sizes:
        kernel = xr.compile(source, sub_group_size=size).kernel("lanes")
        xr.Launcher(kernel, "p")(size, size, to)
        assert kernel.resources()["sub_group_size"] in (0, size)
        if not is_virtual(xr):
            assert to.numpy()[0] == size
    with pytest.raises(xr.UsageError, match="sub-group size: got 7, expected one of"):
        xr.compile(source, sub_group_size=7).kernel("lanes")


def is_virtual(xr) -> bool:
    """True if work does nothing: the virtual GPU."""
    array = xr.from_numpy(np.zeros(1, np.float32))
    xr.kernels.fill(array, 1)
    return bool(array.numpy()[0] != 1)


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


def test_kernels_that_were_dropped_keep_no_memory(child):
    """Each of 30 kernels is loaded 10 times; the first rounds fill the driver's own caches."""
    child(
        f"""
        import resource
        import xpu_runtime as xr
        array = xr.zeros(64)

        def round():
            for i in range(30):
                source = {sources.SAXPY!r}.replace("a * ", f"{{i}}.5f * a * ")
                launch = xr.Launcher(xr.compile(source).kernel("saxpy"), "f4ppi8")
                launch(64, 64, 2.0, array, array, 64)
            xr.synchronize()

        def resident():
            return int(open("/proc/self/statm").read().split()[1]) * resource.getpagesize()

        for _ in range(3):
            round()
        before = resident()
        for _ in range(7):
            round()
        grown = resident() - before
        assert grown < 8 << 20, grown
        """
    ).check()


def test_a_kernel_may_be_dropped_while_its_work_is_queued(child):
    child(
        f"""
        import xpu_runtime as xr
        array = xr.zeros(1 << 20)
        for i in range(40):
            source = {sources.SAXPY!r}.replace("a * ", f"{{i % 5}}.5f * a * ")
            launch = xr.Launcher(xr.compile(source).kernel("saxpy"), "f4ppi8")
            for _ in range(3):
                launch(1 << 20, 64, 2.0, array, array, 1 << 20)
            del launch
        """
    ).check()


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
