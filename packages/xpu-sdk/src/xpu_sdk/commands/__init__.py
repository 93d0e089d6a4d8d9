"""Commands of ``xpu-sdk``, one in each file."""
