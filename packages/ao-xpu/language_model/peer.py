"""Measure llama.cpp with the same file, words and threads; print JSON. Needs `xllamacpp`, a build of it."""

from __future__ import annotations

import argparse
import json
import math
import os
import sys
from typing import Any

ROUNDS, VOCABULARY = 3, 49152


def server(file: str, threads: int) -> Any:
    """Return a model of llama.cpp that answers in this process."""
    from xllamacpp import CommonParams, Server

    parameters = CommonParams()
    parameters.model.path = file
    parameters.n_ctx, parameters.n_parallel = 512, 1
    parameters.cpuparams.n_threads = parameters.cpuparams_batch.n_threads = threads
    return Server(parameters)


def completion(model: Any, prompt: list[int], count: int, **options: Any) -> dict[str, Any]:
    """Return what the server says of a greedy continuation."""
    wanted = {"prompt": prompt, "n_predict": count, "temperature": 0, "ignore_eos": True}
    answer = model.handle_completions(wanted | options)
    return answer if isinstance(answer, dict) else json.loads(answer)


def words_per_second(model: Any, prompt: list[int], count: int) -> float:
    """Return the speed of greedy writing in the fastest of some rounds."""
    return max(
        completion(model, prompt, count)["timings"]["predicted_per_second"] for _ in range(ROUNDS)
    )


def loss(model: Any, before: list[int], word: int) -> float:
    """Return the loss of a word after others, which the server has evaluated up to the last."""
    answer = completion(model, before, 1, n_probs=VOCABULARY, cache_prompt=True)
    (place,) = answer["choices"][0]["logprobs"]["content"]
    return next(-each["logprob"] for each in place["top_logprobs"] if each["id"] == word)


def perplexity(model: Any, texts: list[list[int]]) -> float:
    """Return the perplexity of all words but the first of each text."""
    losses = [loss(model, text[:i], text[i]) for text in texts for i in range(1, len(text))]
    return math.exp(sum(losses) / len(losses))


def main() -> None:
    """Read the work from the standard input: prompt, count and texts."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file")
    parser.add_argument("--threads", type=int, default=2)
    options = parser.parse_args()
    work = json.load(sys.stdin)
    result = os.dup(1)
    os.dup2(2, 1)  # the server logs to the standard output
    model = server(options.file, options.threads)
    speed = words_per_second(model, work["prompt"], work["count"])
    texts = perplexity(model, work["texts"])
    os.write(result, json.dumps({"speed": speed, "perplexity": texts}).encode())


if __name__ == "__main__":
    main()
