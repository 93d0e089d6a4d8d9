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
