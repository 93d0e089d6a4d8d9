"""Runs when Python starts: waits for PyTorch, whose wheel for CUDA needs help before it is imported.

That wheel lets one accelerator be there, CUDA, also on machines that have none. Where no NVIDIA driver can be
loaded its hooks are replaced by empty ones, and xpu takes the place. XPU_KEEP_CUDA=1 leaves it alone.
"""

import os
import sys


class _Finder:
    """Sees the import of PyTorch's native module, and finds nothing itself."""

    def find_spec(self, name, path=None, target=None):
        if name == "torch._C" and path:
            sys.meta_path.remove(self)
            _prepare(path[0])


def _driver() -> bool:
    import ctypes

    try:
        ctypes.CDLL("libcuda.so.1")
    except OSError:
        return False
    return True


def _prepare(torch_folder):
    library = os.path.join(torch_folder, "lib", "libtorch_cuda.so")
    if not os.path.exists(library) or os.environ.get("XPU_KEEP_CUDA") == "1":
        return
    if os.environ.get("TORCH_DEVICE_BACKEND_AUTOLOAD") == "0" or _driver():
        return
    import ctypes
    import glob
    import importlib.util

    from torch.version import __version__
    from xpu_runtime.framework_version import find_mismatch, is_development

    if is_development(__version__) or find_mismatch("torch-xpu", "torch", __version__):
        return
    adapter = importlib.util.find_spec("torch_xpu")
    compiled = "torch_" + "_".join(__version__.split(".")[:2])
    for folder in adapter.submodule_search_locations if adapter else ():
        for hooks in glob.glob(os.path.join(folder, compiled, "_no_cuda*.so")):
            ctypes.CDLL(library)
            ctypes.CDLL(hooks)


sys.meta_path.insert(0, _Finder())
