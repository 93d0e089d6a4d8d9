"""A function of the FFI in programs for four devices."""

import jax
import numpy as np
from jax._src import core
from jax._src.interpreters import mlir
from jax.sharding import AxisType, NamedSharding
from jax.sharding import PartitionSpec as P
from jaxlib.cpu import _lapack

_lapack.initialize()
function = _lapack.registrations()["lapack_spotrf_ffi"]
jax.ffi.register_ffi_target("test_cholesky", function, platform="xpu")
mesh = jax.make_mesh((4,), ("d",), axis_types=(AxisType.Auto,))
rows = NamedSharding(mesh, P("d"))
numbers = np.arange(1, 9, dtype="float32")[:, None, None] ** 2
x = jax.device_put(numbers * np.eye(2, dtype="float32"), rows)


def factor(x):
    results = (x, jax.ShapeDtypeStruct(x.shape[:-2], np.int32))
    return jax.ffi.ffi_call("test_cholesky", results)(x, uplo=np.uint8(ord("L")))[0]


batched = core.Primitive("batched")
batched.def_abstract_eval(lambda x: x)
attributes = {"num_batch_dims": "1"}


def rule(ctx, x):
    inner = ctx.replace(avals_out=[*ctx.avals_out, core.ShapedArray((8,), np.int32)])
    call = jax.ffi.ffi_lowering(
        "test_cholesky",
        extra_attributes={"mhlo.frontend_attributes": mlir.ir_attribute(attributes)},
    )
    return call(inner, x, uplo=np.uint8(ord("L")))[:1]


mlir.register_lowering(batched, rule)

mapped = jax.shard_map(factor, mesh=mesh, in_specs=P("d"), out_specs=P("d"))
for program, gathers in ((mapped, False), (batched.bind, False), (factor, True)):
    made = jax.jit(program, out_shardings=rows).lower(x).compile()
    np.testing.assert_allclose(made(x), np.sqrt(x), rtol=1e-6)
    assert ("all-gather" in made.as_text()) == gathers, made.as_text()
