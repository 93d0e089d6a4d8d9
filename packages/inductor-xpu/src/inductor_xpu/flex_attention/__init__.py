"""Flex attention: kernels of ours, into which score and mask functions are compiled."""

from .plain import fallbacks

__all__ = ["fallbacks"]
