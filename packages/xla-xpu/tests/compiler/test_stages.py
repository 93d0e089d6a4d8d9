"""A compilation is a list of stages, each of which can be read in a file."""

import re
import sys
from pathlib import Path

import jax
import jax.numpy as jnp
import pytest
from jaxlib.xla_client import CompileOptions

from xla_xpu import compiler
from xla_xpu.compiler.graph import break_cycles
from xla_xpu.compiler.stages import STAGES, Compilation

FOLDER = Path(compiler.__file__).parent

PROGRAM = """
    import jax, jax.numpy as jnp

    def f(x):
        first = jax.nn.softmax(x[None] * x[:, None])
        return jax.lax.fori_loop(0, jnp.int32(x[0]), lambda i, y: y @ y, first)

    g = jax.jit(f, donate_argnums=0)
    print(g(jnp.ones(8)).sum())
"""
NAMES = [f"{number}_{stage.run.__name__.strip('_')}" for number, stage in enumerate(STAGES)]


def test_every_stage_is_written(child, tmp_path):
    given = {"XLA_FLAGS": f"--xla_dump_to={tmp_path}"}
    for _ in range(2):  # also of a program that is in the cache
        for path in tmp_path.glob("*"):
            path.unlink()
        assert child(PROGRAM, env=given).check().out.startswith("8.")
        files = {path.name: path.read_text() for path in tmp_path.glob("*.jit_*")}
        of_f = {
            name: text for name, text in files.items() if "stablehlo.while" in files[_first(name)]
        }
        stages = {re.sub(r".*?\.(\d+_\w+)\.\w+$", r"\1", name): text for name, text in of_f.items()}
        assert sorted(stages, key=NAMES.index) == NAMES
        assert "while(" in stages["4_simplify"]
        assert "reduce(" in stages["5_lower"] or "kernel(" in stages["5_lower"]
        assert stages["6_fuse"].count("kernel(") <= stages["5_lower"].count("kernel(")
        assert "LoopProgram(" in stages["7_write_loops"]
        assert "XPU_KERNEL" in stages["8_write_kernels"]


def _first(name: str) -> str:
    return re.sub(r"\.\d+_\w+\.\w+$", f".{NAMES[0]}.mlir", name)


def test_a_folder_that_cannot_be_made(child, tmp_path):
    file = tmp_path / "file"
    file.touch()
    result = child(PROGRAM, env={"XLA_FLAGS": f"--xla_dump_to={file}"}).check()
    assert result.out.startswith("8.")
    assert f"--xla_dump_to={file}" in result.err


# Files that describe programs, kernels and plans, or read them, whichever stage asks.
SHARED = {
    *("stages.py", "graph.py", "types.py", "plan.py", "literals.py", "import_stablehlo.py"),
    *("views.py", "splats.py", "operands.py", "elementwise.py", "regions.py", "reducers.py"),
    *("walk.py", "pending_kernel.py", "pending_rows.py", "pending_reduction.py"),
}
PROGRAMS = {
    "elements": lambda x: x * 2 + 1,
    "rows": lambda x: jax.nn.softmax(x[None] * x[:, None]),
    "columns": lambda x: (x[None] * x[:, None]).sum(0),
    "product": lambda x: jnp.tanh(jnp.outer(x, x) @ x) + 1,
    "update": lambda x: x.at[jnp.int32(x[0])].set(2.0),
    "loop": lambda x: jax.lax.fori_loop(0, jnp.int32(x[0]), lambda i, y: y * y, x),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_no_stage_is_entered_again(name):
    """A file of a stage is not entered again when a later stage has begun.

    Counted are calls of functions, by the file of their code, while a program is compiled. A file belongs to
    the stage that enters it first; the files in SHARED belong to none. A kernel with statements of its own
    is written by the lowering that added it, so programs with such kernels are not counted.
    """
    code = str(jax.jit(PROGRAMS[name]).lower(jnp.ones(64)).compiler_ir()).encode()
    entered = {}

    def enter(frame, event, argument):
        path = Path(frame.f_code.co_filename)
        if event == "call" and FOLDER in path.parents and path.name not in SHARED:
            entered.setdefault(path.relative_to(FOLDER).as_posix(), {})[stage.run.__name__] = None

    with break_cycles():
        compilation = Compilation(code, CompileOptions())
        for stage in STAGES:
            sys.setprofile(enter)
            try:
                stage.run(compilation)
            finally:
                sys.setprofile(None)
    assert {path: list(stages) for path, stages in entered.items() if len(stages) > 1} == {}
    assert len(entered) > len(STAGES)
