"""torch.compile on xpu: Inductor's loops become SYCL kernels of the runtime."""

from .flex_attention import fallbacks

__all__ = ["fallbacks"]
