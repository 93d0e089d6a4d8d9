"""Packages of AOTInductor are checked before anything of them is loaded."""

import pytest
import torch
from model_packages import MANIFEST, manifest_of, write_package
from model_packages import load as load_package


@pytest.fixture
def load(tmp_path):
    """Return a function that loads a package of these files."""
    return lambda files, manifest, device=-1: load_package(
        write_package(tmp_path / "files", files, manifest), device
    )


# The model is no library.
FILES = {"model.wrapper.so": b"no library", "model.kernels": b"no kernels"}


def test_what_is_right_is_loaded(load):
    """That is, the next step fails: the file is no library."""
    with pytest.raises(RuntimeError, match=r"dlopen|ELF|file too short"):
        load(FILES, manifest_of(FILES))


def test_a_package_of_others_is_refused(load):
    with pytest.raises(
        RuntimeError, match=r"was not made for xpu by inductor-xpu: it has no model.wrapper.xpu"
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
