"""Small models of `transformers`, trained and asked: text, images."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import torch
import transformers as tf

Inputs = dict[str, Any]
WORDS, LENGTH, BATCH, CLASSES = 128, 12, 2, 10
SIZES = {"hidden_size": 64, "num_hidden_layers": 2, "num_attention_heads": 4}
WIDE = SIZES | {"intermediate_size": 128}
TEXT = WIDE | {"vocab_size": WORDS}
GROUPED = TEXT | {"num_key_value_heads": 2}
IMAGES = {"image_size": 32, "num_labels": CLASSES}


def text(**more: Any) -> Inputs:
    """Return words that are their own labels."""
    words = torch.randint(3, WORDS, (BATCH, LENGTH))
    return {"input_ids": words, "labels": words} | more


def padded() -> Inputs:
    """Return words of which the last are padding."""
    mask = torch.ones(BATCH, LENGTH, dtype=torch.int64)
    mask[1, -4:] = 0
    return text(attention_mask=mask)


def image() -> Inputs:
    """Return images and their classes."""
    return {"pixel_values": torch.randn(BATCH, 3, 32, 32), "labels": torch.tensor([3, 7])}


def model(kind: str, config: str, **sizes: Any) -> Callable[[], torch.nn.Module]:
    """Return what makes a model by the names of its class and of its configuration's."""
    return lambda: getattr(tf, kind)(getattr(tf, config)(**sizes))


MODELS: dict[str, tuple[Callable[[], torch.nn.Module], Callable[[], Inputs]]] = {
    "deberta": (
        model("DebertaV2ForMaskedLM", "DebertaV2Config", **TEXT, relative_attention=True),
        padded,
    ),
    "gptj": (
        model(
            "GPTJForCausalLM",
            "GPTJConfig",
            **{"vocab_size": WORDS, "n_embd": 64, "n_layer": 2, "n_head": 4, "rotary_dim": 8},
        ),
        text,
    ),
    "olmo": (model("OlmoForCausalLM", "OlmoConfig", **GROUPED), padded),
    "stablelm": (model("StableLmForCausalLM", "StableLmConfig", **GROUPED), text),
    "mixtral": (
        model("MixtralForCausalLM", "MixtralConfig", **GROUPED, num_local_experts=2),
        text,
    ),
    "pegasus": (
        model(
            "PegasusForConditionalGeneration",
            "PegasusConfig",
            **{"vocab_size": WORDS, "d_model": 64, "encoder_layers": 2, "decoder_layers": 2},
            **{"encoder_attention_heads": 4, "decoder_attention_heads": 4},
            **{"encoder_ffn_dim": 128, "decoder_ffn_dim": 128, "max_position_embeddings": 32},
        ),
        padded,
    ),
    "deit": (
        model("DeiTForImageClassification", "DeiTConfig", **WIDE, **IMAGES, patch_size=8),
        image,
    ),
    "beit": (
        model("BeitForImageClassification", "BeitConfig", **WIDE, **IMAGES, patch_size=8),
        image,
    ),
    "mobilenet": (
        model("MobileNetV2ForImageClassification", "MobileNetV2Config", **IMAGES),
        image,
    ),
}


def run(make: Callable[[], torch.nn.Module], inputs: Callable[[], Inputs]) -> None:
    """Train a model for two steps, then ask it, and ask it once more in bfloat16."""
    torch.manual_seed(0)
    net = make().to("xpu")
    given = {k: v.to("xpu") if isinstance(v, torch.Tensor) else v for k, v in inputs().items()}
    optimizer = torch.optim.AdamW(net.parameters())
    for _ in range(2):
        optimizer.zero_grad()
        net(**given).loss.backward()
        torch.nn.utils.clip_grad_norm_(net.parameters(), 1.0)
        optimizer.step()
    net.eval().to(torch.bfloat16)
    for name, value in given.items():
        if isinstance(value, torch.Tensor) and value.is_floating_point():
            given[name] = value.to(torch.bfloat16)
    with torch.inference_mode():
        net(**given)
    torch.xpu.synchronize()


CASES = {name: partial(run, *pair) for name, pair in MODELS.items()}
