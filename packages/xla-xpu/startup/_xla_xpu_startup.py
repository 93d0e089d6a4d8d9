"""Runs when Python starts: waits for JAX's module of DLPack, which must know xpu before JAX asks for plugins.

`jax.dlpack.from_dlpack(tensor)` looks the tensor's kind of device up in a table of JAX's own. Where it is the
first thing that a program does with JAX, no plugin has been called that could have added xpu.
"""

import sys


class _Finder:
    """Sees the import, and has the module's own loader add the line."""

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
