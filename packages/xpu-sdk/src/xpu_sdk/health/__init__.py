"""Checks of ``xpu-sdk doctor``, one layer in each file, from the wheels to the adapters."""
