"""MX and NVFP4: numbers in blocks that share a scale."""
