"""What was compiled is found again by later processes, and only by what it is right for."""

PROGRAM = """
import os
os.environ["JAX_PLATFORMS"] = "xpu,cpu"
import jax, jax.numpy as jnp, numpy as np
from xla_xpu.compiler import executables

built = []
compiled = executables._compiled

def recorded(*a):
    built.append("?")  # its name, unless it fails
    built[-1] = (saved := compiled(*a))["name"] + saved["fingerprint"][:8]
    return saved

executables._compiled = recorded
{more}
print(jax.jit(lambda x: jnp.sin(x).sum() * {factor})(np.arange(8.0)), *built)
"""


def run(child, folder, factor=2, more=""):
    env = {"XPU_CACHE_DIR": str(folder / "kernels")}
    result = child(PROGRAM.format(factor=factor, more=more), env=env).check()
    number, *built = result.out.split()
    print(built, result.err)  # shown if a count is wrong
    return float(number), len(built)


def test_found_again(child, tmp_path):
    first, built = run(child, tmp_path)
    assert built > 0
    assert run(child, tmp_path) == (first, 0)
    other, built = run(child, tmp_path, factor=3)
    assert (round(other / first, 5), built) == (1.5, 1)


def test_another_compiler_makes_its_own(child, tmp_path):
    run(child, tmp_path)
    more = "executables._compiler_digest = lambda: b'newer'"
    assert run(child, tmp_path, more=more)[1] > 0


def test_other_writers_of_kernels_make_their_own(child, tmp_path):
    run(child, tmp_path)
    (tmp_path / "write.py").write_text("# another version of xpu_runtime.codegen")
    more = f"executables.codegen.__file__ = {str(tmp_path / '__init__.py')!r}"
    assert run(child, tmp_path, more=more)[1] > 0


def test_a_damaged_plan_is_made_again(child, tmp_path):
    first, _ = run(child, tmp_path)
    for plan in (tmp_path / "kernels").glob("*.plan.entry"):
        plan.write_bytes(plan.read_bytes()[:100])
    number, built = run(child, tmp_path)
    assert number == first
    assert built > 0


def test_programs_that_call_python_are_not_kept(child, tmp_path):
    more = "jax.jit(lambda x: jax.pure_callback(np.sin, x, x))(np.float32(1)).block_until_ready()"
    run(child, tmp_path, more=more)
    _, built = run(child, tmp_path, more=more)
    assert built == 1
