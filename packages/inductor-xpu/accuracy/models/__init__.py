"""The models whose accuracy is compared, by family and name."""

from __future__ import annotations

from importlib import import_module

from .model import Model

__all__ = ["FAMILIES", "Model", "models"]

# The module of each family has its table of models, and imports the packages that these need.
FAMILIES = {"written": "written", "huggingface": "hugging_face", "timm": "timm_models"}


def models(family: str) -> dict[str, Model]:
    """Return the models of a family. Raises ImportError without the package that it needs."""
    return import_module(f".{FAMILIES[family]}", __name__).MODELS
