"""Models of TIMM, of reduced size, with random weights and small images."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from . import torchvision_operators
from .model import Model

torchvision_operators.declare()

import timm  # noqa: E402
from timm.models import mlp_mixer, mobilenetv3, regnet  # noqa: E402
from timm.models._efficientnet_builder import decode_arch_def  # noqa: E402

CLASSES = 10


def _make(name: str, **sizes: Any) -> Callable[[], torch.nn.Module]:
    return lambda: timm.create_model(name, pretrained=False, num_classes=CLASSES, **sizes)


def _model(make: Callable[[], torch.nn.Module]) -> Model:
    return Model(make, lambda n: {"x": torch.randn(n, 3, 32, 32)})


def _mixer() -> torch.nn.Module:
    sizes = {"img_size": 32, "patch_size": 8, "num_blocks": 2, "embed_dim": 32}
    return mlp_mixer.MlpMixer(num_classes=CLASSES, **sizes)


def _mobilenet() -> torch.nn.Module:
    """Return one block of each kind that MobileNetV3 has."""
    blocks = (
        *(["ds_r1_k3_s2_e1_c16_se0.25_nre"], ["ir_r1_k3_s2_e4_c24_nre"]),
        *(["ir_r1_k5_s1_e3_c24_se0.25"], ["cn_r1_k1_s1_c48"]),
    )
    return mobilenetv3.MobileNetV3(
        decode_arch_def([list(block) for block in blocks]),
        num_classes=CLASSES,
        num_features=64,
        stem_size=8,
        act_layer=torch.nn.Hardswish,
    )


def _regnet() -> torch.nn.Module:
    sizes = {"depth": 6, "w0": 16, "wa": 24.0, "wm": 2.0, "group_size": 8, "se_ratio": 0.25}
    return regnet.RegNet(regnet.RegNetCfg(**sizes), num_classes=CLASSES)


RESNET = {"layers": (1, 1, 1, 1), "channels": (8, 16, 24, 32)}
CONVNEXT = {"depths": (1, 1, 1, 1), "dims": (8, 16, 24, 32)}
VIT = {"img_size": 32, "patch_size": 8, "embed_dim": 32, "depth": 2, "num_heads": 4}
SWIN = {"img_size": 32, "window_size": 4, "embed_dim": 16, "depths": (2, 2), "num_heads": (2, 4)}

MODELS = {
    "convnext": _model(_make("convnext_tiny", **CONVNEXT)),
    "deit_distilled": _model(_make("deit_tiny_distilled_patch16_224", **VIT)),
    "densenet": _model(_make("densenet121", growth_rate=8, block_config=(2, 2, 2))),
    "efficientnet": _model(_make("test_efficientnet")),
    "mixer": _model(_mixer),
    "mobilenetv3": _model(_mobilenet),
    "regnet": _model(_regnet),
    "resnet18": _model(_make("resnet18", **RESNET)),
    "resnet50": _model(_make("resnet50", **RESNET)),
    "swin": _model(_make("swin_tiny_patch4_window7_224", **SWIN)),
    "vit": _model(_make("vit_tiny_patch16_224", **VIT)),
}
