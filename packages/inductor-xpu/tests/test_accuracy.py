"""The harness of accuracy: a model of its own passes, and each kind of fault is found."""

import dataclasses
import importlib.util
import json
import sys
from pathlib import Path

import pytest
import torch

sys.path.append(str(Path(__file__).parents[1] / "accuracy"))
import grid
import judge
import model_case
import report
from models import models

import inductor_xpu.settings

pytestmark = pytest.mark.filterwarnings("ignore")

VAE = models("written")["vae"]
NEEDS_TRITON = pytest.mark.skipif(
    importlib.util.find_spec("triton") is None, reason="Triton is not installed"
)


@pytest.mark.values
@pytest.mark.parametrize("reader", ["loops", pytest.param("triton", marks=NEEDS_TRITON)])
@pytest.mark.parametrize(
    "name",
    ["written/vae/training/float32/static", "written/vae/inference/bfloat16/dynamic"],
)
def test_model_passes(name, reader):
    with inductor_xpu.settings.patch(reader=reader):
        result = model_case.check(model_case.ModelCase.parse(name))
    assert str(result) == "pass"
    assert result.graphs == 1
    assert not result.breaks


class CompiledDifferently(torch.nn.Linear):
    """A layer that computes something else when it is compiled."""

    def __init__(self, factor: float, addend: float = 0.0) -> None:
        super().__init__(4, 4)
        self.factor, self.addend = factor, addend

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = super().forward(x)
        return y * self.factor + self.addend if torch.compiler.is_compiling() else y


@pytest.mark.values
@pytest.mark.parametrize(("factor", "addend"), [(1.02, 0.0), (1.0, 0.05)])
def test_wrong_results_are_found(factor, addend):
    model = dataclasses.replace(
        VAE,
        make=lambda: CompiledDifferently(factor, addend),
        inputs=lambda n: {"x": torch.randn(n, 4)},
    )
    case = model_case.ModelCase("", "", "inference", "float32", "static")
    result = model_case.check_model(model, case, "xpu")
    assert result.differences[0].startswith("output")


class Squared(torch.autograd.Function):
    @staticmethod
    def forward(context, x):
        context.save_for_backward(x)
        return x * x

    @staticmethod
    def backward(context, gradient):
        (x,) = context.saved_tensors
        factor = 2.1 if x.dtype == torch.float32 and torch.compiler.is_compiling() else 2.0
        return factor * gradient * x


class WrongGradient(torch.nn.Linear):
    def forward(self, x):
        return Squared.apply(super().forward(x))


@pytest.mark.values
def test_wrong_gradients_are_found():
    model = dataclasses.replace(
        VAE, make=lambda: WrongGradient(4, 4), inputs=lambda n: {"x": torch.randn(n, 4)}
    )
    case = model_case.ModelCase("", "", "training", "float32", "static")
    result = model_case.check_model(model, case, "xpu")
    found = [text.partition(":")[0] for text in result.differences]
    assert found == [
        f"{kind} {name}" for kind in ("gradient of", "update of") for name in ("weight", "bias")
    ]


class SizeDependent(torch.nn.Linear):
    def forward(self, x):
        return super().forward(x if len(x) < 6 else x * 1)


def test_second_graph_for_another_size_is_an_error():
    model = dataclasses.replace(
        VAE, make=lambda: SizeDependent(4, 4), inputs=lambda n: {"x": torch.randn(n, 4)}
    )
    case = model_case.ModelCase("", "", "inference", "float32", "dynamic")
    with pytest.raises(torch._dynamo.exc.RecompileError):
        model_case.check_model(model, case, "xpu")


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_judge_accepts_the_error_of_eager_and_rejects_several_times_it(dtype):
    exact = {
        "small": 1e-3 * torch.randn(2000, dtype=torch.float64),
        "large": torch.ones(3).double(),
    }
    noise = torch.randn(2000, dtype=torch.float64) * 1e-3

    def group(error):
        return {
            "small": (exact["small"] + error * noise).to(dtype),
            "large": exact["large"].to(dtype),
        }

    eager = group(0.05)
    assert not judge.differences(group(-0.05), eager, exact, 1e-3)
    (found,) = judge.differences(group(0.4), eager, exact, 1e-3)
    assert found.startswith("small: ")


def test_noise_of_cancellation_is_relative_to_the_group():
    exact = {"weight": torch.ones(8).double(), "bias": torch.zeros(8).double()}
    eager = {"weight": torch.ones(8), "bias": torch.full((8,), 1e-9)}
    compiled = {"weight": torch.ones(8), "bias": torch.full((8,), -5e-8)}
    assert not judge.differences(compiled, eager, exact, 1e-3)
    compiled["bias"] = torch.full((8,), 1e-3)
    assert judge.differences(compiled, eager, exact, 1e-3)


def test_cases_run_in_child_processes_and_are_recorded(tmp_path):
    cases = grid.Grid()
    outcome = cases.run("written/no_such_model/inference/float32/static")
    cases.end()
    assert outcome["result"] == "KeyError: 'no_such_model'"
    assert outcome["stock"] == outcome["result"]
    file = tmp_path / "accuracy.json"
    grid.record(file, "written/a/inference/float32/static", outcome)
    grid.record(file, "written/b/inference/float32/static", {"result": "pass", "graphs": 1})
    assert sorted(json.loads(file.read_text())) == sorted(grid.load(file))
    report.write(file, tmp_path / "accuracy.md")
    text = (tmp_path / "accuracy.md").read_text()
    assert "1 of 2 cases of 2 models pass; 1 fail on stock" in text
    assert "| a | stock fails / - |" in text


def test_an_outcome_names_no_folder_of_the_machine():
    error = RuntimeError("in /home/me/env/lib/python3.11/site-packages/timm/models/vit.py:7 (x)")
    assert grid._one_line(error) == "RuntimeError: in timm/models/vit.py:7 (x)"


def test_page_is_made_of_the_recorded_outcomes(tmp_path):
    report.write(report.DOCS / "accuracy.json", tmp_path / "accuracy.md")
    assert (tmp_path / "accuracy.md").read_text() == (report.DOCS / "accuracy.md").read_text()
