"""Small models of the kinds people train, with random weights: how each is made and what it is fed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch
import transformers as tf

VOCABULARY, LENGTH, BATCH = 128, 12, 2
TEXT = {
    "vocab_size": VOCABULARY,
    "hidden_size": 64,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
}
WIDE = {**TEXT, "intermediate_size": 128}
GROUPED = {**WIDE, "num_key_value_heads": 2}
IMAGES = {"image_size": 32, "num_labels": 10}


def _tokens(name: str = "input_ids", high: int = VOCABULARY) -> dict[str, torch.Tensor]:
    return {name: torch.randint(1, high, (BATCH, LENGTH))}


def _labelled_text() -> dict[str, torch.Tensor]:
    tokens = _tokens()
    return {**tokens, "labels": tokens["input_ids"]}


def _image(size: int = 32) -> dict[str, torch.Tensor]:
    return {"pixel_values": torch.randn(BATCH, 3, size, size), "labels": torch.tensor([3, 7])}


@dataclass(frozen=True)
class Model:
    """A model and its inputs; ``loss`` is what is trained on when the model gives none itself."""

    name: str
    make: Callable[[], torch.nn.Module]
    inputs: Callable[[], dict[str, torch.Tensor]]


def _bert():
    return tf.BertForMaskedLM(tf.BertConfig(**WIDE, max_position_embeddings=32))


def _gpt2():
    return tf.GPT2LMHeadModel(
        tf.GPT2Config(vocab_size=VOCABULARY, n_embd=64, n_layer=2, n_head=4, n_positions=32)
    )


def _llama():
    return tf.LlamaForCausalLM(tf.LlamaConfig(**GROUPED))


def _mistral():
    return tf.MistralForCausalLM(tf.MistralConfig(**GROUPED, sliding_window=6))


def _qwen():
    return tf.Qwen2ForCausalLM(tf.Qwen2Config(**GROUPED))


def _t5():
    return tf.T5ForConditionalGeneration(
        tf.T5Config(
            vocab_size=VOCABULARY,
            d_model=64,
            d_kv=16,
            d_ff=128,
            num_layers=2,
            num_heads=4,
            decoder_start_token_id=0,
        )
    )


def _vit():
    return tf.ViTForImageClassification(
        tf.ViTConfig(**{k: v for k, v in WIDE.items() if k != "vocab_size"}, **IMAGES, patch_size=8)
    )


def _swin():
    return tf.SwinForImageClassification(
        tf.SwinConfig(
            **IMAGES, patch_size=2, embed_dim=32, depths=[2, 2], num_heads=[2, 4], window_size=4
        )
    )


def _convnext():
    return tf.ConvNextForImageClassification(
        tf.ConvNextConfig(**IMAGES, hidden_sizes=[16, 32, 64], depths=[1, 1, 1], num_stages=3)
    )


def _resnet():
    return tf.ResNetForImageClassification(
        tf.ResNetConfig(embedding_size=16, hidden_sizes=[32, 64, 128, 256], num_labels=10)
    )


def _whisper():
    return tf.WhisperForConditionalGeneration(
        tf.WhisperConfig(
            vocab_size=VOCABULARY,
            num_mel_bins=16,
            d_model=64,
            encoder_layers=2,
            decoder_layers=2,
            encoder_attention_heads=4,
            decoder_attention_heads=4,
            encoder_ffn_dim=128,
            decoder_ffn_dim=128,
            max_source_positions=20,
            max_target_positions=32,
            pad_token_id=0,
            bos_token_id=1,
            eos_token_id=2,
            decoder_start_token_id=1,
        )
    )


def _clip():
    vision = {k: v for k, v in WIDE.items() if k != "vocab_size"}
    return tf.CLIPModel(
        tf.CLIPConfig(
            text_config={**WIDE, "max_position_embeddings": 32, "eos_token_id": 2},
            vision_config={**vision, "image_size": 32, "patch_size": 8},
            projection_dim=32,
        )
    )


def _mamba():
    return tf.MambaForCausalLM(
        tf.MambaConfig(vocab_size=VOCABULARY, hidden_size=64, num_hidden_layers=2, state_size=8)
    )


def _t5_inputs():
    return {**_tokens(), "labels": torch.randint(1, VOCABULARY, (BATCH, 5))}


def _whisper_inputs():
    return {
        "input_features": torch.randn(BATCH, 16, 40),
        "labels": torch.randint(3, VOCABULARY, (BATCH, 5)),
    }


def _clip_inputs():
    return {**_tokens(), "pixel_values": torch.randn(BATCH, 3, 32, 32), "return_loss": True}


MODELS = (
    Model("bert", _bert, _labelled_text),
    Model("gpt2", _gpt2, _labelled_text),
    Model("llama", _llama, _labelled_text),
    Model("mistral", _mistral, _labelled_text),
    Model("qwen2", _qwen, _labelled_text),
    Model("t5", _t5, _t5_inputs),
    Model("vit", _vit, _image),
    Model("swin", _swin, _image),
    Model("convnext", _convnext, _image),
    Model("resnet50", _resnet, lambda: _image(128)),
    Model("whisper", _whisper, _whisper_inputs),
    Model("clip", _clip, _clip_inputs),
    Model("mamba", _mamba, _labelled_text),
)
