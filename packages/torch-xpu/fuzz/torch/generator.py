"""Random tensors as descriptions: which storage, which view of it, which values."""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from dataclasses import dataclass, field

import torch

FLOATS = (torch.float32, torch.float64, torch.float16, torch.bfloat16)
COMPLEX = (torch.complex64, torch.complex128)
INTEGERS = (torch.int64, torch.int32, torch.int16, torch.int8, torch.uint8)
REAL = FLOATS + INTEGERS
ALL = (*FLOATS, *FLOATS, *COMPLEX, *INTEGERS, torch.bool)
NUMBERS = (*FLOATS, *FLOATS, *COMPLEX, *INTEGERS)
DIFFERENTIABLE = FLOATS + COMPLEX

SIZES = (0, 1, 1, 1, 2, 2, 2, 3, 3, 3, 4, 5, 5, 6, 7, 8, 9, 13, 16, 17, 31, 32, 33, 64, 65)
MAX_ELEMENTS = 700
MAX_POSITIONS = 20_000


@dataclass
class Storage:
    """Elements in a row, their values made of a seed."""

    dtype: torch.dtype
    count: int
    seed: int
    values: str


@dataclass
class View:
    """A strided view of a storage."""

    storage: int
    size: tuple[int, ...]
    stride: tuple[int, ...]
    offset: int
    dtype: torch.dtype

    @property
    def dense(self) -> bool:
        """It fills its memory, each place once, in some order."""
        dims = sorted(
            (stride, size) for size, stride in zip(self.size, self.stride, strict=True) if size > 1
        )
        place = 1
        for stride, size in dims:
            if stride != place:
                return False
            place *= size
        return True

    @property
    def expanded(self) -> bool:
        """What PyTorch refuses to write; what shares memory otherwise it writes in any order."""
        return any(
            stride == 0 and size > 1 for size, stride in zip(self.size, self.stride, strict=True)
        )

    @property
    def shares_memory(self) -> bool:
        """Two of its elements may lie at one place."""
        dims = sorted(
            (stride, size) for size, stride in zip(self.size, self.stride, strict=True) if size > 1
        )
        end = 0
        for stride, size in dims:
            if stride <= end and 0 not in self.size:
                return True
            end += (size - 1) * stride
        return False


@dataclass
class Generator:
    """Draws arguments; remembers the storages that they need."""

    random: random.Random
    storages: list[Storage] = field(default_factory=list)
    views: list[View] = field(default_factory=list)

    def chance(self, p: float) -> bool:
        return self.random.random() < p

    def pick(self, *choices):
        return self.random.choice(choices)

    def randrange(self, n: int) -> int:
        return self.random.randrange(n)

    # Shapes

    def size(self, least: int = 0, most: int = 65) -> int:
        return self.pick(*(size for size in SIZES if least <= size <= most))

    def shape(
        self, least: int = 0, most: int = 13, elements: int = MAX_ELEMENTS, long: bool = True
    ) -> list[int]:
        """Few dimensions mostly, and up to ``most``; seldom one long dimension, if there may be one."""
        ranks = [0, 1, 1, 2, 2, 2, 3, 3, 3, 4, 4, 5, 6, self.random.randint(7, 13)]
        rank = self.pick(*([rank for rank in ranks if least <= rank <= most] or [least]))
        if long and least <= 1 <= most and self.chance(0.02):
            return [self.pick(1023, 4096, 5000, 16385, 70000)]
        shape: list[int] = []
        for _ in range(rank):
            room = elements // math.prod(max(size, 2) for size in shape)
            short = rank > 5 and self.chance(0.6)
            shape.append(self.pick(1, 2, 2) if short and room > 1 else self.size(0, max(1, room)))
        if 0 in shape and self.chance(0.7):
            shape = [size or 2 for size in shape]
        self.random.shuffle(shape)
        return shape

    def broadcast_with(self, shape: Sequence[int]) -> list[int]:
        """A shape that broadcasts with this one, seldom one that does not."""
        other = list(shape)
        if self.chance(0.25):
            other = other[self.randrange(len(other) + 1) :]
        for i in range(len(other)):
            if self.chance(0.2):
                other[i] = 1
        if self.chance(0.05):
            other = [self.pick(1, 2), *other]
        if other and self.chance(0.01):
            other[-1] += 1
        return other

    def dim(self, rank: int, wrong: float = 0.01) -> int:
        if self.chance(wrong):
            return self.pick(rank, -rank - 1, rank + 3)
        rank = max(rank, 1)
        return self.random.randint(-rank, rank - 1)

    def dims(self, rank: int) -> list[int]:
        chosen = self.random.sample(range(rank), self.random.randint(0, rank))
        return [d - rank if self.chance(0.3) else d for d in chosen]

    # Tensors

    def layout(self, shape: Sequence[int], apart: bool = False) -> tuple[list[int], int]:
        """Strides and offset; elements that lie ``apart`` share no memory."""
        rank = len(shape)
        style = self.random.random() * (0.8 if apart else 1)
        order = list(range(rank))
        steps = [1] * rank
        repeated: set[int] = set()
        if style < 0.4:
            pass
        elif style < 0.6:
            self.random.shuffle(order)
        elif style < 0.8:
            steps = [self.pick(1, 1, 2, 3) for _ in shape]
            if self.chance(0.4):
                self.random.shuffle(order)
        elif style < 0.87:
            repeated = {d for d in range(rank) if self.chance(0.4)}
        elif style < 0.91 and rank == 4:
            order = [0, 2, 3, 1]
        elif style < 0.93 and rank:
            strides = [self.randrange(4) for _ in shape]
            return strides, self.randrange(3)
        strides, step = [0] * rank, 1
        for d in reversed(order):
            if d not in repeated:
                step *= steps[d] if step < MAX_POSITIONS else 1
                strides[d] = step
                step *= max(shape[d], 1)
        return strides, self.randrange(5) if self.chance(0.25) else 0

    def tensor(
        self,
        shape: Sequence[int],
        dtype: torch.dtype,
        values: str = "",
        contiguous: bool = False,
        apart: bool = False,
    ) -> View:
        """A tensor of its own storage."""
        strides, offset = self.layout(shape, apart=apart or values == "distinct")
        if contiguous:
            strides = [
                math.prod(max(size, 1) for size in shape[d + 1 :]) for d in range(len(shape))
            ]
        last = sum((size - 1) * stride for size, stride in zip(shape, strides, strict=True) if size)
        count = offset + max(last, 0) + 1 + (self.randrange(4) if self.chance(0.3) else 0)
        self.storages.append(
            Storage(dtype, count, self.random.getrandbits(31), values or self.values())
        )
        return self.view(len(self.storages) - 1, shape, strides, offset)

    def view(self, storage: int, shape: Sequence[int], strides: Sequence[int], offset: int) -> View:
        dtype = self.storages[storage].dtype
        view = View(storage, tuple(shape), tuple(strides), offset, dtype)
        self.views.append(view)
        return view

    def overlapping(self, other: View) -> View:
        """A view of the same storage: the same one, or at another place, or in another order.

        Both are dense: only then it is decided, and not left undefined, whether they may overlap.
        """
        order = list(range(len(other.size)))
        offset = other.offset + self.pick(0, 0, 1, 2)
        if self.chance(0.5):
            self.storages[other.storage].count += offset
            return self.view(other.storage, other.size, other.stride, offset)
        self.random.shuffle(order)
        strides, step = [0] * len(order), 1
        for d in order:
            strides[d] = step
            step *= max(other.size[d], 1)
        self.storages[other.storage].count += offset
        return self.view(other.storage, other.size, strides, offset)

    def values(self) -> str:
        return self.pick("normal", "normal", "small", "special", "wide")

    def mild(self) -> str:
        """Values whose sums do not depend much on their order."""
        return self.pick("normal", "normal", "small", "nan" if self.chance(0.15) else "unit")

    def index(self, shape: Sequence[int], limit: int, negative: bool = False, **options) -> View:
        """Indices below ``limit``; one in fifty tensors has one outside."""
        low = -limit if negative else 0
        if self.chance(0.02):
            limit += 1
        return self.tensor(
            shape, options.get("dtype", torch.int64), f"index {low} {max(limit, low + 1)}"
        )

    def _far_integers(self, dtype: torch.dtype) -> tuple[int, ...]:
        """Return integers beyond 32 bits where the dtype takes them."""
        if dtype not in (torch.int64, torch.float32, torch.float64):
            return ()
        near = self.pick(2**31, 2**32, 2**33, 2**40) + self.pick(-1, 0, 0, 1, 17)
        return near, -near

    def scalar(self, dtype: torch.dtype, wider: float = 0.15):
        """A Python number of the dtype's kind, seldom of a wider one."""
        kinds = ["bool", "int", "float", "complex"]
        kind = (
            3
            if dtype.is_complex
            else 2
            if dtype.is_floating_point
            else 0
            if dtype == torch.bool
            else 1
        )
        if self.chance(0.3):
            kind = self.random.randint(min(1, kind), kind)
        if self.chance(wider) and kind < 2:
            kind += 1
        number = {
            "bool": self.pick(True, False),
            "int": self.pick(0, 1, 2, 3, -1, -2, 5, 7, 100, *self._far_integers(dtype)),
            "float": self.pick(0.0, 1.0, 0.5, 2.0, -1.5, 3.7, 1e-3, -0.0, math.inf, math.nan, 1e10),
            "complex": complex(self.pick(0.0, 1.0, -0.5), self.pick(0.0, 2.0, -1.5)),
        }
        return number[kinds[kind]]
