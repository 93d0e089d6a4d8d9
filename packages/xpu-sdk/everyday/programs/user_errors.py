"""Do what users do wrong. Each mistake is one clear exception, and the process goes on."""

import contextlib
import io
import tempfile

import jax
import jax.numpy as jnp
import numpy as np
import torch
import torch.nn.functional as F
import xpu_runtime as xr
from torch import nn

MISTAKES = []


def mistake(error, *says):
    """The function must raise `error` with each of the texts in its message."""
    return lambda function: MISTAKES.append((error, says, function))


def xpu(*shape, dtype=torch.float32):
    return torch.ones(shape, dtype=dtype, device="xpu")


# PyTorch: shapes, types, devices.


@mistake(RuntimeError, "2x3", "2x3")
def product_of_wrong_shapes():
    xpu(2, 3) @ xpu(2, 3)


@mistake(RuntimeError, "size of tensor a (3)", "tensor b (4)")
def sum_of_wrong_shapes():
    xpu(2, 3) + xpu(2, 4)


@mistake(RuntimeError, "device", "cpu", "xpu")
def operands_on_two_devices():
    xpu(3) + torch.ones(3)


@mistake(RuntimeError, "device", "cpu", "xpu")
def forgotten_model_on_the_cpu():
    nn.Linear(4, 2)(xpu(1, 4))


@mistake(RuntimeError, "device", "cpu", "xpu")
def forgotten_input_on_the_cpu():
    nn.Conv2d(1, 2, 3).to("xpu")(torch.ones(1, 1, 8, 8))


@mistake(RuntimeError, "device", "cpu", "xpu")
def loss_with_labels_on_the_cpu():
    F.cross_entropy(xpu(4, 3), torch.zeros(4, dtype=torch.long))


@mistake(RuntimeError, "dtype")
def product_of_two_types():
    xpu(2, 2) @ xpu(2, 2, dtype=torch.bfloat16)


@mistake(RuntimeError, "channels")
def wrong_channels():
    nn.Conv2d(3, 8, 3).to("xpu")(xpu(1, 4, 8, 8))


@mistake(TypeError, "xpu", "numpy", "cpu")
def numpy_of_a_device_tensor():
    xpu(3).numpy()


@mistake(RuntimeError, "grad")
def numpy_of_a_tensor_with_gradient():
    xpu(3).requires_grad_().cpu().numpy()


@mistake(RuntimeError, "xpu:57", "device")
def device_that_is_not_there():
    torch.ones(1, device="xpu:57")


@mistake(RuntimeError, "gpx")
def misspelt_device():
    torch.ones(1, device="gpx")


@mistake(RuntimeError, "shape", "[4]")
def impossible_view():
    xpu(2, 3).view(4)


@mistake(IndexError, "out of range")
def dimension_out_of_range():
    xpu(2, 3).sum(2)


@mistake(IndexError, "out of")
def host_index_out_of_range():
    xpu(3)[5]


@mistake(RuntimeError, "index 9 is out of range")
def index_out_of_range_on_the_device():
    xpu(4)[torch.tensor([9], device="xpu")].cpu()


@mistake(RuntimeError, "out of range")
def word_outside_of_the_embedding():
    nn.Embedding(10, 4).to("xpu")(torch.tensor([3, 10], device="xpu")).sum().item()


@mistake(RuntimeError, "out of range")
def label_outside_of_the_classes():
    F.cross_entropy(xpu(4, 3), torch.tensor([0, 1, 2, 3], device="xpu")).item()


@mistake(RuntimeError, "float", "Long")
def labels_that_are_floats():
    F.nll_loss(xpu(4, 3), xpu(4))


@mistake(RuntimeError, "second time")
def backward_twice():
    loss = xpu(3).requires_grad_().exp().sum()
    loss.backward()
    loss.backward()


@mistake(RuntimeError, "inplace operation")
def value_that_backward_needs_is_changed():
    y = xpu(3).requires_grad_().exp()
    y += 1
    y.sum().backward()


@mistake(RuntimeError, "scalar outputs")
def backward_of_many_numbers():
    (xpu(3).requires_grad_() * 2).backward()


@mistake(RuntimeError, "does not require grad")
def backward_without_gradients():
    xpu(3).sum().backward()


@mistake(RuntimeError, "leaf", "in-place")
def leaf_changed_in_place():
    xpu(3).requires_grad_().add_(1)


@mistake(AssertionError, "inf checks")  # as PyTorch has it
def scaler_step_without_backward():
    model = nn.Linear(2, 2).to("xpu")
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    scaler = torch.amp.GradScaler("xpu")
    scaler.scale(model(xpu(1, 2)).sum())
    scaler.step(optimizer)


@mistake(RuntimeError, "size mismatch", "weight")
def state_of_another_model():
    nn.Linear(3, 2).to("xpu").load_state_dict(nn.Linear(4, 2).state_dict())


@mistake(RuntimeError, "Missing key", "bias")
def state_with_a_missing_name():
    nn.Linear(3, 2).to("xpu").load_state_dict({"weight": xpu(2, 3)})


@mistake(RuntimeError, "singular")
def inverse_of_a_singular_matrix():
    torch.linalg.inv(torch.zeros(3, 3, device="xpu"))


@mistake(RuntimeError, "positive-definite")
def cholesky_of_a_negative_matrix():
    torch.linalg.cholesky(-torch.eye(3, device="xpu"))


@mistake(RuntimeError, "ambiguous")
def truth_of_many():
    bool(xpu(3) > 0)


@mistake(torch.OutOfMemoryError, "memory")
def more_than_the_memory():
    torch.empty(1 << 50, device="xpu")


@mistake(RuntimeError, "pin")
def pinning_a_device_tensor():
    xpu(3).pin_memory()


@mistake(RuntimeError, "capture")
def waiting_in_a_capture():
    graph = torch.xpu.XPUGraph()
    x = xpu(3)
    with torch.xpu.graph(graph):
        (x + 1).cpu()


@mistake(RuntimeError, "replay")
def replay_of_nothing():
    torch.xpu.XPUGraph().replay()


@mistake(RuntimeError, "timing")
def time_without_timing():
    begin, end = torch.xpu.Event(), torch.xpu.Event()
    begin.record()
    end.record()
    end.synchronize()
    begin.elapsed_time(end)


@mistake(RuntimeError, "compiled", "size")
def wrong_shapes_in_compiled_code():
    def compiled_function(x, y):
        return x @ y

    torch.compile(compiled_function)(xpu(2, 3), xpu(2, 3))


@mistake(RuntimeError, "2")
def data_loader_whose_samples_differ():
    samples = [torch.ones(2), torch.ones(3)]
    for batch in torch.utils.data.DataLoader(samples, batch_size=2, pin_memory=True):
        batch.to("xpu")


@mistake(RuntimeError, "archive")
def checkpoint_that_is_none():
    with tempfile.NamedTemporaryFile() as file:
        file.write(b"PK\x03\x04" + b"x" * 100)
        file.flush()
        torch.load(file.name, map_location="xpu")


# JAX.


@mistake(TypeError, "incompatible shapes")
def jax_sum_of_wrong_shapes():
    jnp.ones((2, 3)) + jnp.ones((2, 4))


@mistake(TypeError, "contracting")
def jax_product_of_wrong_shapes():
    jnp.ones((2, 3)) @ jnp.ones((2, 3))


@mistake(jax.errors.TracerBoolConversionError, "traced array")
def jax_branch_on_a_value():
    jax.jit(lambda x: x if x > 0 else -x)(jnp.ones(()))


@mistake(TypeError, "scalar-output")
def jax_gradient_of_many_numbers():
    jax.grad(lambda x: x * 2)(jnp.ones(3))


@mistake(RuntimeError, "deleted")
def jax_use_of_a_donated_array():
    x = jnp.ones(8)
    jax.jit(lambda x: x + 1, donate_argnums=0)(x)
    x + 1


@mistake(jax.errors.JaxRuntimeError, "RESOURCE_EXHAUSTED")
def jax_more_than_the_memory():
    jnp.ones((1 << 46,), jnp.float32).block_until_ready()


@mistake(RuntimeError, "warp")
def jax_device_that_is_not_there():
    jax.devices("warp")


@mistake(jax.errors.JaxRuntimeError, "a mistake of mine")
def jax_callback_that_raises():
    def raises(x):
        raise ValueError("a mistake of mine")

    result = jax.jit(
        lambda x: jax.pure_callback(raises, jax.ShapeDtypeStruct((3,), np.float32), x)
    )(jnp.ones(3))
    result.block_until_ready()


@mistake(FloatingPointError, "nan")
def jax_that_is_no_number():
    with jax.debug_nans(True):
        jnp.log(-jnp.ones(3)).block_until_ready()


@mistake(TypeError, "jit")
def pytorch_inside_of_jit():
    from xpu_sdk.interop import jax_function

    jax.jit(jax_function(torch.sin))(jnp.ones(3))


# Kernels of one's own.


@mistake(xr.CompileError, "nonsense")
def kernel_that_is_no_code():
    xr.compile("#include <xpu/core.h>\nXPU_KERNEL(1) k() { nonsense; }\n").kernel("k")


@mistake(xr.UsageError, "other")
def kernel_that_is_not_there():
    xr.compile("#include <xpu/core.h>\nXPU_KERNEL(1) k() {}\n").kernel("other")


@mistake(xr.UsageError, "argument")
def kernel_with_too_few_arguments():
    source = "#include <xpu/core.h>\nXPU_KERNEL(1) k(xpu::global<float> x) { x[0] = 1; }\n"
    xr.launch(xr.compile(source).kernel("k"), 64, 64, [])


@mistake(xr.UsageError, "100", "64")
def kernel_with_a_group_that_does_not_divide():
    source = "#include <xpu/core.h>\nXPU_KERNEL(1) k(xpu::global<float> x) { x[0] = 1; }\n"
    xr.launch(xr.compile(source).kernel("k"), 100, 64, [xr.zeros(1)])


def check(error, says, function):
    """Return what is wrong with the exception of a mistake."""
    output = io.StringIO()
    try:
        with contextlib.redirect_stdout(output):
            function()
            torch.xpu.synchronize()
    except Exception as found:  # noqa: BLE001 - what it is, is the question
        text = str(found)
        print(f"{function.__name__}: {type(found).__name__}: {text.strip().splitlines()[0][:110]}")
        if not isinstance(found, error):
            return f"{type(found).__name__} instead of {error.__name__}: {text}"
        missing = [word for word in says if word.lower() not in text.lower()]
        return f"does not say {missing}: {text}" if missing else None
    return "no exception"


def works():
    """Both frameworks compute after a mistake."""
    torch.xpu.synchronize()
    assert torch.arange(5, device="xpu").sum().item() == 10
    assert int(jnp.arange(5).sum()) == 10


def main():
    wrong = {}
    for error, says, function in MISTAKES:
        if problem := check(error, says, function):
            wrong[function.__name__] = problem
        works()
    for name, problem in wrong.items():
        print(f"WRONG {name}: {problem}", flush=True)
    assert not wrong, list(wrong)


if __name__ == "__main__":
    main()
