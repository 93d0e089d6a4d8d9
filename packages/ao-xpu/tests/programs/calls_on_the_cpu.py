"""Print a line for each call on the CPU; with the argument `stock`, without our patches of torchao."""
# ruff: noqa: E402 -- torchao is patched, or not, as it is imported

import hashlib
import logging
import sys
import warnings

import torch
from torch_xpu import import_hooks

# The stock run differs in the hook alone, so that both see a device.
if sys.argv[1] == "stock":
    import_hooks._finder.changes.pop("torchao")
logging.disable()
warnings.simplefilter("ignore")

import torchao
import torchao.kernel
from torchao.kernel import blockwise_quantization, intmm
from torchao.prototype.quantization import UIntxWeightOnlyConfig
from torchao.prototype.quantized_training import int8_mixed_precision
from torchao.quantization import (
    Float8DynamicActivationFloat8WeightConfig,
    Float8WeightOnlyConfig,
    Int4PlainInt32Tensor,
    Int4PreshuffledTensor,
    Int4Tensor,
    Int4TilePackedTo4dTensor,
    Int4WeightOnlyConfig,
    Int8DynamicActivationInt8WeightConfig,
    Int8DynamicActivationIntxWeightConfig,
    Int8WeightOnlyConfig,
    IntxWeightOnlyConfig,
    PerGroup,
    quantize_,
)
from torchao.quantization.granularity import PerBlock
from torchao.quantization.qat import IntxFakeQuantizeConfig, QATConfig
from torchao.quantization.qat.fake_quantizer import IntxFakeQuantizer
from torchao.quantization.quant_api import _int4_weight_only_quantize_tensor
from torchao.quantization.quantize_.common import KernelPreference
from torchao.quantization.quantize_.workflows.float8 import float8_tensor

torch.manual_seed(0)
x = torch.randn(8, 256).bfloat16()
w = torch.randn(128, 256).bfloat16()
int8 = torch.randint(-128, 128, (24, 32), dtype=torch.int8)
e4m3 = [t.to(torch.float8_e4m3fn) for t in (x, w)]


def model():
    torch.manual_seed(0)
    return torch.nn.Sequential(torch.nn.Linear(256, 128)).bfloat16()


def quantized(config, columns=256):
    layers = torch.nn.Sequential(torch.nn.Linear(columns, 128)).bfloat16()
    layers.load_state_dict({k: v[..., :columns] for k, v in model().state_dict().items()})
    quantize_(layers, config)
    return layers(x[:, :columns])


def trained(config):
    layers = model()
    quantize_(layers, config)
    layers(x).square().sum().backward()
    return layers[0].weight.grad


def trained_in_mxfp8(**options):
    # Its module does not suit every Triton.
    from torchao.prototype.moe_training.config import MXFP8TrainingOpConfig

    return trained(MXFP8TrainingOpConfig(**options))


def plain_int32():
    data = torch.randint(-(2**31), 2**31 - 1, (8, 4), dtype=torch.int32)
    zero_point = torch.zeros(1, 8, dtype=torch.int8)
    return Int4PlainInt32Tensor(data, x[:1, :8].clone(), zero_point, [1, 32], (8, 32))


blocks = [PerBlock([1, 128]), PerBlock([128, 128])]
scales = torch.rand(8, 2), torch.rand(1, 2)
CALLS = {
    "Int4Tensor.from_hp": lambda: Int4Tensor.from_hp(w, [1, 64]),
    "Int4PreshuffledTensor.from_hp": lambda: Int4PreshuffledTensor.from_hp(w, [1, 64]),
    "Int4TilePackedTo4dTensor.from_hp": lambda: Int4TilePackedTo4dTensor.from_hp(w, [1, 64]),
    "Int4PlainInt32Tensor.from_hp": lambda: Int4PlainInt32Tensor.from_hp(w, [1, 64]),
    "int4 that does not fit": lambda: quantized(Int4WeightOnlyConfig(group_size=128), 192),
    "HQQ": lambda: _int4_weight_only_quantize_tensor(
        w,
        Int4WeightOnlyConfig(
            int4_packing_format="plain_int32", int4_choose_qparams_algorithm="hqq"
        ),
    ),
    "safe_int_mm": lambda: intmm.safe_int_mm(int8, int8.t()),
    "torchao.kernel.safe_int_mm": lambda: torchao.kernel.safe_int_mm(int8[:5], int8.t()[:, :7]),
    "torchao.quantization.safe_int_mm": lambda: torchao.quantization.safe_int_mm(int8, int8.t()),
    "Int8Tensor": lambda: quantized(Int8WeightOnlyConfig()),
    "Int8Tensor, groups": lambda: quantized(Int8WeightOnlyConfig(granularity=PerGroup(32))),
    "Int8Tensor, dynamic": lambda: quantized(Int8DynamicActivationInt8WeightConfig()),
    "IntxUnpackedToInt8Tensor": lambda: quantized(IntxWeightOnlyConfig(torch.int4, PerGroup(32))),
    "IntxUnpackedToInt8Tensor, dynamic": lambda: quantized(
        Int8DynamicActivationIntxWeightConfig(torch.int3)
    ),
    "uintx": lambda: quantized(UIntxWeightOnlyConfig(set_inductor_config=False)),
    "Float8Tensor": lambda: quantized(Float8WeightOnlyConfig()),
    "Float8Tensor, dynamic": lambda: quantized(Float8DynamicActivationFloat8WeightConfig()),
    "Float8Tensor, blocks": lambda: quantized(
        Float8DynamicActivationFloat8WeightConfig(granularity=blocks)
    ),
    "blockwise_fp8_gemm": lambda: blockwise_quantization.blockwise_fp8_gemm(*e4m3, *scales),
    "its copy": lambda: float8_tensor.blockwise_fp8_gemm(*e4m3, *scales),
    "mixed precision": lambda: trained(int8_mixed_precision.Int8MixedPrecisionTrainingConfig()),
    "mxfp8 training": trained_in_mxfp8,
    "mxfp8 training, emulated": lambda: trained_in_mxfp8(
        kernel_preference=KernelPreference.EMULATED
    ),
    "QAT of plain": lambda: trained(QATConfig(Int4WeightOnlyConfig(group_size=64))),
    "QAT of plain_int32": lambda: trained(
        QATConfig(Int4WeightOnlyConfig(int4_packing_format="plain_int32"))
    ),
    "QAT of int8": lambda: trained(QATConfig(Int8WeightOnlyConfig())),
    "QAT of intx": lambda: trained(QATConfig(IntxWeightOnlyConfig(torch.int4, PerGroup(32)))),
    "symmetric activations": lambda: IntxFakeQuantizer(
        IntxFakeQuantizeConfig(torch.int8, "per_token", is_symmetric=True)
    )(x),
    "asymmetric activations": lambda: IntxFakeQuantizer(
        IntxFakeQuantizeConfig(torch.int8, "per_token", is_symmetric=False)
    )(x),
    "scales of Int4PlainInt32Tensor": lambda: plain_int32().clone().scale,
}
for name, call in CALLS.items():
    try:
        result = call()
        numbers = result.detach().float().numpy().tobytes()
        print(name, hashlib.sha256(numbers).hexdigest())
    except Exception as error:  # noqa: BLE001 -- any error is compared
        print(name, type(error).__name__, str(error).splitlines()[0])
