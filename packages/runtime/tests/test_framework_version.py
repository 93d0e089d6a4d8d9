"""Which versions of a framework an adapter serves: those that its wheel's metadata requires."""

import pytest

from xpu_runtime import framework_version
from xpu_runtime.framework_version import find_mismatch


@pytest.fixture
def wheels(monkeypatch, tmp_path):
    def add(name, *requirements):
        folder = tmp_path / f"{name}-1.dist-info"
        folder.mkdir()
        lines = ["Metadata-Version: 2.1", f"Name: {name}", "Version: 1"]
        lines += [f"Requires-Dist: {requirement}" for requirement in requirements]
        (folder / "METADATA").write_text("\n".join(lines) + "\n")

    monkeypatch.syspath_prepend(tmp_path)
    return add


@pytest.mark.parametrize(
    ("requirement", "version", "fits"),
    [
        ("thing==2.13.0", "2.13.0", True),
        ("thing==2.13.0", "2.13.0+cpu", True),
        ("thing (==2.13.0)", "2.13.0+cu130", True),
        ("thing==2.13.0", "2.13.1", False),
        ("thing==2.13.0", "2.13.0a0+git1234", False),
        ("thing==2.13.0", "2.14.1+cpu", False),
        ("thing<2.16,>=2.13", "2.15.1+cu132", True),
        ("thing<0.13,>=0.10.2", "0.10.2", True),
        ("thing<0.13,>=0.10.2", "0.12.9.dev20260101", True),
        ("thing<0.13,>=0.10.2", "0.10.1", False),
        ("thing<0.13,>=0.10.2", "0.13.0", False),
        ("thing<0.13,>=0.10.2", "1.0", False),
    ],
)
def test_a_version_fits_the_requirement(wheels, requirement, version, fits):
    wheels("adapter", "thinglib>=1", requirement)
    assert (find_mismatch("adapter", "thing", version) is None) == fits


@pytest.mark.parametrize(
    ("version", "is_one"),
    [
        ("2.15.0", False),
        ("2.15.0+cpu.dev", False),
        ("2.15.0rc2", False),
        ("2.15.0.dev20270101+cpu", True),
        ("2.15.0a0+git1234", True),
    ],
)
def test_versions_between_releases(version, is_one):
    assert framework_version.is_development(version) == is_one


def test_the_command_changes_what_pins_another_version(wheels):
    wheels("adapter", "thing==2.13.0")
    wheels("companion", "thing==2.14.1")
    wheels("careless", "thing")
    wheels("optional", 'thing==2.14.1; extra == "more"')
    found = find_mismatch("adapter", "thing", "2.14.1")
    assert found.fix.endswith(' -m pip install "thing==2.13.0" companion')
    assert found.reason.startswith("adapter 1 is for thing==2.13.0, and this is thing 2.14.1")


def test_a_wheel_without_the_requirement(wheels):
    wheels("adapter", "thinglib>=1")
    with pytest.raises(RuntimeError, match="requires no version of thing: install the wheel again"):
        find_mismatch("adapter", "thing", "1")


def test_doctors_facts(wheels, monkeypatch):
    wheels("adapter", "thing==2")
    wheels("thing")
    assert framework_version.describe("adapter", "thing", None) == {
        "version": "1",
        "framework": "thing 1",
    }
    wrong = find_mismatch("adapter", "thing", "1")
    about = framework_version.describe("adapter", "thing", wrong)
    assert about["problem"] == wrong.reason
    assert about["fix"] == wrong.fix
