"""Devices: found without any variable set, counted, described, selected, split."""

import pytest


def test_found_with_nothing_set(child):
    code = """
        import xpu_runtime as xr
        assert xr.device_count() >= 1
        print(xr.devices()[0].type)
    """
    bare = {"OCL_ICD_FILENAMES": None, "ONEAPI_DEVICE_SELECTOR": None, "LD_LIBRARY_PATH": None}
    assert child(code, env=bare).check().out.strip() in ("cpu", "gpu")


def test_properties_are_the_drivers(xr):
    for device in xr.devices():
        assert device.name
        assert device.driver_version
        assert device.total_memory > 2**20
        assert device.max_work_group_size >= 64
        assert device.sub_group_size in device.sub_group_sizes
        assert device.local_memory >= 32 * 1024
        free, total = device.memory()
        assert 0 < free <= total == device.total_memory
        assert set(device.properties()) >= {"fp64", "max_compute_units", "uuid"}


def test_unknown_device_names_the_range(xr):
    for call in (xr.set_device, xr.synchronize, xr.default_stream):
        with pytest.raises(xr.UsageError, match=r"no device 99: this process has \d"):
            call(99)


def test_guard_restores(xr):
    before = xr.current_device()
    with xr.device(0):
        assert xr.current_device() == 0
    assert xr.current_device() == before


def test_no_device_is_zero_and_says_why(child):
    code = """
        import xpu_runtime as xr
        assert xr.device_count() == 0
        assert xr.devices() == []
        try:
            xr.default_stream(0)
        except xr.UsageError as e:
            assert "doctor" in str(e), e
    """
    child(code, env={"ONEAPI_DEVICE_SELECTOR": "cuda:*"}).check()


def test_a_second_sycl_runtime_is_refused(child, tmp_path):
    code = f"""
        import ctypes, shutil
        from xpu_runtime._native import C
        other = shutil.copy(C.loaded_libraries("libsycl.so")[0], r"{tmp_path}/libsycl.so.8")
        data = bytearray(open(other, "rb").read())
        at = data.find(b"libsycl.so.9\\0")
        data[at:at + 12] = b"libsycl.so.8"
        open(other, "wb").write(data)
        ctypes.CDLL(other)
        import xpu_runtime as xr
        try:
            xr.device_count()
        except xr.UsageError as e:
            assert "more than one SYCL runtime" in str(e) and "libsycl.so.8" in str(e), e
        else:
            raise SystemExit("not noticed")
    """
    child(code).check()


def test_using_a_forked_child_is_an_error(child):
    code = """
        import os
        import xpu_runtime as xr
        xr.zeros(4).numpy()
        pid = os.fork()
        if pid == 0:
            try:
                xr.zeros(4)
            except xr.DeviceError as e:
                os._exit(0 if "spawn" in str(e) else 2)
            os._exit(3)
        raise SystemExit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
    """
    child(code).check()


@pytest.mark.cpu_device
def test_the_cpu_splits_into_devices(child):
    code = """
        import numpy as np
        import xpu_runtime as xr
        assert xr.device_count() == 2
        x = np.arange(1000, dtype=np.float32)
        with xr.device(0):
            a = xr.from_numpy(x)
        with xr.device(1):
            b = xr.zeros(1000)
        xr.synchronize(0)
        xr.synchronize(1)
        from xpu_runtime._native import C
        assert C.device_of_pointer(a.pointer) == 0 and C.device_of_pointer(b.pointer) == 1
        s1 = xr.default_stream(1)
        C.copy(s1, b.pointer, a.pointer, a.nbytes)
        assert (b.numpy() == x).all()
        assert C.can_access_peer(0, 1)
        # An event of one device orders the other's stream.
        e = xr.Event()
        e.record(xr.default_stream(0))
        e.wait(s1)
        s1.wait(xr.default_stream(0))
        s1.synchronize()
    """
    child(code, env={"XPU_CPU_DEVICES": "2"}).check()


@pytest.mark.cpu_device
def test_a_split_that_cannot_be_is_refused(child):
    code = """
        import xpu_runtime as xr
        try:
            xr.device_count()
        except xr.UsageError as e:
            assert "XPU_CPU_DEVICES=1000" in str(e)
        else:
            raise SystemExit("accepted")
    """
    child(code, env={"XPU_CPU_DEVICES": "1000"}).check()
