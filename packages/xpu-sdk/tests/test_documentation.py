"""The README and the page about PyTorch and JAX together: their examples run and print what the text says."""

import re
import sys
import tomllib
from pathlib import Path

import pytest
from xpu_testing import processes, run_child
from xpu_testing.documentation import block_list, blocks, printed, run_example

ROOT = Path(__file__).resolve().parents[3]
README = ROOT / "README.md"
DOCS = ROOT / "docs"
EXAMPLES = DOCS / "examples" / "together"


@pytest.mark.values
@pytest.mark.parametrize("code", block_list(README, "python"), ids=["torch", "jax", "together"])
def test_readme_example(code, tmp_path):
    assert len(printed(code)) >= 1
    assert run_child(code, cwd=tmp_path).check().out.splitlines() == printed(code)


def test_readme_tables_are_those_of_the_records(tmp_path):
    script = [sys.executable, str(DOCS / "_ext" / "readme_tables.py")]
    done = processes.run(script, timeout=60, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    text = README.read_text()
    for made in done.stdout.split("\n\n"):
        assert made.strip() in text, "run: python3 docs/_ext/readme_tables.py --write"


def test_readme_names_the_versions_that_the_packages_ask_for():
    def project(package):
        return tomllib.loads((ROOT / "packages" / package / "pyproject.toml").read_text())[
            "project"
        ]

    torch, jax = project("torch-xpu"), project("xla-xpu")
    rows = dict(re.findall(r"^\| (\w+) \| ([^|]+) \|", README.read_text(), re.MULTILINE))
    for framework, adapter in (("torch", torch), ("jax", jax)):
        first, last = rows[framework].split(" to ")
        major, minor = last.split(".")
        wanted = f"{framework}>={first},<{major}.{int(minor) + 1}"
        assert wanted in adapter["dependencies"]
    for package in (torch, jax):
        assert rows["Python"] == f"{package['requires-python'].removeprefix('>=')} and later"


def test_the_readmes_links_lead_somewhere():
    links = re.findall(r"\]\(([^)#]+)", README.read_text())
    assert len(links) > 5
    assert [link for link in links if not (ROOT / link).exists()] == []


@pytest.mark.values
def test_python(tmp_path):
    run_child(blocks(DOCS / "together.md", "python"), cwd=tmp_path).check()


@pytest.mark.values
@pytest.mark.parametrize("name", ["residual_dynamics", "augment_in_jax"])
def test_examples(name, tmp_path):
    out = run_example(EXAMPLES / f"{name}.py", "--steps", "21", cwd=tmp_path)
    losses = [float(line.split()[3]) for line in out.splitlines() if "loss" in line]
    assert losses[-1] < losses[0] / 2
