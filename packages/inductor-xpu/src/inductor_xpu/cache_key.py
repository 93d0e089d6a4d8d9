"""What compiled code depends on besides the graph; a part of the key of every cache of Inductor's."""

from __future__ import annotations

import hashlib
from pathlib import Path

import torch
import xpu_runtime as xr
from torch.utils._config_module import ConfigModule
from xpu_runtime import codegen


def cache_key() -> ConfigModule:
    """Return the settings with the generator's sources and the devices, which Inductor's caches read.

    A child of a fork that cannot use the devices compiles for others.
    """
    from . import settings

    devices = () if torch.xpu._is_in_bad_fork() else xr.devices()
    settings.generator = _digest_of_generator()
    settings.devices = repr(
        [(d.name, d.driver_version, d.sub_group_size, d.max_compute_units) for d in devices]
    )
    assert isinstance(settings, ConfigModule)
    return settings


def _digest_of_generator() -> str:
    digest = hashlib.sha256()
    for folder in (Path(__file__).parent, Path(codegen.__file__).parent):
        for file in sorted(
            file for end in ("py", "toml", "h", "hpp") for file in folder.rglob(f"*.{end}")
        ):
            digest.update(file.read_bytes())
    return digest.hexdigest()
