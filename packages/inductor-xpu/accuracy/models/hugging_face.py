"""Models of HuggingFace's transformers, of reduced size and with random weights."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import torch

from . import torchvision_operators
from .model import Model, integers

torchvision_operators.declare()

import transformers  # noqa: E402

transformers.logging.set_verbosity_error()

WORDS, LENGTH = 120, 12
# Configurations call the same sizes by three sets of names.
BERT = {
    "vocab_size": WORDS,
    "hidden_size": 32,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "intermediate_size": 64,
    "max_position_embeddings": 32,
}
LLAMA = {**BERT, "num_key_value_heads": 2, "head_dim": 8}
BART = {
    "vocab_size": WORDS,
    "d_model": 32,
    "encoder_layers": 1,
    "decoder_layers": 1,
    "encoder_attention_heads": 4,
    "decoder_attention_heads": 4,
    "encoder_ffn_dim": 64,
    "decoder_ffn_dim": 64,
    "max_position_embeddings": 32,
}


def _make(architecture: str, config: str, **sizes: Any) -> Callable[[], torch.nn.Module]:
    def make() -> torch.nn.Module:
        configuration = getattr(transformers, config)(**sizes)
        for name, value in vars(configuration).items():
            if "drop" in name and isinstance(value, float):
                setattr(configuration, name, 0.0)
        configuration.use_cache = False
        return getattr(transformers, architecture)(configuration)

    return make


def _tokens(n: int) -> dict[str, torch.Tensor]:
    return {"input_ids": 3 + integers(WORDS - 3, n, LENGTH)}


def _labelled(n: int) -> dict[str, torch.Tensor]:
    return {**_tokens(n), "labels": 3 + integers(WORDS - 3, n, LENGTH)}


def _masked(n: int) -> dict[str, torch.Tensor]:
    """Return tokens of sequences of several lengths, with a mask of what is padding."""
    lengths = LENGTH // 2 + integers(LENGTH // 2, n, 1)
    return {**_labelled(n), "attention_mask": (torch.arange(LENGTH) < lengths).long()}


def _discriminated(n: int) -> dict[str, torch.Tensor]:
    return {**_tokens(n), "labels": integers(2, n, LENGTH)}


def _image(n: int) -> dict[str, torch.Tensor]:
    return {"pixel_values": torch.randn(n, 3, 32, 32), "labels": integers(2, n)}


def _speech(n: int) -> Mapping[str, torch.Tensor]:
    return {
        "input_features": torch.randn(n, 8, 2 * LENGTH),
        "labels": 3 + integers(WORDS - 3, n, 6),
    }


MODELS = {
    "albert": Model(
        _make("AlbertForMaskedLM", "AlbertConfig", embedding_size=16, **BERT), _labelled
    ),
    "bart": Model(_make("BartForConditionalGeneration", "BartConfig", **BART), _labelled),
    "bert": Model(_make("BertForMaskedLM", "BertConfig", **BERT), _masked),
    "distilbert": Model(
        _make(
            "DistilBertForMaskedLM",
            "DistilBertConfig",
            **{"vocab_size": WORDS, "dim": 32, "n_layers": 2, "n_heads": 4, "hidden_dim": 64},
        ),
        _labelled,
    ),
    "electra": Model(
        _make("ElectraForPreTraining", "ElectraConfig", embedding_size=16, **BERT), _discriminated
    ),
    "gemma": Model(_make("GemmaForCausalLM", "GemmaConfig", **LLAMA), _labelled),
    "gpt2": Model(
        _make(
            "GPT2LMHeadModel",
            "GPT2Config",
            **{"vocab_size": WORDS, "n_positions": 32, "n_embd": 32, "n_layer": 2, "n_head": 4},
        ),
        _masked,
    ),
    "gpt_neo": Model(
        _make(
            "GPTNeoForCausalLM",
            "GPTNeoConfig",
            **{"vocab_size": WORDS, "hidden_size": 32, "num_layers": 2, "num_heads": 4},
            **{"attention_types": [[["global", "local"], 1]], "window_size": 4},
            max_position_embeddings=32,
        ),
        _labelled,
    ),
    "gptj": Model(
        _make(
            "GPTJForCausalLM",
            "GPTJConfig",
            **{"vocab_size": WORDS, "n_positions": 32, "n_embd": 32, "n_layer": 2, "n_head": 4},
            rotary_dim=4,
        ),
        _labelled,
    ),
    "llama": Model(_make("LlamaForCausalLM", "LlamaConfig", **LLAMA), _masked),
    "mistral": Model(
        _make("MistralForCausalLM", "MistralConfig", sliding_window=4, **LLAMA), _labelled
    ),
    "opt": Model(
        _make(
            "OPTForCausalLM",
            "OPTConfig",
            ffn_dim=64,
            **{name: size for name, size in BERT.items() if name != "intermediate_size"},
            word_embed_proj_dim=32,
        ),
        _labelled,
    ),
    "qwen2": Model(_make("Qwen2ForCausalLM", "Qwen2Config", **LLAMA), _labelled),
    "roberta": Model(_make("RobertaForMaskedLM", "RobertaConfig", **BERT), _masked),
    "t5": Model(
        _make(
            "T5ForConditionalGeneration",
            "T5Config",
            **{"vocab_size": WORDS, "d_model": 32, "d_kv": 8, "d_ff": 64, "num_layers": 1},
            **{"num_heads": 4, "decoder_start_token_id": 0},
        ),
        _labelled,
    ),
    "vit": Model(
        _make(
            "ViTForImageClassification",
            "ViTConfig",
            **{"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4},
            **{"intermediate_size": 64, "image_size": 32, "patch_size": 8},
        ),
        _image,
    ),
    "whisper": Model(
        _make(
            "WhisperForConditionalGeneration",
            "WhisperConfig",
            **{name: size for name, size in BART.items() if name != "max_position_embeddings"},
            **{"num_mel_bins": 8, "max_source_positions": LENGTH, "max_target_positions": 32},
            **{"pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2},
            decoder_start_token_id=1,
        ),
        _speech,
    ),
}
