"""What code that a compiler writes calls directly, without PyTorch's dispatcher. Loads the device module."""

from ._device import empty_strided, random_states

__all__ = ["empty_strided", "random_states"]
