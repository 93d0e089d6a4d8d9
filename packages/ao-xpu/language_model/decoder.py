"""Continue a text by the likeliest words: each step is a replay of one graph, and the host reads the end."""

from __future__ import annotations

import torch
from cached_llama import Llama
from torch import Tensor


class Decoder:
    """Writes words after the words of a text. Not thread-safe."""

    def __init__(self, model: Llama, is_replayed: bool = True) -> None:
        device, positions = model.order.device, model.sizes.positions
        self.model = model
        # The last word that has no successor yet, and its place; all words.
        self.word, self.place = (torch.zeros(1, dtype=torch.long, device=device) for _ in range(2))
        self.words = torch.zeros(positions, dtype=torch.long, device=device)
        self.graph = None
        if is_replayed:
            self._step()  # builds the kernels
            self.graph = torch.xpu.XPUGraph()
            with torch.inference_mode(), torch.xpu.graph(self.graph):
                self._step()

    @torch.inference_mode()
    def start(self, words: list[int]) -> None:
        """Begin a text; the words' keys and values are computed at once."""
        count = len(words)
        if not 0 < count < self.model.sizes.positions:
            limit = self.model.sizes.positions
            raise ValueError(f"a text of {count} words: expected 1 to {limit - 1}")
        given = torch.tensor(words, device=self.words.device)
        self.words[:count] = given
        if count > 1:
            self.model(given[:-1], self.model.order[: count - 1])
        self.word.copy_(given[-1:])
        self.place.fill_(count - 1)
        self.count = count

    def extend(self, count: int) -> None:
        """Enqueue the steps that write ``count`` words; wait for none of them."""
        if self.count + count > self.model.sizes.positions:
            raise ValueError(f"a text has at most {self.model.sizes.positions} words")
        for _ in range(count):
            self._step() if self.graph is None else self.graph.replay()
        self.count += count

    def text(self) -> Tensor:
        """Return all words."""
        return self.words[: self.count]

    @torch.inference_mode()
    def _step(self) -> None:
        logits = self.model(self.word, self.place)
        self.word.copy_(logits.argmax(-1))
        self.place.add_(1)
        self.words.index_copy_(0, self.place, self.word)
