"""Triton's backend for xpu: Triton's IR as SYCL kernels.

Triton imports ``compiler`` and ``driver`` while it is imported itself, and looks for their classes. Importing
it here first makes every order of imports work.
"""

import triton  # noqa: F401
