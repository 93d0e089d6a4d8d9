"""The harness: what it discovers, how it judges, what it writes."""

import json
import random
import re
import signal
import subprocess
import sys
import textwrap
import time

import pytest
from xpu_bench import Bar, Case, Mean, Pair
from xpu_bench.__main__ import main
from xpu_bench.measure import judge, mean_of, measure
from xpu_bench.report import cells, quantity
from xpu_testing.processes import ProcessTree


def test_bars_compare_the_right_way_round():
    assert Bar(">= 0.95").ratio(ours=2.0, peer=1.0) == 0.5
    assert Bar("<= 1.15").ratio(ours=2.0, peer=1.0) == 2.0
    assert Bar("<= 3 ms").ratio(ours=0.002, peer=1.0) == pytest.approx(2.0)
    assert Bar(">= 0.95").cleared_by(0.95)
    assert not Bar("<= 1.15").cleared_by(1.16)


@pytest.mark.parametrize("text", ["0.95", "> 1", ">= 1 s", ">= fast"])
def test_a_bar_that_means_nothing_is_refused(text):
    with pytest.raises(ValueError, match="expected"):
        Bar(text)


def test_the_sides_run_in_turn_and_are_tried_first(monkeypatch):
    monkeypatch.setattr("xpu_bench.measure.WARM_SECONDS", 0)
    calls = []
    pair = Pair(ours=lambda: calls.append("o"), peer=lambda: calls.append("p"), inner=1)
    measure(Case("c", lambda: pair, bar=">= 0.0", repetitions=4))
    assert "".join(calls) == "op" + "oppo" * 2


def test_a_side_is_warm_when_it_is_timed(monkeypatch):
    monkeypatch.setattr("xpu_bench.measure.WARM_SECONDS", 0.01)
    begun: dict[str, float] = {}

    def call() -> None:
        begun.setdefault("at", time.perf_counter())
        time.sleep(0.001 if time.perf_counter() - begun["at"] > 0.005 else 0.02)

    pair = Pair(ours=call, peer=lambda: None, inner=1)
    row = measure(Case("c", lambda: pair, bar=">= 0.0", repetitions=3))
    assert row.ours < 0.01


def test_a_slower_side_misses_its_bar():
    pair = Pair(ours=lambda: time.sleep(0.002), peer=lambda: time.sleep(0.001), inner=1)
    row = measure(Case("c", lambda: pair, peer_name="sleep", bar=">= 1.0", repetitions=3))
    assert not row.ok
    assert 0.3 < row.ratio < 0.9


def test_a_sync_outside_the_time_is_not_counted():
    pair = Pair(ours=lambda: None, sync=lambda: time.sleep(0.01), time_sync=False, inner=1)
    assert measure(Case("c", lambda: pair, bar="<= 5 ms", repetitions=3)).ok


def test_values_are_shown_in_the_unit_of_their_size():
    assert quantity(0.0025, "s") == "2.5 ms"
    assert quantity(3 << 20, "B") == "3 MiB"
    assert quantity(None, "B") == "-"
    assert cells(judge(Case("c", Pair, bar="<= 1.1", unit="B"), [2048.0], [4096.0]))[1] == "2 KiB"


def test_a_case_without_bar_is_shown_and_passes():
    row = judge(Case("c", Pair), [2.0, 2.0], [1.0, 1.0])
    assert row.ok
    assert row.ratio == 0.5


def test_an_area_writes_its_rows_and_fails_on_a_missed_bar(tmp_path, capsys):
    folder = tmp_path / "packages" / "thing" / "benchmarks"
    folder.mkdir(parents=True)
    (folder / "bench_it.py").write_text(
        textwrap.dedent("""
        from xpu_bench import Case, Pair
        def cases():
            pair = lambda: Pair(ours=lambda: 0.5, peer=lambda: 1.0, self_timed=True)
            yield Case("quick", pair, "peer", ">= 1.0")
            yield Case("slow", pair, "peer", ">= 3.0")
        """)
    )
    file = tmp_path / "rows.json"
    file.write_text(json.dumps({"other": [{"name": "kept"}], "thing": [{"name": "gone"}]}))
    arguments = ["thing", "--root", str(tmp_path), "--json", str(file)]
    assert main(arguments) == 1
    areas = json.loads(file.read_text())
    assert areas["other"] == [{"name": "kept"}]
    rows = {row["name"]: row for row in areas["thing"]}
    assert set(rows) == {"quick", "slow"}
    assert {"name", "ours", "peer", "peer_name", "ratio", "bar", "ok"} <= set(rows["quick"])
    assert (rows["quick"]["ok"], rows["slow"]["ok"]) == (True, False)
    assert rows["slow"]["ratio"] == 2.0
    assert "below the bar: slow" in capsys.readouterr().err
    assert main([*arguments, "--only", "quick"]) == 0
    assert [row["name"] for row in json.loads(file.read_text())["thing"]] == ["quick", "slow"]


def test_areas_may_have_files_of_one_name(tmp_path):
    for area in ("one", "two"):
        folder = tmp_path / "packages" / area / "benchmarks"
        folder.mkdir(parents=True)
        (folder / "peer_of_tests.py").write_text(f"name_of_{area} = '{area}'")
        (folder / "bench_it.py").write_text(
            textwrap.dedent(f"""
            from peer_of_tests import name_of_{area}
            from xpu_bench import Case, Pair
            def cases():
                yield Case(name_of_{area}, lambda: Pair(ours=lambda: 1.0, self_timed=True))
            """)
        )
    file = tmp_path / "rows.json"
    assert main(["one", "two", "--root", str(tmp_path), "--json", str(file)]) == 0
    assert {area: rows[0]["name"] for area, rows in json.loads(file.read_text()).items()} == {
        "one": "one",
        "two": "two",
    }


def test_an_unknown_area_names_the_known_ones(tmp_path, capsys):
    with pytest.raises(SystemExit):
        main(["nothing", "--root", str(tmp_path)])
    assert "no such area: nothing; there are: none" in capsys.readouterr().err


def test_a_mean_is_the_geometric_one_of_the_rows_it_names():
    rows = [
        judge(Case(n, Pair, bar=">= 1.0"), [1.0], [r])
        for n, r in (("a 1", 2), ("a 2", 8), ("b", 99))
    ]
    row = mean_of(Mean("all a", "a *", ">= 4.5"), rows)
    assert row.ratio == pytest.approx(4)
    assert not row.ok


@pytest.fixture
def slow(tmp_path):
    """Starts the harness on cases of 0.2 s, among them one that hangs with the interpreter's lock."""
    trees = []

    def start(*arguments):
        folder = tmp_path / "packages" / "thing" / "benchmarks"
        folder.mkdir(parents=True)
        (folder / "bench_it.py").write_text(
            textwrap.dedent("""
            import ctypes, time
            from xpu_bench import Case, Pair

            def slow():
                return Pair(ours=lambda: time.sleep(0.2) or 0.2, self_timed=True)

            def hangs():
                mutex, lock = ctypes.create_string_buffer(64), ctypes.PyDLL(None).pthread_mutex_lock
                lock(mutex)
                lock(mutex)

            def cases():
                for number in range(100):
                    yield Case(f"case {number}", slow, repetitions=1)
                yield Case("hangs", hangs)
            """)
        )
        command = [sys.executable, "-m", "xpu_bench", "thing", "--root", str(tmp_path)]
        command += ["--json", str(tmp_path / "rows.json"), *arguments]
        trees.append(
            ProcessTree(
                command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=tmp_path
            )
        )
        return trees[-1].process

    yield start
    for tree in trees:
        tree.kill()


def said(err):
    """The cases that began and those whose rows were shown."""
    began = re.findall(r"thing bench_it, \d+ of 101(?:, about \d+ s left)?: (case \d+)\n", err)
    return began, re.findall(r": (case \d+)\n    ours 200 ms\n", err)


def rows_of(tmp_path):
    return [row["name"] for row in json.loads((tmp_path / "rows.json").read_text())["thing"]]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_a_run_that_is_stopped_has_shown_and_written_its_rows(slow, tmp_path, number):
    process = slow()
    deadline = time.monotonic() + 30
    while not (tmp_path / "rows.json").exists():
        assert time.monotonic() < deadline
        time.sleep(0.02)
    time.sleep(random.uniform(0, 2))
    process.send_signal(number)
    out, err = process.communicate(timeout=60)
    began, shown = said(err)
    assert shown == began[: len(shown)]
    assert len(shown) >= len(began) - 1
    assert rows_of(tmp_path) in (shown, shown[:-1])
    if number == signal.SIGKILL:
        assert process.returncode == -number
    else:
        assert process.returncode == 128 + number
        assert f"stopped by {number.name}" in err
        assert rows_of(tmp_path)[-1] in out


def test_a_case_over_its_limit_ends_the_run_with_its_stacks(slow, tmp_path):
    process = slow("--only", "hangs", "--limit", "3")
    _, err = process.communicate(timeout=120)
    assert process.returncode == 1
    assert err.index("thing bench_it, ") < err.index(": hangs\n") < err.index("in hangs\n")
