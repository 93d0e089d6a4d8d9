"""What a compiled program says about itself, and how it is kept and refused."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.experimental import serialize_executable


def compiled(xpu):
    x = jax.device_put(np.ones((4, 8), np.float32), xpu)
    return jax.jit(lambda x: jnp.sin(x) @ x.T).lower(x).compile(), x


def test_text(xpu):
    program, _ = compiled(xpu)
    assert "ENTRY" in program.as_text()


def test_cost_and_memory(xpu):
    program, _ = compiled(xpu)
    assert program.cost_analysis()
    memory = program.memory_analysis()
    assert memory.argument_size_in_bytes == 4 * 8 * 4
    assert memory.output_size_in_bytes == 4 * 4 * 4


def test_serialized_program_gives_the_same(xpu):
    program, x = compiled(xpu)
    again = serialize_executable.deserialize_and_load(*serialize_executable.serialize(program))
    np.testing.assert_array_equal(np.asarray(again(x)), np.asarray(program(x)))


@pytest.mark.parametrize("damage", [lambda b: b[: len(b) // 2], lambda b: b"", lambda b: b[::-1]])
def test_damaged_program_is_an_error(xpu, damage):
    executable = compiled(xpu)[0].runtime_executable()
    client = xpu.client
    text = (
        client.serialize_executable(executable)
        if hasattr(client, "serialize_executable")
        else executable.serialize()
    )
    with pytest.raises(Exception, match=r"INVALID_ARGUMENT|INTERNAL|DATA_LOSS"):
        client.deserialize_executable(damage(text), executable.local_devices())


def test_wrong_arguments_are_errors(xpu, cpu):
    program, x = compiled(xpu)
    with pytest.raises((TypeError, ValueError)):
        program(x[:2])
    with pytest.raises((TypeError, ValueError)):
        program(jax.device_put(x, cpu))
