"""Measure llama.cpp with the same file, words and threads; print JSON. Needs `llama-cpp-python`."""

from __future__ import annotations

import argparse
import json
import sys
import time
from typing import Any

import numpy as np
from llama_cpp import Llama

ROUNDS = 3


def perplexity(model: Any, texts: list[list[int]]) -> float:
    """Return the perplexity of all words but the first of each text."""
    losses = []
    for text in texts:
        model.reset()
        model.eval(text)
        logits = np.array(model.scores[: len(text) - 1], dtype=np.float64)
        largest = logits.max(-1, keepdims=True)
        sums = np.log(np.exp(logits - largest).sum(-1)) + largest[:, 0]
        losses.append((sums - logits[np.arange(len(text) - 1), text[1:]]).mean())
    return float(np.exp(np.mean(losses)))


def words_per_second(model: Any, prompt: list[int], count: int) -> float:
    """Return the speed of greedy writing in the fastest of some rounds."""
    seconds = []
    for _ in range(ROUNDS):
        model.reset()
        model.eval(prompt)
        start = time.perf_counter()
        for _ in range(count):
            model.eval([model.sample(temp=0)])
        seconds.append(time.perf_counter() - start)
    return count / min(seconds)


def main() -> None:
    """Read the work from the standard input: prompt, count and texts."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file")
    parser.add_argument("--threads", type=int, default=2)
    options = parser.parse_args()
    work = json.load(sys.stdin)
    common: dict[str, Any] = {
        "n_ctx": 512,
        "n_threads": options.threads,
        "n_threads_batch": options.threads,
        "verbose": False,
    }
    # A model that keeps all logits would also compute them in the prompt of the other measurement.
    speed = words_per_second(Llama(options.file, **common), work["prompt"], work["count"])
    texts = perplexity(Llama(options.file, logits_all=True, **common), work["texts"])
    print(json.dumps({"speed": speed, "perplexity": texts}))


if __name__ == "__main__":
    main()
