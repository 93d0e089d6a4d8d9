"""Functions over torch-xpu's operators of low-bit numbers. On the CPU PyTorch's operators compute them."""
