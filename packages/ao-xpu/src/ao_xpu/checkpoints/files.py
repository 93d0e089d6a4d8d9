"""Where the tensors of a checkpoint come from: a state dict, a file, or a folder of safetensors files."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

Source = Mapping[str, Any] | str | Path


def open_tensors(source: Source) -> Mapping[str, Any]:
    """Return tensors by name; those of safetensors files are read when they are asked for.

    Raise ValueError with the path of a file that is damaged.
    """
    if isinstance(source, Mapping):
        return source
    path = Path(source)
    if path.is_dir():
        return _Safetensors(_files_of(path))
    if path.suffix == ".safetensors":
        return _Safetensors([path])
    return _read(path, lambda: _names_to_tensors(torch.load(path, "cpu", weights_only=True)))


def is_torchao(tensors: Mapping[str, Any], name: str) -> bool:
    """Return whether the tensor is one of torchao's, without reading it from a file."""
    made = tensors.made if isinstance(tensors, _Safetensors) else tensors
    return is_quantized(made.get(name))


def is_quantized(tensor: Any) -> bool:
    """Return whether the tensor is one of torchao's, or of this package."""
    from torchao.utils import TorchAOBaseTensor

    return isinstance(tensor, TorchAOBaseTensor)


def gptq_format_of(source: Source) -> str:
    """Return the version of GPTQ's format that the files beside a checkpoint name, or the first."""
    if isinstance(source, Mapping):
        return "gptq"
    path = Path(source)
    folder = path if path.is_dir() else path.parent
    for name, key in (("quantize_config.json", None), ("config.json", "quantization_config")):
        if (folder / name).is_file():
            content = _read_json(folder / name)
            config = content if key is None else content.get(key)
            if isinstance(config, dict) and "checkpoint_format" in config:
                return config["checkpoint_format"]
    return "gptq"


def _files_of(folder: Path) -> list[Path]:
    """Return the files that the index names, so that a missing one is found, or all."""
    index = folder / "model.safetensors.index.json"
    if index.is_file():
        weight_map = _read_json(index).get("weight_map")
        if not isinstance(weight_map, dict):
            raise ValueError(f"{index} has no weight_map: was it cut?")
        return [folder / name for name in sorted(set(weight_map.values()))]
    files = sorted(folder.glob("*.safetensors"))
    if not files:
        raise FileNotFoundError(f"{folder} has no safetensors files")
    return files


def _read(path: Path, read: Callable[[], Any]) -> Any:
    """Read a file; an error of its content names it."""
    try:
        return read()
    except (FileNotFoundError, IsADirectoryError, PermissionError):
        raise
    except Exception as error:  # readers trust what they read, and fail in many ways
        raise ValueError(f"{path} cannot be read: was it cut? {error!r}") from error


def _read_json(path: Path) -> dict[str, Any]:
    content = _read(path, lambda: json.loads(path.read_text()))
    if not isinstance(content, dict):
        raise ValueError(f"{path}: got {type(content).__name__}, expected an object")
    return content


def _names_to_tensors(content: Any) -> Mapping[str, Any]:
    if not isinstance(content, Mapping) or not all(isinstance(name, str) for name in content):
        raise ValueError(f"got {type(content).__name__}, expected tensors by name")
    return content


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
                self.made |= _read(path, partial(_unflatten, tensors, metadata))
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
