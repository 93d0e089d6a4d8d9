"""What generators of kernels share: loop programs, and their writers. Knows no framework."""
