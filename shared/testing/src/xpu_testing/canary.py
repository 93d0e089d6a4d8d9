"""Buffers with known bytes on both sides, which find a kernel that writes outside its output."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import DTypeLike

from .values import values_checked

PATTERN = 0xA5
MARGIN = 256


class Canary:
    """An output of ``shape`` and ``dtype`` in the middle of a larger host image.

    Upload ``image`` to the device, let the kernel write at byte ``offset``, bring the whole
    image back and give it to :meth:`take`, which checks the bytes around and returns the output.
    """

    def __init__(self, shape: Sequence[int], dtype: DTypeLike, margin: int = MARGIN) -> None:
        self.shape = tuple(shape)
        self.dtype = np.dtype(dtype)
        self.offset = margin
        self.bytes = int(np.prod(self.shape, dtype=np.int64)) * self.dtype.itemsize
        self.image = np.full(self.bytes + 2 * margin, PATTERN, np.uint8)

    def take(self, image: np.ndarray) -> np.ndarray:
        """Check the bytes around the output inside ``image``, and return the output."""
        image = np.asarray(image).view(np.uint8).reshape(-1)
        assert image.size == self.image.size, (
            f"canary image of {image.size} bytes, expected {self.image.size}"
        )
        end = self.offset + self.bytes
        if not values_checked():
            return image[self.offset : end].view(self.dtype).reshape(self.shape)
        for side, first, margin in (
            ("before", 0, image[: self.offset]),
            ("after", end, image[end:]),
        ):
            touched = np.flatnonzero(margin != PATTERN)
            assert touched.size == 0, (
                f"{touched.size} bytes written {side} the output: the first at byte "
                f"{first + int(touched[0]) - self.offset} of an output of {self.bytes} bytes"
            )
        return image[self.offset : end].view(self.dtype).reshape(self.shape)
