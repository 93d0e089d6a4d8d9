"""The reader of Inductor's loops: kernels of its scheduler become loop programs."""
