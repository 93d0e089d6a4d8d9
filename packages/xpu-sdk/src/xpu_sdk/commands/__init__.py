"""The commands of ``xpu-sdk``, one a file."""
