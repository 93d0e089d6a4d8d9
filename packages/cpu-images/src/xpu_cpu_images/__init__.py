"""A package of one data file, images.ready: compiled kernels for the CPU device, which xpu_runtime loads."""
