"""Two ways to let no file be written to the cache."""

import ctypes
import os
import resource
import signal

from wanted_kernels import CACHE

import xpu_runtime as xr


def make_read_only():
    """Also for root."""
    CACHE.mkdir(mode=0o700)
    if os.geteuid() != 0:
        CACHE.chmod(0o500)
        return
    libc, folder = ctypes.CDLL(None, use_errno=True), os.fsencode(CACHE)
    new_namespace, read_only, remount, bind, recursive, private = (
        0x20000,
        1,
        32,
        4096,
        16384,
        1 << 18,
    )
    assert libc.unshare(new_namespace) == 0
    for source, target, flags in [
        (b"none", b"/", recursive | private),
        (folder, folder, bind),
        (folder, folder, bind | remount | read_only),
    ]:
        assert libc.mount(source, target, None, flags, None) == 0, ctypes.get_errno()


def fill_disk():
    """Though the folder looks as if it could be written."""
    xr.device_count()
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (16, 16))
    xr.cache.write("key", "plan", bytes(100))
