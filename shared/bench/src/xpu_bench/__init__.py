"""Side-by-side benchmarks: ours and a named peer, in turn, in one process, on the same two threads.

An area's benchmarks are files ``packages/AREA/benchmarks/bench_*.py`` with a function ``cases()``::

    from xpu_bench import Case, Pair

    def cases():
        def setup():
            ...
            return Pair(ours=lambda: exp(x), peer=lambda: torch.exp(y), sync=stream.synchronize)

        yield Case("exp f32 64 MB", setup, peer_name="torch", bar=">= 1.0")
"""

from .case import Bar, Case, Mean, Pair
from .cores import match_device_memory
from .native import native_library
from .pinned import pinned_process

__all__ = ["Bar", "Case", "Mean", "Pair", "match_device_memory", "native_library", "pinned_process"]
