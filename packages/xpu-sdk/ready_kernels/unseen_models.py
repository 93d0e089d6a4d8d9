"""Twenty models that no sample program has, to measure what part of their kernels ships."""

from __future__ import annotations

import sys
from functools import partial
from pathlib import Path

import torch

sys.path.insert(0, str(Path(__file__).parent))

from programs.torch_transformers import (
    GROUPED,
    IMAGES,
    TEXT,
    WIDE,
    WORDS,
    image,
    model,
    padded,
    run,
    sound,
    text,
)

SEQUENCES = {"vocab_size": WORDS, "d_model": 64, "pad_token_id": 0, "decoder_start_token_id": 1}
HEADS = {"encoder_attention_heads": 4, "decoder_attention_heads": 4}
DEEP = {"encoder_layers": 2, "decoder_layers": 2, "encoder_ffn_dim": 128, "decoder_ffn_dim": 128}
SHORT = {"max_position_embeddings": 32}
T5 = {"d_kv": 16, "d_ff": 128, "num_layers": 2, "num_heads": 4}


def speech():
    """Return spectra and the words that are heard in them."""
    return {"input_features": torch.randn(2, 16, 40), "labels": torch.randint(3, WORDS, (2, 5))}


def image_and_text():
    """Return images and the words that describe them."""
    words = torch.randint(3, WORDS, (2, 12))
    return {"input_ids": words, "pixel_values": torch.randn(2, 3, 32, 32), "return_loss": True}


MODELS = {
    "bert": (model("BertForMaskedLM", "BertConfig", **TEXT), padded),
    "albert": (model("AlbertForMaskedLM", "AlbertConfig", **TEXT, embedding_size=32), padded),
    "electra": (model("ElectraForMaskedLM", "ElectraConfig", **TEXT, embedding_size=32), padded),
    "distilbert": (
        model(
            "DistilBertForMaskedLM",
            "DistilBertConfig",
            **{"vocab_size": WORDS, "dim": 64, "n_layers": 2, "n_heads": 4, "hidden_dim": 128},
        ),
        padded,
    ),
    "opt": (
        model(
            "OPTForCausalLM",
            "OPTConfig",
            **{k: v for k, v in TEXT.items() if k != "intermediate_size"},
            **{"ffn_dim": 128, "word_embed_proj_dim": 64},
        ),
        padded,
    ),
    "bloom": (
        model(
            "BloomForCausalLM",
            "BloomConfig",
            **{"vocab_size": WORDS, "hidden_size": 64, "n_layer": 2, "n_head": 4},
        ),
        padded,
    ),
    "mistral": (
        model("MistralForCausalLM", "MistralConfig", **GROUPED, sliding_window=6),
        text,
    ),
    "qwen": (model("Qwen2ForCausalLM", "Qwen2Config", **GROUPED), text),
    "phi": (model("PhiForCausalLM", "PhiConfig", **GROUPED), text),
    "gemma": (model("GemmaForCausalLM", "GemmaConfig", **GROUPED, head_dim=16), text),
    "mamba": (
        model(
            "MambaForCausalLM",
            "MambaConfig",
            **{"vocab_size": WORDS, "hidden_size": 64, "num_hidden_layers": 2, "state_size": 8},
        ),
        text,
    ),
    "t5": (
        model("T5ForConditionalGeneration", "T5Config", **(SEQUENCES | T5)),
        text,
    ),
    "bart": (
        model("BartForConditionalGeneration", "BartConfig", **(SEQUENCES | HEADS | DEEP | SHORT)),
        padded,
    ),
    "whisper": (
        model(
            "WhisperForConditionalGeneration",
            "WhisperConfig",
            **(SEQUENCES | HEADS | DEEP),
            **{"num_mel_bins": 16, "max_source_positions": 20, "max_target_positions": 32},
            **{"bos_token_id": 1, "eos_token_id": 2},
        ),
        speech,
    ),
    "wav2vec2": (
        model(
            "Wav2Vec2ForCTC",
            "Wav2Vec2Config",
            **WIDE,
            **{"vocab_size": 32, "conv_dim": [32, 32], "conv_stride": [5, 4]},
            **{"conv_kernel": [10, 8], "num_feat_extract_layers": 2, "mask_time_prob": 0.0},
            **{"num_conv_pos_embeddings": 16, "num_conv_pos_embedding_groups": 4},
        ),
        sound,
    ),
    "vit": (model("ViTForImageClassification", "ViTConfig", **WIDE, **IMAGES, patch_size=8), image),
    "swin": (
        model(
            "SwinForImageClassification",
            "SwinConfig",
            **IMAGES,
            **{"patch_size": 2, "embed_dim": 32, "depths": [2, 2], "num_heads": [2, 4]},
            window_size=4,
        ),
        image,
    ),
    "convnext": (
        model(
            "ConvNextForImageClassification",
            "ConvNextConfig",
            **IMAGES,
            **{"hidden_sizes": [16, 32, 64], "depths": [1, 1, 1], "num_stages": 3},
        ),
        image,
    ),
    "resnet": (
        model(
            "ResNetForImageClassification",
            "ResNetConfig",
            **{"embedding_size": 16, "hidden_sizes": [32, 64, 128, 256], "num_labels": 10},
        ),
        image,
    ),
    "clip": (
        model(
            "CLIPModel",
            "CLIPConfig",
            text_config=TEXT | SHORT | {"eos_token_id": 2},
            vision_config=WIDE | {"image_size": 32, "patch_size": 8},
            projection_dim=32,
        ),
        image_and_text,
    ),
}

CASES = {name: partial(run, *pair) for name, pair in MODELS.items()}
