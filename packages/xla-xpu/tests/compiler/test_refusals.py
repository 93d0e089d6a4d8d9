"""What is not supported is said all at once, with the user's lines."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest


def test_all_at_once(xpu):
    def program(x):
        a = x.astype(jnp.float6_e2m3fn).astype(np.float32)
        return a + jax.lax.convert_element_type(x, jnp.float6_e3m2fn).astype(np.float32)

    with jax.default_device(xpu), pytest.raises(jax.errors.JaxRuntimeError) as refusal:
        jax.jit(program)(np.ones(4, np.float32))
    text = str(refusal.value)
    assert text.startswith("UNIMPLEMENTED")
    assert "f6E2M3FN" in text
    assert "f6E3M2FN" in text
    assert text.count("test_refusals.py:") == 2


def test_unknown_options_of_the_compiler(xpu):
    x = jax.device_put(np.ones(3, np.float32), xpu)
    for options in ({"xla_nonsense": True}, {"xla_cpu_enable_fast_math": True, "nor_this": 1}):
        with pytest.raises(jax.errors.JaxRuntimeError, match="No such compile option"):
            jax.jit(lambda x: x + 1, compiler_options=options)(x)
    known = {"xla_cpu_enable_fast_math": True}
    if "jax_exec_time_optimization_effort" in jax.config.values:  # JAX 0.12 has none
        known["exec_time_optimization_effort"] = 0.5
    np.testing.assert_array_equal(jax.jit(lambda x: x.sum(), compiler_options=known)(x), 3)


def test_wrong_values_of_options_of_the_compiler(xpu):
    x = jax.device_put(np.ones(3, np.float32), xpu)
    for options, wrong in (
        ({"xla_embed_ir_in_executable": "invalid"}, "'invalid' is not a valid bool"),
        (
            {"xla_embed_ir_in_executable": True, "xla_llvm_disable_expensive_passes": "maybe"},
            "'maybe' is",
        ),
    ):
        with pytest.raises(jax.errors.JaxRuntimeError, match=f"^INVALID_ARGUMENT: .*{wrong}"):
            jax.jit(lambda x: x + 1, compiler_options=options)(x)
        with pytest.raises(jax.errors.JaxRuntimeError, match=f"^INVALID_ARGUMENT: .*{wrong}"):
            jax.jit(lambda x: x + 1).lower(x).compile(compiler_options=options)
