"""Models as TorchBench has, written here: they need no other package."""

from __future__ import annotations

import torch

from . import language, others, vision
from .model import Model, integers

MODELS = {
    "dcgan_discriminator": Model(
        vision.dcgan_discriminator, lambda n: {"input": torch.randn(n, 3, 32, 32)}
    ),
    "dcgan_generator": Model(vision.dcgan_generator, lambda n: {"input": torch.randn(n, 24)}),
    "diffusion_step": Model(
        others.Diffusion,
        lambda n: {
            "image": torch.randn(n, 3, 16, 16),
            "noise": torch.randn(n, 3, 16, 16),
            "time": 100 * torch.rand(n),
        },
    ),
    # Under autocast the errors of its embeddings' gradients vary from 0.4 to 1.5 times the eager ones,
    # and a lucky eager one was exceeded by a factor of 2.5.
    "dlrm": Model(
        others.DLRM,
        lambda n: {"numbers": torch.rand(n, 13), "words": integers(100, n, 4, 3)},
        tolerance=2e-2,
    ),
    "lstm_language_model": Model(
        language.LSTMLanguageModel, lambda n: {"tokens": integers(200, n, 12)}
    ),
    "nerf": Model(others.NeRF, lambda n: {"points": torch.randn(n, 16, 3)}),
    "pointnet": Model(others.PointNet, lambda n: {"points": torch.randn(n, 3, 64)}),
    "policy": Model(
        others.Policy, lambda n: {"state": torch.randn(n, 24), "action": torch.randn(n, 6)}
    ),
    "speech_recognizer": Model(
        language.SpeechRecognizer, lambda n: {"spectrogram": torch.randn(n, 32, 40)}
    ),
    "super_resolution": Model(
        vision.super_resolution, lambda n: {"input": torch.rand(n, 1, 16, 16)}
    ),
    "translator": Model(
        language.Translator,
        lambda n: {"source": integers(200, n, 14), "target": integers(200, n, 11)},
    ),
    "unet": Model(vision.UNet, lambda n: {"x": torch.randn(n, 3, 32, 32)}),
    "vae": Model(others.VAE, lambda n: {"image": torch.rand(n, 144), "noise": torch.randn(n, 8)}),
}
