"""Packages of AOTInductor are checked before anything of them is loaded."""

import hashlib
import json

import pytest
import torch
from torch._inductor.package import package_aoti

from torch_xpu import _bridge

MANIFEST = "model.wrapper.xpu_package.txt"


def manifest_of(files, form="1", version=torch.__version__, abi=None):
    abi = _bridge.aoti_abi if abi is None else abi
    lines = [f"form {form}", f"torch {version}", f"abi {abi}"]
    lines += [
        f"file {name} {hashlib.sha256(content).hexdigest()}" for name, content in files.items()
    ]
    return "\n".join(lines) + "\n"


@pytest.fixture
def load(tmp_path):
    """Return a function that loads a package of these files, whose model is no library."""

    def load(files, manifest, device=-1):
        folder = tmp_path / "files"
        folder.mkdir()
        metadata = json.dumps({"AOTI_DEVICE_KEY": "xpu"}).encode()
        contents = dict(files) | {"model.wrapper_metadata.json": metadata}
        if manifest is not None:
            contents[MANIFEST] = manifest.encode()
        for name, content in contents.items():
            (folder / name).write_bytes(content)
        package = package_aoti(
            str(tmp_path / "model.pt2"), [str(folder / name) for name in contents]
        )
        return torch._C._aoti.AOTIModelPackageLoader(str(package), "model", False, 1, device)

    return load


FILES = {"model.wrapper.so": b"no library", "model.kernels": b"no kernels"}


def test_what_is_right_is_loaded(load):
    """That is, the next step fails: the file is no library."""
    with pytest.raises(RuntimeError, match=r"dlopen|ELF|file too short"):
        load(FILES, manifest_of(FILES))


def test_a_package_of_others_is_refused(load):
    with pytest.raises(
        RuntimeError,
        match=r"was not made for xpu by inductor-xpu: it has no model.wrapper.xpu_package",
    ):
        load(FILES, None)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"form": "2"}, 'has the form "2", expected "1"'),
        ({"version": "2.99.1+cpu"}, "package for torch 2.99.1.cpu, expected torch 2"),
        ({"abi": 0}, "functions of ABI 0, expected"),
    ],
    ids=["form", "torch", "abi"],
)
def test_another_version_is_refused(load, change, message):
    with pytest.raises(RuntimeError, match=message):
        load(FILES, manifest_of(FILES, **change))


def test_a_patch_version_is_not(load):
    major, minor, _ = torch.__version__.split(".", 2)
    with pytest.raises(RuntimeError, match=r"dlopen|ELF|file too short"):
        load(FILES, manifest_of(FILES, version=f"{major}.{minor}.77"))


@pytest.mark.parametrize("name", list(FILES))
def test_a_damaged_file_is_named(load, name):
    damaged = FILES | {name: FILES[name][:-1] + b"?"}
    with pytest.raises(
        RuntimeError, match=f"{name} is damaged: got the digest [0-9a-f]{{64}}, expected"
    ):
        load(damaged, manifest_of(FILES))


def test_a_missing_file_is_named(load):
    with pytest.raises(RuntimeError, match=r"has no file .*model\.weights"):
        load(FILES, manifest_of(FILES | {"model.weights": b"1"}))


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("file model.wrapper.so", "is damaged: got the line"),
        (f"file ../model.so {'0' * 64}", "expected a name without a folder"),
    ],
)
def test_a_damaged_manifest_is_named(load, line, message):
    with pytest.raises(RuntimeError, match=f"{MANIFEST} {message}|{message}"):
        load(FILES, manifest_of(FILES) + line + "\n")


def test_a_manifest_without_files_is_refused(load):
    with pytest.raises(RuntimeError, match=r"it does not name model\.wrapper\.so"):
        load(FILES, manifest_of({}))


def test_a_device_that_is_none_is_refused(load):
    with pytest.raises(RuntimeError, match="the package is for xpu:77, but the process has"):
        load(FILES, manifest_of(FILES), 77)
