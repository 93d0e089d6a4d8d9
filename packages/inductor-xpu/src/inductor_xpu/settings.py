"""Settings of this back end in Inductor's form: a part of the keys of its caches (see cache_key.py).

``with inductor_xpu.settings.patch(post_ops=False):`` changes one for the graphs compiled in the block.
"""

import sys

from torch.utils._config_module import install_config_module

# Whether products and convolutions take the steps after them; None: where that is faster (see fusions/).
post_ops: bool | None = None
# What writes kernels of Inductor's loops: "loops", our own writers, or "triton", Inductor's for Triton.
reader: str = "loops"
# A digest of the sources that write kernels.
generator: str = ""
# The devices of this process, for which kernels are written.
devices: str = ""
# Whether code is written with lines of the user's program (see user_lines.py).
user_lines: bool = False

install_config_module(sys.modules[__name__])
