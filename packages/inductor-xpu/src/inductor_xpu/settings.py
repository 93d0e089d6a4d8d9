"""Settings of this back end in Inductor's form, which its caches make a part of their keys (see cache_key.py)."""

import sys

from torch.utils._config_module import install_config_module

# A digest of the sources that write kernels.
generator: str = ""
# The devices of this process, for which kernels are written.
devices: str = ""

install_config_module(sys.modules[__name__])
