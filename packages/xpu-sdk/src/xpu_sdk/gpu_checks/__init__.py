"""Checks for GPU problems on a machine without a GPU: strict memory, a virtual GPU, offline compilation."""
