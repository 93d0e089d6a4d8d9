"""What kernels take of a device: they tell it, too much is refused, and it is given back."""

from __future__ import annotations

import pytest
import sources
from sources import add_kernel


def test_more_bytes_than_the_device_allows_are_out_of_resources(xr):
    if xr.generic_backend():
        pytest.skip("images of such a backend are built before their parameters are known")
    most = xr.devices()[0].max_argument_bytes // 8
    with pytest.raises(xr.OutOfResources, match=r"\d+ bytes of arguments"):
        add_kernel(xr, most + 1)


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


DOUBLE = """
#include <xpu/core.h>
XPU_KERNEL(1) half(xpu::global<double> x) { x[xpu::global_id()] *= 0.5; }
"""


def test_64_bit_floats_where_there_are_none(xr):
    if xr.devices()[0].fp64:
        pytest.skip("this device has them")
    with pytest.raises(xr.OutOfResources, match="64-bit floats"):
        xr.compile(DOUBLE).kernel("half")


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


LANES = """
#include <xpu/core.h>
XPU_KERNEL(1) lanes(xpu::global<int> to) { *to = XPU_SUB_GROUP; }
"""


def test_a_kernel_takes_a_required_sub_group_size(xr):
    for size in xr.devices()[0].sub_group_sizes:
        kernel = xr.compile(LANES, sub_group_size=size).kernel("lanes")
        assert kernel.resources()["sub_group_size"] in (0, size)
    with pytest.raises(xr.UsageError, match="sub-group size: got 7, expected one of"):
        xr.compile(LANES, sub_group_size=7).kernel("lanes")


@pytest.mark.values
def test_a_kernel_runs_with_the_required_sub_group_size(xr):
    to = xr.zeros(1, "i32")
    for size in xr.devices()[0].sub_group_sizes:
        xr.Launcher(xr.compile(LANES, sub_group_size=size).kernel("lanes"), "p")(size, size, to)
        assert to.numpy()[0] == size


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
