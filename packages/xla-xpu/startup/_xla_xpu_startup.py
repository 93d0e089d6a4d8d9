"""Runs at every start of Python: an import hook adds xpu to the device table of JAX's DLPack module.

`jax.dlpack.from_dlpack(tensor)` looks up the tensor's device type in that table. If it is a
program's first use of JAX, JAX has not called the plugin yet, so the plugin could not have added xpu.
"""

import sys


class _Finder:
    """A finder that makes the module's own loader add the entry."""

    def find_spec(self, name, path=None, target=None):
        if name != "jax._src.dlpack":
            return None
        import importlib.util

        sys.meta_path.remove(self)
        spec = importlib.util.find_spec(name)
        execute = spec.loader.exec_module

        def execute_and_add(module):
            execute(module)
            module._DL_DEVICE_TO_PLATFORM[14] = "xpu"  # DLPack's oneAPI

        spec.loader.exec_module = execute_and_add
        return spec


sys.meta_path.insert(0, _Finder())
