"""Where the tensors of a checkpoint come from: a state dict, a file, or a folder of safetensors files."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

Source = Mapping[str, Any] | str | Path


def open_tensors(source: Source) -> Mapping[str, Any]:
    """Return tensors by name; those of safetensors files are read when they are asked for."""
    if isinstance(source, Mapping):
        return source
    path = Path(source)
    if path.is_dir():
        return _Safetensors(_files_of(path))
    if path.suffix == ".safetensors":
        return _Safetensors([path])
    return torch.load(path, map_location="cpu", weights_only=True)


def is_torchao(tensors: Mapping[str, Any], name: str) -> bool:
    """Return whether the tensor is one of torchao's, without reading it from a file."""
    from torchao.utils import TorchAOBaseTensor

    made = tensors.made if isinstance(tensors, _Safetensors) else tensors
    return isinstance(made.get(name), TorchAOBaseTensor)


def gptq_format_of(source: Source) -> str:
    """Return the version of GPTQ's format that the files beside a checkpoint name, or the first."""
    if isinstance(source, Mapping):
        return "gptq"
    path = Path(source)
    folder = path if path.is_dir() else path.parent
    for name, key in (("quantize_config.json", None), ("config.json", "quantization_config")):
        if (folder / name).is_file():
            config = json.loads((folder / name).read_text())
            config = config if key is None else config.get(key, {})
            if "checkpoint_format" in config:
                return config["checkpoint_format"]
    return "gptq"


def _files_of(folder: Path) -> list[Path]:
    """Return the files that the index names, so that a missing one is found, or all."""
    index = folder / "model.safetensors.index.json"
    if index.is_file():
        names = json.loads(index.read_text())["weight_map"].values()
        return [folder / name for name in sorted(set(names))]
    files = sorted(folder.glob("*.safetensors"))
    if not files:
        raise FileNotFoundError(f"{folder} has no safetensors files")
    return files


class _Safetensors(Mapping[str, Any]):
    """The tensors of safetensors files by name; what torchao flattened is put together at once."""

    def __init__(self, files: list[Path]) -> None:
        from safetensors import SafetensorError, safe_open

        self._files: dict[str, Any] = {}
        self.made: dict[str, Any] = {}
        for path in files:
            try:
                file = safe_open(path, framework="pt", device="cpu")
            except SafetensorError as error:
                raise ValueError(f"{path} is no safetensors file, or was cut: {error}") from error
            metadata = file.metadata() or {}
            names = list(file.keys())
            if "tensor_names" in metadata:
                tensors = {name: file.get_tensor(name) for name in names}
                self.made |= _unflatten(tensors, metadata)
            else:
                self._files |= dict.fromkeys(names, file)

    def __getitem__(self, name: str) -> Any:
        return self.made[name] if name in self.made else self._files[name].get_tensor(name)

    def __iter__(self) -> Iterator[str]:
        return iter([*self.made, *self._files])

    def __len__(self) -> int:
        return len(self.made) + len(self._files)


def _unflatten(tensors: dict[str, Tensor], metadata: Mapping[str, str]) -> dict[str, Any]:
    from torchao.prototype.safetensors.safetensors_support import unflatten_tensor_state_dict

    made, left = unflatten_tensor_state_dict(tensors, metadata)
    return left | made
