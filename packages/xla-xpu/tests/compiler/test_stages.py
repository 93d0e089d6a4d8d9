"""A compilation is a list of stages, each of which can be read in a file."""

import re

from xla_xpu.compiler.stages import STAGES

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
