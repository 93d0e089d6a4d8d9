"""What is measured of a model: perplexity, words per second, and bytes of its linear layers."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import torch

import ao_xpu

# Words that are written, and the length of a text whose perplexity is measured.
COUNT, WINDOW = 128, 256
ROUNDS = 3


def windows(words: list[int], texts: int) -> list[list[int]]:
    """Return the first texts of equal length."""
    return [words[i * WINDOW : (i + 1) * WINDOW] for i in range(texts)]


def perplexity(logits: Callable[[torch.Tensor], torch.Tensor], texts: list[list[int]]) -> float:
    """Return the perplexity of all words but the first of each text; ``logits`` maps [T] to [T, words]."""
    losses = []
    for text in texts:
        words = torch.tensor(text, device="xpu")
        with torch.inference_mode():
            predicted = logits(words)[:-1].float()
        losses.append(torch.nn.functional.cross_entropy(predicted, words[1:]).item())
    return float(torch.tensor(losses, dtype=torch.float64).mean().exp())


def words_per_second(write: Callable[[], Any], begin: Callable[[], Any] = lambda: None) -> float:
    """Return the speed of the fastest of some rounds, each of which writes ``COUNT`` words."""
    seconds = []
    for _ in range(ROUNDS):
        begin()
        torch.xpu.synchronize()
        start = time.perf_counter()
        write()
        torch.xpu.synchronize()
        seconds.append(time.perf_counter() - start)
    return COUNT / min(seconds)


def megabytes(model: torch.nn.Module) -> float:
    """Return the size of the linear layers; the embedding of SmolLM2 is the head, and counted once."""
    layers = [layer for layer in ao_xpu.report(model) if "embed" not in layer.name]
    return sum(layer.bytes_after for layer in layers) / 1e6
