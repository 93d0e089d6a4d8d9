"""Models of `transformers`: GPT-2 in training, Llama and GPT-2 writing text."""

from collections.abc import Callable
from functools import partial

import torch
import transformers as tf

SHAPE = {"vocab_size": 128, "max_position_embeddings": 256}
LLAMA = {
    "hidden_size": 64,
    "intermediate_size": 128,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
}
MODELS = {
    "gpt2": lambda: tf.GPT2LMHeadModel(
        tf.GPT2Config(vocab_size=128, n_embd=64, n_layer=2, n_head=4)
    ),
    "llama": lambda: tf.LlamaForCausalLM(tf.LlamaConfig(**SHAPE, **LLAMA)),
}
SAMPLED = {"do_sample": True, "top_k": 5, "top_p": 0.9}


def write(
    make: Callable[[], torch.nn.Module], dtype: torch.dtype, rows: int, options: dict
) -> None:
    """Let a model write text."""
    # A virtual GPU computes nothing, so that probabilities are none.
    if options["do_sample"] and torch.xpu.get_device_properties().type != "cpu":
        return
    words = torch.randint(1, 128, (rows, 16)).to("xpu")
    make().to("xpu", dtype).eval().generate(
        words,
        attention_mask=torch.ones_like(words),
        max_new_tokens=4,
        min_new_tokens=4,
        pad_token_id=0,
        **options,
    )
    torch.xpu.synchronize()


def llama_of(size: int, queries: int) -> torch.nn.Module:
    """Return a Llama whose heads have this size, with so many queries for each key."""
    heads = {"num_attention_heads": 8, "num_key_value_heads": 8 // queries, "head_dim": size}
    return tf.LlamaForCausalLM(tf.LlamaConfig(**SHAPE, **(LLAMA | heads)))


def train(make: Callable[[], torch.nn.Module], dtype: torch.dtype, length: int) -> None:
    """Train a model on texts of so many words."""
    net = make().to("xpu", dtype)
    words = torch.randint(1, 128, (2, length)).to("xpu")
    optimizer = torch.optim.AdamW(net.parameters())
    for _ in range(2):
        net(input_ids=words, labels=words).loss.backward()
        optimizer.step()
        optimizer.zero_grad()
    torch.xpu.synchronize()


CASES = {}
for name, make in MODELS.items():
    for dtype in (torch.float32, torch.bfloat16, torch.float16):
        for length in (16, 128):
            CASES[f"{name} trains {length} in {dtype}"] = partial(train, make, dtype, length)
        for rows in (1, 2):
            for options in ({"do_sample": False}, SAMPLED):
                kind = "samples" if options["do_sample"] else "writes"
                CASES[f"{name} {kind} {rows} in {dtype}"] = partial(
                    write, make, dtype, rows, options
                )
for dtype in (torch.float32, torch.bfloat16):
    for size in (32, 64, 128):
        for queries in (1, 2, 4, 8):
            CASES[f"heads of {size}, {queries} a key, in {dtype}"] = partial(
                write, partial(llama_of, size, queries), dtype, 1, {"do_sample": False}
            )
