"""Quantize SmolLM2-135M-Instruct in every way, beside llama.cpp with its file: ``nox -s language-model``.

The table has the perplexity of pages of this repository's documentation, the bytes of linear layers, and
words per second at batch 1: by transformers' `generate`, and by a graph that is replayed for each word.
"""

from __future__ import annotations

import argparse
import gc
import json
import os
import subprocess
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import smollm2
import torch
from cached_llama import Llama, Sizes, state_of
from decoder import Decoder
from measure import COUNT, megabytes, perplexity, windows, words_per_second
from schemes import schemes
from torchao.quantization import quantize_
from transformers import AutoModelForCausalLM

HERE = Path(__file__).parent
DOCS = HERE.parents[2] / "docs"
# A question whose answer does not hang on the rounding of bf16.
QUESTION, ANSWER = "Name the capital of France.", "Paris"
TITLES = ("weights", "perplexity", "MB", "generate, words/s", "replayed, words/s")
Row = tuple[str, float, float | None, float | None, float]


def stock_model() -> Any:
    """Return the model as transformers reads it from the file: expanded to bf16."""
    path = smollm2.file()
    model = AutoModelForCausalLM.from_pretrained(
        path.parent, gguf_file=path.name, dtype=torch.bfloat16
    )
    return model.to("xpu").eval().requires_grad_(False)


def own_model(stock: Any) -> Llama:
    """Return the model whose steps are captured, with the weights of transformers' in bf16."""
    model = Llama(Sizes()).to("xpu", torch.bfloat16).eval().requires_grad_(False)
    model.load_state_dict(state_of(stock.state_dict(), model.sizes.depth))
    return model


def replayed_speed(model: Llama, prompt: list[int]) -> float:
    """Return the words per second of replayed steps."""
    decoder = Decoder(model)
    return words_per_second(lambda: decoder.extend(COUNT), lambda: decoder.start(prompt))


def generated_speed(model: Any, prompt: list[int]) -> float:
    """Return the words per second of transformers' `generate`."""
    given = torch.tensor([prompt], device="xpu")
    options = {"do_sample": False, "min_new_tokens": COUNT, "max_new_tokens": COUNT}
    return words_per_second(
        lambda: model.generate(given, attention_mask=torch.ones_like(given), **options)
    )


def own_logits(model: Llama) -> Any:
    """Return the function of a text that gives its logits."""
    return lambda words: model(words, model.order[: len(words)])


def stock_logits(model: Any) -> Any:
    """Return the function of a text that gives its logits by transformers' model."""
    return lambda words: model(words.unsqueeze(0)).logits[0]


def require_answer(tokenizer: Any, model: Llama) -> None:
    """Raise an error unless the model knows the answer."""
    text = smollm2.answer(model, tokenizer, QUESTION)
    print(f"{QUESTION} {text}\n", flush=True)
    if ANSWER not in text:
        raise SystemExit(f"the answer is not {ANSWER}")


def rows(options: argparse.Namespace, tokenizer: Any, texts: Any, prompt: Any) -> Iterator[Row]:
    """Yield the measurements of the file as it is, then of each scheme."""
    packed = smollm2.load_model()
    require_answer(tokenizer, packed)
    speed = replayed_speed(packed, prompt)
    yield "the file's", perplexity(own_logits(packed), texts), megabytes(packed), None, speed
    del packed
    for name, make in schemes().items():
        if options.only and name not in options.only:
            continue
        stock = stock_model()
        model = own_model(stock)
        if make is not None:
            for each in (stock, model):
                quantize_(each, make())
        generated = None if options.quick else generated_speed(stock, prompt)
        size, speed = megabytes(stock), replayed_speed(model, prompt)
        yield name, perplexity(stock_logits(stock), texts), size, generated, speed
        del stock, model
        gc.collect()
        torch.xpu.empty_cache()


def peer_row(texts: list[list[int]], prompt: list[int]) -> Row:
    """Return the measurements of llama.cpp."""
    work = json.dumps({"prompt": prompt, "count": COUNT, "texts": texts})
    threads = str(len(os.sched_getaffinity(0)))
    command = [sys.executable, str(HERE / "peer.py"), str(smollm2.file()), "--threads", threads]
    done = subprocess.run(command, input=work, capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"llama.cpp failed:\n{done.stderr}")
    result = json.loads(done.stdout)
    return f"llama.cpp, {threads} threads", result["perplexity"], None, None, result["speed"]


def line(row: Row) -> str:
    """Return a line of the table."""
    name, loss, size, generated, speed = row
    numbers = [f"{loss:.2f}", *("-" if n is None else f"{n:.1f}" for n in (size, generated, speed))]
    return "| " + " | ".join([name, *numbers]) + " |"


def main() -> None:
    """Print the table; each line as it is measured."""
    parser = argparse.ArgumentParser(prog="language-model", description=__doc__)
    parser.add_argument("--texts", type=int, default=4, help="texts whose perplexity is measured")
    parser.add_argument("--only", nargs="*", metavar="NAME", help="schemes")
    parser.add_argument("--quick", action="store_true", help="without transformers' generate")
    parser.add_argument("--no-peer", action="store_true", help="without llama.cpp")
    options = parser.parse_args()
    if missing := smollm2.missing_packages():
        raise SystemExit(f"not installed: {', '.join(missing)}")
    warnings.filterwarnings("ignore", "not quantized")
    tokenizer = smollm2.load_tokenizer()
    pages = "\n".join(page.read_text() for page in sorted(DOCS.glob("*.md")))
    texts = windows(tokenizer(pages, add_special_tokens=False)["input_ids"], options.texts)
    prompt = smollm2.prompt(tokenizer, "Tell me a long story about a fox.")
    print("| " + " | ".join(TITLES) + " |\n|" + "---|" * len(TITLES), flush=True)
    if not options.no_peer:
        print(line(peer_row(texts, prompt)), flush=True)
    for row in rows(options, tokenizer, texts, prompt):
        print(line(row), flush=True)


if __name__ == "__main__":
    main()
