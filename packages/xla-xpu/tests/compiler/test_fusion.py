"""What is computed together: arrays in every order of memory, and how many kernels that takes."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from cpu_comparison import compare_with_cpu
from jax import lax

X = np.random.default_rng(0).standard_normal((6, 40, 33)).astype(np.float32)

VIEWS = {
    "transposed": lambda x: x.transpose(2, 0, 1) * 2,
    "joined": lambda x: jnp.sin(x.transpose(1, 0, 2)).reshape(40, -1) + 1,
    "divided": lambda x: (x * 2).reshape(6, 8, 5, 33).sum(2) * 3,
    "reversed": lambda x: x[::-1, :, ::-1] - x,
    "strided": lambda x: x[1::2, 3:30:5, ::-2] * x[::2, 3:30:5, ::-2],
    "broadcast": lambda x: x[:, :1] * x[:1] + x[0, 0] + jnp.float32(3),
    "padded": lambda x: lax.pad(x * 2, 7.0, ((1, 2, 0), (-3, 4, 0), (0, 1, 2))) + 1,
    "concatenated": lambda x: jnp.concatenate([x, x * 2, -x[:, :5]], 1).transpose(1, 0, 2) + 1,
    "many parts": lambda x: jnp.concatenate([x[:, k : k + 1] * k for k in range(40)], 1),
    "stacked": lambda x: jnp.stack([x.sum(0), x.max(0), x[0]], -1),
    "counted": lambda x: x + lax.broadcasted_iota(jnp.float32, x.shape, 1) * 2,
    "sliced where told": lambda x: lax.dynamic_slice(
        x * 2, (jnp.argmax(x[:, 0, 0]), 39, -3), (2, 3, 4)
    ),
    "written where told": lambda x: lax.dynamic_update_slice(
        x, x[:2, :3] * 5, (jnp.argmin(x[:, 0, 0]), 38, 0)
    ),
    "rolled": lambda x: jnp.roll(x, (1, -2), (0, 2)) * x,
    "short rows": lambda x: x[:, :, :3].transpose(2, 1, 0) + 1,
    "one element": lambda x: x[0, 0, 0] * 2 + x[1, 1, 1],
    "transposed, by one element": lambda x: (
        jnp.tile(x[0], (4, 5)).T * jnp.sqrt(jnp.abs(lax.optimization_barrier(x[0, 0, 0])))
    ),
    "none": lambda x: (x[:0] + 1, x[:, :0].sum(1), jnp.concatenate([x[:0], x])),
    "a copy": lambda x: (x, x, x.reshape(-1), jnp.float32(4), jnp.arange(5)),
    "wide": lambda x: sum(x[i % 6, i % 40 : i % 40 + 1] * i for i in range(60)),
}


@pytest.mark.parametrize("view", VIEWS)
def test_views(view):
    compare_with_cpu(VIEWS[view], X)


BYTES = np.random.default_rng(1).integers(0, 256, (3, 70, 50, 3), np.uint8)


@pytest.mark.parametrize("kind", ["uint8", "int8", "bool"])
def test_bytes_that_lanes_find_apart(kind):
    x = (BYTES % 2 if kind == "bool" else BYTES).astype(kind)

    def function(x):
        return (
            x.transpose(0, 3, 1, 2).astype("float32") * 0.5,
            x[:, ::3, ::-1, 1].astype("float32") + 1,
            jnp.where(x[:, :, 5:, ::2].transpose(3, 2, 1, 0), 3, 4),
            x.transpose(3, 0, 2, 1)[:2, :, :5] ^ x[0, 0, 0, 0],
        )

    compare_with_cpu(function, x, exact=True)


@pytest.mark.parametrize("kind", ["uint8", "int8", "bool"])
@pytest.mark.parametrize(
    "shape", [(2, 33, 47, 3), (300, 2), (40, 19, 4), (3, 41, 5), (1, 1, 3), (2, 2, 3), (20, 2, 4)]
)
def test_channels_first(kind, shape):
    x = BYTES.reshape(-1)[: np.prod(shape)].reshape(shape)
    x = (x % 2 if kind == "bool" else x).astype(kind)
    weights = np.arange(1, 1 + shape[-1], dtype=np.float32)

    def function(x, weights):
        first = jnp.moveaxis(x.astype("float32") * weights, -1, 0)
        part = x[..., 1:, ::-1, :] if x.ndim > 2 else x[::-1]
        transposed = jnp.moveaxis(part, -1, -2).astype("int32")
        return first, transposed * 3, first.reshape(-1, 1) + weights

    compare_with_cpu(function, x, weights, exact=True)


@pytest.mark.parametrize("width", [3, 300])
def test_bytes_that_a_loop_reads_and_writes(width):
    def function(x, counts):
        def step(total, each):
            value, counted = each
            total = total + jnp.where(counted, value, 1)
            return total, total > 3

        return lax.scan(step, jnp.zeros(width), (x, counts), reverse=True)

    x = np.arange(9 * width, dtype=np.float32).reshape(9, width) % 5
    compare_with_cpu(function, x, x > 2)


@pytest.mark.values
@pytest.mark.cpu_device
def test_channels_are_one_load(child, tmp_path):
    code = """
        import jax
        import numpy as np

        jax.config.update("jax_platforms", "xpu")
        x = np.ones((4, 64, 64, 3), np.uint8)
        print(jax.jit(lambda x: x.transpose(0, 3, 1, 2) * 2.0)(x).sum())
    """
    env = {"XPU_DUMP_KERNELS": str(tmp_path), "XPU_CACHE_DIR": str(tmp_path / "cache")}
    child(code, env=env).check()
    (text,) = [t for file in tmp_path.glob("*.sycl") if "fused_0" in (t := file.read_text())]
    assert text.count("= word_at(x") == 1
    assert "= byte_at(x" not in text


@pytest.mark.values
def test_sizes_share_kernels(child, tmp_path):
    code = """
        import jax, jax.numpy as jnp, os
        from pathlib import Path
        jax.config.update("jax_platforms", "xpu")

        def kernels():
            texts = Path(os.environ["XPU_DUMP_KERNELS"]).glob("*.sycl")
            return sum("fused_0" in text.read_text() for text in texts)

        def of(rows, columns):
            x = jnp.ones((rows, columns))
            assert float(jax.jit(lambda x: x[:, ::-1] * 2 + x)(x).sum()) == 3 * x.size
            assert float(jax.jit(lambda x: x * x + 1)(x).sum()) == 2 * x.size
            return kernels()

        first = of(320, 64)
        assert first > 0
        assert of(6400, 64) == first
        assert of(6400, 65) > first
    """
    dump = tmp_path / "dump"
    dump.mkdir()
    env = {"XPU_DUMP_KERNELS": str(dump), "XPU_CACHE_DIR": str(tmp_path / "cache")}
    child(code, env=env).check()


@pytest.mark.parametrize("arrays", [35, 36, 37, 80])
def test_many_arrays(arrays):
    compare_with_cpu(lambda *x: sum(x), *(X[0] * k for k in range(arrays)))


def test_a_loop_of_many_arrays():
    def body(i, arrays):
        return [x * 0.5 + i for x in arrays]

    compare_with_cpu(lambda *x: lax.fori_loop(0, 9, body, list(x)), *(X[0] + k for k in range(20)))


def test_much_is_made_of_a_row_and_its_sum():
    def function(x):
        x = x / x.sum(-1, keepdims=True)
        for number in range(6):
            x = jnp.sin(x * number) + x / (number + 2)
        return x

    compare_with_cpu(function, np.abs(X[0]))


def plan_of(function, *args):
    import json

    from jax.experimental import serialize_executable

    compiled = jax.jit(function).lower(*args).compile()
    payload = serialize_executable.serialize(compiled)[0]
    begin = payload.index(b'{"version"')
    plan, _ = json.JSONDecoder().raw_decode(payload[begin:].decode(errors="ignore"))
    return plan["plan"]


def kernels(function, *args):
    """How many steps a program has."""
    return [step["step"] for step in plan_of(function, *args)["steps"]]


def adam(w, m, v, g):
    m, v = 0.9 * m + 0.1 * g, 0.99 * v + 0.01 * g * g
    return w - 0.001 * m / (jnp.sqrt(v) + 1e-8), m, v


ONE_KERNEL = {
    "a chain": (lambda x: jnp.tanh(jnp.sin(x) * 2 + x.T), (64, 64)),
    "three results": (lambda x: adam(x, x * 2, x * x, x - 1), (64, 64)),
    "softmax": (lambda x: jax.nn.softmax(x * 3), (64, 200)),
    "normalisation": (lambda x: jax.nn.standardize(x) * 2 + 1, (64, 200)),
    "an integrator": (
        lambda x: lax.fori_loop(0, 100, lambda i, y: y + 0.01 * jnp.cos(y) * i, x),
        (64, 64),
    ),
}


# Whether rows are walked depends on how many the device wants.
@pytest.mark.cpu_device
@pytest.mark.parametrize("program", ONE_KERNEL)
def test_one_kernel(program):
    function, shape = ONE_KERNEL[program]
    x = jnp.sin(jnp.arange(int(np.prod(shape)), dtype=jnp.float32)).reshape(shape)
    steps = [step for step in kernels(function, x) if step != "fill"]
    assert steps == ["kernel"]
    compare_with_cpu(function, np.asarray(x))


@pytest.mark.cpu_device
@pytest.mark.parametrize(("columns", "exponentials"), [(300, 1), (70_000, 2)])
def test_local_memory_caches_what_is_slow_where_a_row_fits(columns, exponentials):
    x = np.random.default_rng(0).standard_normal((70, columns)).astype(np.float32)
    (source,) = plan_of(jax.nn.softmax, jnp.asarray(x))["sources"]
    assert source.count("exp(") == exponentials
    compare_with_cpu(jax.nn.softmax, x)


CHAINED = {
    "its derivative": "jax.grad(lambda x: jnp.sin(jnp.sin(jnp.sin(x))).sum())",
    "both of both": "lambda x: (jnp.cos(x), jnp.cos(jnp.sin(x)), jnp.sin(jnp.sin(x)))",
}


@pytest.mark.values
@pytest.mark.parametrize("program", CHAINED)
def test_sines_of_sines(child, program):
    """In a process of its own: a driver's compiler has died of them."""
    child(f"""
        import jax, jax.numpy as jnp, numpy as np
        program = jax.jit({CHAINED[program]})
        x = np.linspace(-3, 3, 10, dtype=np.float32)
        xpu, cpu = (program(jax.device_put(x, jax.devices(name)[0])) for name in ("xpu", "cpu"))
        jax.tree.map(lambda a, b: np.testing.assert_allclose(a, b, atol=1e-6), xpu, cpu)
        """).check()


@pytest.mark.cpu_device
def test_what_kills_the_compiler_is_computed_one_by_one(child, tmp_path):
    """As the device library does not write them, sines and cosines of each other have killed it."""
    env = {"XPU_CACHE_DIR": str(tmp_path / "kernels")}
    program = """
        import jax, jax.numpy as jnp, numpy as np
        from xla_xpu.compiler import elementwise
        for name, text in {"sine": "sin", "cosine": "cos"}.items():
            elementwise.TABLE[name] = elementwise.Rule(f"__spirv_ocl_{text}({{0}})")
        program = jax.jit(jax.grad(lambda x: jnp.sin(jnp.sin(jnp.sin(x))).sum()))
        x = np.linspace(-3, 3, 10, dtype=np.float32)
        xpu, cpu = (program(jax.device_put(x, jax.devices(name)[0])) for name in ("xpu", "cpu"))
        np.testing.assert_allclose(xpu, cpu, atol=1e-6)
        """
    for warnings in (1, 0):  # the second process has the plan of the first
        done = child(program, env=env).check()
        assert done.err.count("one kernel per operation") == warnings, done.err
