"""The division of work in C++ is that of Python."""

import random
import subprocess
from pathlib import Path

import pytest
from xpu_runtime.codegen.division import Division
from xpu_runtime.codegen.target import Target

import inductor_xpu.ahead

HEADERS = Path(inductor_xpu.ahead.__file__).parent / "include"
CASES = 4000


@pytest.fixture(scope="module")
def divide(tmp_path_factory):
    program = tmp_path_factory.mktemp("division") / "divide"
    source = Path(__file__).with_name("divide.cpp")
    command = ["g++", "-std=c++20", "-O1", "-Wall", "-Wextra", "-Werror", f"-I{HEADERS}"]
    subprocess.run([*command, str(source), "-o", str(program)], check=True)
    return program


def _size(draw):
    return draw.choice((0, 1, 2, 15, 16, 17, draw.randrange(1, 300), draw.randrange(1, 2**20)))


def _case(draw):
    gpu = draw.random() < 0.5
    target = Target(
        lanes=draw.choice((8, 16, 32)),
        units=draw.choice((1, 2, 64, 1024)),
        gpu=gpu,
        max_items=draw.choice((256, 512, 1024)),
        local_memory=65536,
    )
    form = draw.choice(("line", "rows", "folds", "columns"))
    width = target.lanes * draw.choice((1, 2, 4)) if form == "columns" else target.lanes
    values = {name: _size(draw) for name in ("rows", "columns", "outer", "inner", "divisor")}
    division = Division(
        form,
        ("rows",),
        ("columns",),
        width,
        target,
        divisors=(("divisor",),),
        outer=("outer",),
        inner=("inner",),
        overlap=draw.random() < 0.5,
        limit=draw.choice((0, 1, 4)) if form == "rows" else 0,
    )
    return division, values


def test_sizes_of_all_forms_are_divided_alike(divide):
    draw = random.Random(7)
    cases = [_case(draw) for _ in range(CASES)]
    lines, expected = [], []
    for division, values in cases:
        on, work = division.target, division.target.division
        numbers = (
            *(on.lanes, division.tiles_per_group, on.tiles),
            *(work.min_tile_length, work.max_tile_length),
            *(values["rows"], values["columns"], division.items, division.limit),
            *(values["outer"], values["inner"], int(division.overlap), values["divisor"]),
        )
        lines.append(" ".join(map(str, (division.form, *numbers))))
        groups, sizes = division.launch(values)
        expected.append(" ".join(map(str, (groups, *sizes))))
    got = subprocess.run(
        [divide], input="\n".join(lines), capture_output=True, text=True, check=True, timeout=60
    ).stdout.splitlines()
    wrong = [
        (line, ours, theirs)
        for line, ours, theirs in zip(lines, got, expected, strict=True)
        if ours != theirs
    ]
    assert not wrong, f"{len(wrong)} differ, such as {wrong[0]}"
