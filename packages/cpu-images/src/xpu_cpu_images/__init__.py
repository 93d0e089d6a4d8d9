"""Holds images.ready, from which xpu_runtime loads kernels on the CPU device."""
