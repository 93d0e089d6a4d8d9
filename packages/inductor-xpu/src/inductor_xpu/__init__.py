"""torch.compile on xpu: Inductor's loops become SYCL kernels of the runtime."""
