"""Layers of other systems' int4 files: exact elements, products, and errors that name what is wrong."""

import checkpoint_files as files
import pytest
import torch
from torchao.quantization import Int4PlainInt32Tensor, Int4Tensor

from ao_xpu.checkpoints import (
    OrderedLinear,
    from_awq,
    from_compressed_tensors,
    from_gptq,
    from_tile_packed,
    input_order,
)

SHAPES = [(64, 128, 32), (40, 64, 64), (8, 1024, 128)]
FLOATS = [torch.float16, torch.bfloat16, torch.float32]


def on_xpu(parts):
    return {name: part.to("xpu") for name, part in parts.items()}


def assert_exact(weight, expected, dtype):
    assert weight.shape == expected.shape
    assert (weight.dtype, weight.device.type) == (dtype, "xpu")
    # In f32 elements of 16-bit scales are exact, and those of f32 scales are rounded once.
    assert torch.equal(weight.dequantize(torch.float32).cpu(), expected.float())


def assert_product(weight, expected, dtype=torch.bfloat16):
    torch.manual_seed(0)
    x = torch.randn(5, expected.shape[1]).to(dtype)
    got = torch.nn.functional.linear(x.to("xpu"), weight)
    assert got.dtype == dtype
    torch.testing.assert_close(got.cpu().double(), x.double() @ expected.t(), atol=0.02, rtol=0.02)


@pytest.mark.values
@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("dtype", FLOATS, ids=str)
@pytest.mark.parametrize("version", [1, 2])
def test_gptq(shape, dtype, version):
    layer = files.random_layer(*shape, dtype)
    format = "gptq" if version == 1 else "gptq_v2"
    weight = from_gptq(**on_xpu(files.gptq(*layer, version)), checkpoint_format=format)
    assert type(weight) is Int4PlainInt32Tensor
    assert_exact(weight, files.elements(*layer), dtype)
    assert_product(weight, files.elements(*layer))


@pytest.mark.values
@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_awq(shape, dtype):
    layer = files.random_layer(*shape, dtype)
    weight = from_awq(**on_xpu(files.awq(*layer)))
    assert type(weight) is Int4PlainInt32Tensor
    assert_exact(weight, files.elements(*layer), dtype)
    assert_product(weight, files.elements(*layer), torch.float16)


@pytest.mark.values
@pytest.mark.parametrize("shape", [*SHAPES, (13, 64, 32)], ids=str)
@pytest.mark.parametrize("dtype", FLOATS, ids=str)
@pytest.mark.parametrize("is_symmetric", [True, False])
def test_compressed_tensors(shape, dtype, is_symmetric):
    numbers, zero_points, scales = files.random_layer(*shape, dtype)
    if is_symmetric:
        zero_points.fill_(8)
    parts = files.compressed_tensors(numbers, zero_points, scales)
    if is_symmetric:
        del parts["weight_zero_point"]
    weight = from_compressed_tensors(**on_xpu(parts))
    assert_exact(weight, files.elements(numbers, zero_points, scales), dtype)
    assert_product(weight, files.elements(numbers, zero_points, scales))


@pytest.mark.values
def test_compressed_tensors_with_a_scale_of_all_and_unpacked_zero_points():
    numbers, zero_points, scales = files.random_layer(16, 64, 64)
    scales[:], zero_points[:] = scales[0, 0].item(), 3
    parts = files.compressed_tensors(numbers, zero_points, scales)
    parts["weight_scale"] = scales[0, 0].reshape(1)
    parts["weight_zero_point"] = torch.full((16, 1), 3 - 8, dtype=torch.int8)
    weight = from_compressed_tensors(**on_xpu(parts))
    assert_exact(weight, files.elements(numbers, zero_points, scales), torch.float16)


@pytest.mark.values
@pytest.mark.parametrize("tiles", [2, 4, 8])
@pytest.mark.parametrize("group", [32, 128])
def test_tiles_of_cuda(tiles, group):
    numbers, _, scales = files.random_layer(24, 256, group, torch.bfloat16)
    zeros = (torch.randn(scales.shape) * 0.05).to(torch.bfloat16)
    parameters = torch.stack((scales.t(), zeros.t()), -1)
    weight = from_tile_packed(
        files.cuda_tiles(numbers, tiles).to("xpu"), parameters.to("xpu"), (21, 128)
    )
    groups = torch.arange(256) // group
    expected = scales.double()[:, groups] * (numbers - 8) + zeros.double()[:, groups]
    expected = expected[:21, :128]
    assert type(weight) is Int4Tensor
    assert (weight.shape, weight.dtype) == (expected.shape, torch.bfloat16)
    # The parameters and numbers are exact; their sum is rounded to f32.
    got = weight.dequantize(torch.float32).cpu().double()
    torch.testing.assert_close(got, expected, atol=1e-8, rtol=1e-6)
    assert_product(weight, expected)


@pytest.mark.values
@pytest.mark.parametrize("format", ["gptq", "compressed"])
def test_columns_in_the_order_of_activations(format):
    rows, columns, group = 32, 256, 64
    numbers, zero_points, scales = files.random_layer(rows, columns, group)
    group_of_column = (torch.arange(columns) // group)[torch.randperm(columns)]
    order = input_order(group_of_column.to(torch.int32), columns, columns // group)
    expected = files.elements(numbers, zero_points, scales, group_of_column)
    if format == "gptq":
        parts = files.gptq(numbers, zero_points, scales)
        parts["g_idx"] = group_of_column.to(torch.int32)
        with pytest.raises(ValueError, match=r"order of activations \(desc_act\)"):
            from_gptq(**parts)
        weight = from_gptq(**on_xpu(parts), order=order)
    else:
        parts = files.compressed_tensors(numbers, zero_points, scales)
        weight = from_compressed_tensors(**on_xpu(parts), order=order)
    assert_exact(weight, expected[:, order], torch.float16)
    layer = torch.nn.Linear(columns, rows, device="xpu", dtype=torch.float16)
    layer.weight = torch.nn.Parameter(weight, requires_grad=False)
    OrderedLinear.convert(layer, order.to("xpu"))
    x = torch.randn(3, columns, dtype=torch.float16)
    got = layer(x.to("xpu")).cpu().double()
    bias = layer.bias.detach().cpu().double()
    torch.testing.assert_close(got, x.double() @ expected.t() + bias, atol=0.02, rtol=0.02)


def test_sorted_columns_have_no_order():
    assert input_order(torch.arange(64) // 32, 64, 2) is None


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"qzeros": (2, 8)}, "qzeros has numbers of 8 bits"),
        ({"qzeros": (2, 3)}, "qzeros has numbers of 3 bits"),
        ({"qzeros": (1, 4)}, r"qzeros: got shape \(1, 4\), expected \(2, 4\)"),
        ({"qweight": (8, 31)}, "is the tensor cut or transposed"),
        ({"qweight": (9, 32)}, "72 columns are no 2 groups of one even size|g_idx: got shape"),
        ({"scales": (2, 31)}, "multiple of 8 columns"),
        ({"g_idx": (63,)}, r"g_idx: got shape \(63,\), expected \(64,\)"),
    ],
    ids=str,
)
def test_gptq_of_other_shapes(change, message):
    parts = files.gptq(*files.random_layer(32, 64, 32))
    for name, shape in change.items():
        parts[name] = torch.zeros(shape, dtype=parts[name].dtype)
    with pytest.raises(ValueError, match=message):
        from_gptq(**parts)


def test_what_other_formats_reject():
    parts = files.gptq(*files.random_layer(32, 64, 32))
    with pytest.raises(ValueError, match="checkpoint_format: got 'marlin', expected gptq, gptq_v2"):
        from_gptq(**parts, checkpoint_format="marlin")
    with pytest.raises(ValueError, match="groups of 32"):
        input_order(torch.zeros(64, dtype=torch.int32), 64, 2)
    with pytest.raises(ValueError, match="expected a matrix of int32"):
        from_gptq(parts["qweight"].long(), parts["qzeros"], parts["scales"])
    with pytest.raises(ValueError, match="expected a matrix of floats"):
        from_gptq(parts["qweight"], parts["qzeros"], parts["scales"].int())
    packed = files.compressed_tensors(*files.random_layer(16, 64, 32))
    with pytest.raises(ValueError, match="weight_packed has numbers of 8 bits"):
        from_compressed_tensors(**packed | {"weight_packed": torch.zeros(16, 16).int()})
    with pytest.raises(ValueError, match="weight_scale: got shape"):
        from_compressed_tensors(**packed | {"weight_scale": torch.zeros(15, 2)})
    with pytest.raises(ValueError, match="weight_zero_point: got shape"):
        from_compressed_tensors(**packed | {"weight_zero_point": torch.zeros(3, 2).int()})
    with pytest.raises(ValueError, match="rows of whole words of 8"):
        from_compressed_tensors(**packed | {"weight_shape": torch.tensor([16, 60])})
    # AutoAWQ's version `gemv` has rows of N, and pads the groups to 8.
    with pytest.raises(ValueError, match="qweight: got shape"):
        from_awq(torch.zeros(64, 8).int(), torch.zeros(64, 1).int(), torch.ones(64, 8))


def test_tiles_of_other_shapes():
    qdata, parameters = torch.zeros(2, 1, 32, 4).int(), torch.ones(4, 16, 2)
    with pytest.raises(ValueError, match="expected tiles of int32"):
        from_tile_packed(qdata[..., :3], parameters)
    with pytest.raises(ValueError, match=r"expected \(groups, 16, 2\)"):
        from_tile_packed(qdata, parameters[:, :8])
    with pytest.raises(ValueError, match="in groups of 32"):
        from_tile_packed(qdata, parameters, (17, 128))
    with pytest.raises(ValueError, match="in groups of 32"):
        from_tile_packed(qdata, parameters, (16, 100))
