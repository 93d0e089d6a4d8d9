"""``jax.ffi``: functions registered for xpu, which run on the host, and what their calls say in programs."""

from pathlib import Path

import jax
import numpy as np
import pytest
from jax import lax
from jax._src import core
from jaxlib.cpu import _lapack

import xla_xpu

# Functions that jaxlib has: a matrix's Cholesky factor and a number; its QR factors, in place.
CHOLESKY, QR = "test_cholesky", "test_qr"
INFO = jax.ShapeDtypeStruct((), np.int32)


@pytest.fixture(scope="module", autouse=True)
def registered():
    _lapack.initialize()
    for name, function in ((CHOLESKY, "lapack_spotrf_ffi"), (QR, "lapack_sgeqrf_ffi")):
        jax.ffi.register_ffi_target(name, _lapack.registrations()[function], platform="xpu")


def factor_qr(x, **options):
    """Householder vectors below R, and their factors; arrays lie by columns."""
    columns = (*range(x.ndim - 2), x.ndim - 1, x.ndim - 2)
    results = [x, jax.ShapeDtypeStruct((*x.shape[:-2], min(x.shape[-2:])), x.dtype)]
    layouts = {"input_layouts": [columns], "output_layouts": [columns, None]}
    call = jax.ffi.ffi_call(QR, results, input_output_aliases={0: 0}, **layouts, **options)
    return call(x)


def matrices(*batch):
    shape = (*batch, 6, 4)
    return np.random.default_rng(0).standard_normal(shape).astype(np.float32)


def text(function, *arguments):
    """The program for xpu, which says the same as JAX's for its own platforms."""
    traced = jax.jit(function).trace(*arguments)
    program, other = (traced.lower(lowering_platforms=(name,)).as_text() for name in ("xpu", "cpu"))
    assert program == other
    return program


def test_a_function_runs_on_the_host(xpu):
    shape = jax.ShapeDtypeStruct((2, 2), np.float32)
    call = jax.ffi.ffi_call(CHOLESKY, (shape, INFO), input_output_aliases={0: 0})
    matrix = jax.device_put(np.array([[4, 0], [0, 9]], np.float32), xpu)
    factor, info = jax.jit(lambda x: call(x, uplo=np.uint8(ord("L"))))(matrix)
    np.testing.assert_array_equal(factor, [[2, 0], [0, 3]])
    assert int(info) == 0
    assert f"ffi {CHOLESKY} (host)" in xla_xpu.host_calls()


def test_functions_are_registered_for_xpu(xpu):
    x = jax.device_put(np.ones((2, 2), np.float32), xpu)
    shape = jax.ShapeDtypeStruct((2, 2), np.float32)
    lowered = jax.jit(lambda x: jax.ffi.ffi_call("nowhere", shape)(x)).lower(x)
    with pytest.raises(jax.errors.JaxRuntimeError, match="no function 'nowhere' is registered"):
        lowered.compile()


@pytest.mark.values
@pytest.mark.parametrize("method", ["expand_dims", "broadcast_all", "sequential"])
def test_layouts_aliases_and_batches(xpu, cpu, method):
    x = matrices(3)
    function = jax.jit(jax.vmap(lambda x: factor_qr(x, vmap_method=method)))
    vectors, factors = function(jax.device_put(x, xpu))
    for each, v, t in zip(x, vectors, factors, strict=True):
        q = lax.linalg.householder_product(jax.device_put(v, cpu), jax.device_put(t, cpu))
        np.testing.assert_allclose(q @ np.triu(v[:4]), each, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (True, "param = true"),
        (7, "param = 7 : i64"),
        (5.0, "param = 5.000000e+00 : f64"),
        ("word", 'param = "word"'),
        (np.float32(0.5), "param = 5.000000e-01 : f32"),
        ({"a": 1}, "param = {a = 1"),
        (np.arange(3), "param = dense<[0, 1, 2]> : tensor<3xi64>"),
    ],
)
def test_attributes_of_calls(xpu, value, said):
    x = jax.device_put(np.ones(3, np.float32), xpu)
    program = text(lambda x: jax.ffi.ffi_call("nowhere", x)(x, param=value), x)
    assert "@nowhere(" in program
    assert f"mhlo.backend_config = {{{said}" in program


def test_what_calls_say(xpu):
    x = jax.device_put(np.ones((3, 4), np.float32), xpu)
    call = lambda **options: text(jax.ffi.ffi_call("nowhere", x, **options), x)  # noqa: E731
    assert "operand_index = 0" in call(input_output_aliases={0: 0})
    assert "has_side_effect = true" in call(has_side_effect=True)
    assert "operand_layouts = [dense<[0, 1]>" in call(input_layouts=[(1, 0)])
    old = call(custom_call_api_version=2, legacy_backend_config="12345")
    assert 'backend_config = "12345"' in old


@pytest.mark.parametrize(
    ("options", "attributes", "message"),
    [
        ({"input_output_aliases": {1: 0}}, {}, "with input index"),
        ({"input_output_aliases": {0: 1}}, {}, "with output index"),
        ({"legacy_backend_config": "1"}, {}, "The use of the legacy_backend_config"),
        ({"custom_call_api_version": 2}, {"a": 1}, "The use of ffi_call attributes requires"),
    ],
)
def test_wrong_calls(xpu, options, attributes, message):
    x = jax.device_put(np.ones(3, np.float32), xpu)
    with pytest.raises(ValueError, match=message):
        text(lambda x: jax.ffi.ffi_call("nowhere", x, **options)(x, **attributes), x)


def test_tokens_and_keys(xpu):
    with jax.default_device(xpu):
        token = text(lambda: jax.ffi.ffi_call("nowhere", core.abstract_token)(lax.create_token()))
        assert "(!stablehlo.token) -> !stablehlo.token" in token
        keys = jax.ffi.ffi_call("nowhere", (), has_side_effect=True)
        text(keys, jax.random.key(0))


@pytest.mark.values
def test_calls_with_effects_are_made_though_nobody_reads_their_results(xpu):
    x = jax.device_put(np.eye(2, dtype=np.float32) * 4, xpu)
    results = (jax.ShapeDtypeStruct((2, 2), np.float32), INFO)
    call = jax.ffi.ffi_call(CHOLESKY, results, has_side_effect=True)
    run = jax.jit(lambda x: (call(x, uplo=np.uint8(ord("L"))), x + 1)[1])
    before = xla_xpu.host_calls().get(f"ffi {CHOLESKY} (host)", 0)
    np.testing.assert_array_equal(run(x), np.asarray(x) + 1)
    assert xla_xpu.host_calls()[f"ffi {CHOLESKY} (host)"] == before + 1


@pytest.mark.values
@pytest.mark.cpu_device
def test_several_devices(child):
    """Inside a shard_map of a device's own part; elsewhere of parts where the call says what it repeats."""
    program = Path(__file__).parent / "programs" / "sharded_foreign_function.py"
    child(program, env={"XPU_CPU_DEVICES": "4"}).check()


@pytest.mark.values
def test_programs_of_another_process(child, tmp_path):
    """A kept program needs the function as a new one does."""
    code = """
    import jax, numpy as np
    from jaxlib.cpu import _lapack
    if {register}:
        _lapack.initialize()
        function = _lapack.registrations()["lapack_spotrf_ffi"]
        jax.ffi.register_ffi_target("test_cholesky", function, platform="xpu")
    x = np.eye(2, dtype="float32") * 4
    results = (jax.ShapeDtypeStruct((2, 2), np.float32), jax.ShapeDtypeStruct((), np.int32))
    call = jax.ffi.ffi_call("test_cholesky", results)
    print(jax.jit(lambda x: call(x, uplo=np.uint8(ord("L"))))(x)[0].sum())
    """
    env = {"XPU_CACHE_DIR": str(tmp_path)}
    for _ in range(2):
        assert "4.0" in child(code.format(register=True), env=env).check().out
    refused = child(code.format(register=False), env=env)
    assert "no function 'test_cholesky' is registered" in refused.err
