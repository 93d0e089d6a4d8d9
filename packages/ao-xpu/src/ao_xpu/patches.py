"""What is changed in torchao: one table of targets, reasons and replacements.

A replacement is made when the module that has the target is imported. Each is a function of the stock object
and behaves like it for tensors of other devices.
"""

from __future__ import annotations

from types import ModuleType

import torch
import torch.nn.functional as F
from torch_xpu.pattern_devices import reject_on_xpu

from . import distributed, float8, int8, pt2e
from .block_formats import block_scales, mx, nvfp4
from .diagnostics import skipped_layers
from .gptq import config as gptq_config
from .gptq import weights as gptq_weights
from .int4 import config as int4_config
from .int4 import plain, plain_int32, plain_int32_views, preshuffled, tile_packed
from .intx import configs as intx_configs
from .intx import safetensors, uintx, unpacked_tensor
from .patch_kinds import ConfigHandler, Patch, TensorFunctions
from .sparsity import block_sparse, semi_sparse
from .training import int8_mixed_precision, mx_casts, optimizers, qat

_aten = torch.ops.aten
_LINEAR = (F.linear, _aten.linear.default)

_WORKFLOWS = "torchao.quantization.quantize_.workflows"
_INT4 = f"{_WORKFLOWS}.int4.int4_tensor"
_PLAIN_INT32 = f"{_WORKFLOWS}.int4.int4_plain_int32_tensor"
_PRESHUFFLED = f"{_WORKFLOWS}.int4.int4_preshuffled_tensor"
_TILE_PACKED = f"{_WORKFLOWS}.int4.int4_tile_packed_to_4d_tensor"
_INT8 = f"{_WORKFLOWS}.int8.int8_tensor"
_INTX = f"{_WORKFLOWS}.intx.intx_unpacked_to_int8_tensor"
_UINTX = "torchao.prototype.quantization.uintx.uintx_bit_packed_tensor"
_FLOAT8 = f"{_WORKFLOWS}.float8.float8_tensor"
_MX_FORMATS = "torchao.prototype.mx_formats"
_MX = f"{_MX_FORMATS}.mx_tensor"
_NVFP4 = f"{_MX_FORMATS}.nvfp4_tensor"
_MX_CONFIGS = f"{_MX_FORMATS}.inference_workflow"
_BLOCK_SPARSE = "torchao.sparsity.blocksparse"
_BLOCKWISE = "torchao.kernel.blockwise_quantization"
_MIXED_PRECISION = "torchao.prototype.quantized_training.int8_mixed_precision"
_INT8_MM = "torchao.prototype.quantized_training.int8_mm"
_SAFETENSORS = "torchao.prototype.safetensors.safetensors_utils"
_QUANT_API = "torchao.quantization.quant_api"

_NEEDS_MSLK = "needs mslk, whose kernels are CUDA's"
_TRITON_OF_CUDA = "has a kernel of Triton for CUDA alone"
_EXPANDS = "expands the weight at each call"
_COPIES = "copies all numbers to f32, several times"
_QUANTIZES = "quantizes activations in many steps, or expands the weight at each call"
_SWIZZLES = "stores scales in an order that xpu does not read"
_NO_VIEWS = "the class has no views"
_HOST_PRODUCT = "formats its input, multiplies odd sizes on the host and hides errors"
_NO_METHOD = "the class has no such method"
_BYTE_PER_NUMBER = "stores a number of any bits as a byte"
_UNKNOWN_CLASS = "does not know the class of packed weights"

# The modules of the tensor classes.
_CLASSES = {
    "Int4Tensor": _INT4,
    "Int4PlainInt32Tensor": _PLAIN_INT32,
    "Int4PreshuffledTensor": _PRESHUFFLED,
    "Int4TilePackedTo4dTensor": _TILE_PACKED,
    "Int8Tensor": _INT8,
    "IntxUnpackedToInt8Tensor": _INTX,
    "Float8Tensor": _FLOAT8,
}

PATCHES: tuple[Patch, ...] = (
    # int4
    Patch(_INT4, "Int4Tensor.from_hp", _NEEDS_MSLK, plain.from_hp),
    Patch(_INT4, "Int4Tensor.dequantize", _NO_METHOD, plain.dequantize),
    TensorFunctions(_INT4, "Int4Tensor", _NEEDS_MSLK, plain.linear, _LINEAR),
    TensorFunctions(_INT4, "Int4Tensor", _NEEDS_MSLK, plain.bmm, (torch.bmm,)),
    Patch(_PRESHUFFLED, "Int4PreshuffledTensor.from_hp", _NEEDS_MSLK, preshuffled.from_hp),
    TensorFunctions(
        _PRESHUFFLED, "Int4PreshuffledTensor", _NEEDS_MSLK, preshuffled.linear, _LINEAR
    ),
    TensorFunctions(
        _PRESHUFFLED, "Int4PreshuffledTensor", _NEEDS_MSLK, preshuffled.bmm, (torch.bmm,)
    ),
    Patch(
        _PRESHUFFLED,
        "Int4PreshuffledTensor.from_int4_tensor",
        _NEEDS_MSLK,
        preshuffled.from_int4_tensor,
    ),
    Patch(
        _TILE_PACKED,
        "Int4TilePackedTo4dTensor.from_hp",
        "asks for a compute capability of CUDA, and packs the halves of a byte in CUDA's order",
        tile_packed.from_hp,
    ),
    Patch(_TILE_PACKED, "Int4TilePackedTo4dTensor.dequantize", _NO_METHOD, tile_packed.dequantize),
    TensorFunctions(
        _TILE_PACKED,
        "Int4TilePackedTo4dTensor",
        "pads activations, and has no gradient",
        tile_packed.linear,
        _LINEAR,
    ),
    TensorFunctions(
        _TILE_PACKED,
        "Int4TilePackedTo4dTensor",
        "wants the tiles of CUDA's layout",
        tile_packed.slice_,
        (_aten.slice.Tensor,),
    ),
    Patch(_PLAIN_INT32, "Int4PlainInt32Tensor.from_hp", _COPIES, plain_int32.from_hp),
    Patch(_PLAIN_INT32, "Int4PlainInt32Tensor.dequantize", _NO_METHOD, plain_int32.dequantize),
    *(
        TensorFunctions(_PLAIN_INT32, "Int4PlainInt32Tensor", reason, replace, functions)
        for reason, replace, functions in (
            ("takes no float zero points, no CPU, no gradient", plain_int32.linear, _LINEAR),
            (_NO_VIEWS, plain_int32.mm, (_aten.mm.default, torch.matmul, torch.mm)),
            (_NO_VIEWS, plain_int32.addmm, (_aten.addmm.default, torch.addmm)),
            (_NO_VIEWS, plain_int32_views.slice_, (_aten.slice.Tensor,)),
            (_NO_VIEWS, plain_int32_views.split, (_aten.split.Tensor,)),
            (_NO_VIEWS, plain_int32_views.split_with_sizes, (_aten.split_with_sizes.default,)),
            (_NO_VIEWS, plain_int32_views.transpose, (_aten.t.default, _aten.transpose.int)),
            (_NO_VIEWS, plain_int32_views.select, (_aten.select.int,)),
            (_NO_VIEWS, plain_int32_views.cat, (_aten.cat.default,)),
        )
    ),
    Patch(
        _QUANT_API,
        "_int4_weight_only_quantize_tensor",
        "allows HQQ with tile_packed_to_4d alone",
        int4_config.int4_weight,
    ),
    # int8
    Patch("torchao.kernel.intmm", "safe_int_mm", _HOST_PRODUCT, int8.safe_int_mm),
    Patch("torchao.kernel", "safe_int_mm", _HOST_PRODUCT, int8.safe_int_mm),
    Patch("torchao.quantization", "safe_int_mm", _HOST_PRODUCT, int8.safe_int_mm),
    Patch(_INT8, "Int8Tensor.from_hp", _COPIES, int8.from_hp),
    TensorFunctions(_INT8, "Int8Tensor", _EXPANDS, int8.linear, _LINEAR),
    TensorFunctions(_INTX, "IntxUnpackedToInt8Tensor", _EXPANDS, unpacked_tensor.linear, _LINEAR),
    # weights of one to seven bits
    Patch(
        _QUANT_API, "_intx_weight_only_quantize_tensor", _BYTE_PER_NUMBER, intx_configs.weight_only
    ),
    Patch(
        _QUANT_API,
        "_int8_dynamic_activation_intx_weight_quantize_tensor",
        _BYTE_PER_NUMBER,
        intx_configs.dynamic_activation,
    ),
    Patch(
        _UINTX,
        "UIntxBitPackedTensor.from_hp",
        "needs gemlite, whose kernels are CUDA's",
        uintx.from_hp,
    ),
    Patch(
        _SAFETENSORS,
        "ALLOWED_CLASSES",
        _UNKNOWN_CLASS,
        safetensors.classes,
    ),
    Patch(_SAFETENSORS, "ALLOWED_TENSORS_SUBCLASSES", _UNKNOWN_CLASS, safetensors.names),
    # int8 in training
    TensorFunctions(
        _MIXED_PRECISION,
        "Int8MixedPrecisionTrainingLinearWeight",
        "registers its handler as an aten operator's, where it is never called",
        int8_mixed_precision.linear,
        (F.linear,),
    ),
    Patch(_INT8_MM, "scaled_int8_mm", _TRITON_OF_CUDA, int8_mixed_precision.scaled_product),
    # float8
    Patch(_FLOAT8, "Float8Tensor.from_hp", _COPIES, float8.from_hp),
    TensorFunctions(_FLOAT8, "Float8Tensor", _EXPANDS, float8.linear, _LINEAR),
    TensorFunctions(_FLOAT8, "Float8Tensor", _NEEDS_MSLK, float8.bmm, (torch.bmm,)),
    Patch(_FLOAT8, "blockwise_fp8_gemm", "needs Triton", float8.blockwise_product),
    Patch(_BLOCKWISE, "blockwise_fp8_gemm", "needs Triton", float8.blockwise_product),
    # blocks of MX and NVFP4
    *(
        TensorFunctions(module, name, _QUANTIZES, replace, functions)
        for module, name, kind in ((_MX, "MXTensor", mx), (_NVFP4, "NVFP4Tensor", nvfp4))
        for replace, functions in (
            (kind.linear, (_aten.linear.default,)),
            (kind.mm, (_aten.mm.default, _aten.matmul.default, _aten.addmm.default)),
        )
    ),
    *(
        Patch(
            module,
            f"{name}.__torch_function__",
            "leaves linear to autograd, which expands the weight for activations of other strides",
            block_scales.torch_function,
        )
        for module, name in ((_MX, "MXTensor"), (_NVFP4, "NVFP4Tensor"))
    ),
    ConfigHandler(
        _MX_CONFIGS, "MXDynamicActivationMXWeightConfig", _SWIZZLES, block_scales.quantize
    ),
    ConfigHandler(_MX_CONFIGS, "NVFP4WeightOnlyConfig", _SWIZZLES, block_scales.quantize),
    ConfigHandler(
        _MX_CONFIGS,
        "NVFP4DynamicActivationNVFP4WeightConfig",
        "asserts a compute capability of CUDA",
        nvfp4.transform,
    ),
    # sparsity
    Patch(_BLOCK_SPARSE, "blocksparse_addmm", "needs Triton", block_sparse.block_product),
    TensorFunctions(
        _BLOCK_SPARSE,
        "BlockSparseTensor",
        "returns rows for activations of several dimensions",
        block_sparse.block_linear,
        (F.linear,),
    ),
    TensorFunctions(
        _BLOCK_SPARSE,
        "BlockSparseTensor",
        "the class has no copies",
        block_sparse.copy_blocks,
        (_aten.clone.default, _aten._to_copy.default),
    ),
    ConfigHandler(
        "torchao.sparsity.sparse_api",
        "SemiSparseWeightConfig",
        "PyTorch's format of two of four numbers is CUDA's",
        semi_sparse.two_of_four,
    ),
    # training and calibration
    ConfigHandler(
        "torchao.quantization.qat.api",
        "QATConfig",
        "infers nothing from two int4 packing formats and from int8",
        qat.prepare,
    ),
    Patch(
        "torchao.quantization.qat.fake_quantizer",
        "FakeQuantizerBase.from_config",
        "knows no weights that are simulated by quantizing them",
        qat.from_config,
    ),
    Patch(
        "torchao.quantization.qat.fake_quantizer",
        "IntxFakeQuantizer._per_token_forward",
        "simulates no symmetric activations",
        qat.symmetric_per_token,
    ),
    Patch(
        "torchao.prototype.gptq.api",
        "GPTQConfig.__post_init__",
        _NEEDS_MSLK,
        gptq_config.check_config,
    ),
    ConfigHandler(
        "torchao.prototype.gptq.api",
        "GPTQConfig",
        "other devices need mslk, which __post_init__ no longer says",
        gptq_config.transform,
    ),
    Patch("torchao.prototype.gptq.api", "gptq_quantize", "asserts CUDA", gptq_weights.quantize),
    Patch("torchao.prototype.gptq", "gptq_quantize", "asserts CUDA", gptq_weights.quantize),
    *(
        Patch(f"{_MX_FORMATS}.{module}", "triton_to_mxfp8_dim0", "needs Triton", mx_casts.cast_rows)
        for module in ("kernels", "mx_tensor")
    ),
    Patch(
        f"{_MX_FORMATS}.kernels",
        "mxfp8_quantize_cuda",
        "needs CUDA's kernel",
        mx_casts.cast_columns,
    ),
    Patch(
        "torchao.optim.adam",
        "_AdamBase.step",
        "compiles a step for each parameter",
        optimizers.step,
    ),
    # int8 by PT2E
    Patch(
        "torchao.quantization.pt2e.inductor_passes.x86",
        "register_freezing_graph_pattern",
        "calls operators of the CPU for weights of fp16 and for bags of embeddings",
        reject_on_xpu,
    ),
    Patch(
        "torchao.quantization.pt2e.lowering",
        "lower_pt2e_quantized_to_x86",
        "gives a graph that adds products to its inputs in place",
        pt2e.lower,
    ),
    # distribution
    *(
        TensorFunctions(
            _CLASSES[name], name, "names only an operator of aten", distributed.reject, functions
        )
        for name, functions in distributed.MISSING.items()
    ),
    TensorFunctions(
        _INT4,
        "Int4Tensor",
        "fails by an unbound variable",
        distributed.reject_same_view,
        (_aten.view.default,),
    ),
    # all
    Patch(
        _QUANT_API,
        "_replace_with_custom_fn_if_matches_filter",
        "leaves out in silence the layers that a config does not take",
        skipped_layers.name_skipped,
    ),
)


def modules() -> tuple[str, ...]:
    """Return the modules whose import makes replacements."""
    return tuple(dict.fromkeys(patch.module for patch in PATCHES))


def apply_to(module: ModuleType) -> None:
    """Make the replacements in a module that was just imported."""
    for patch in PATCHES:
        if patch.module == module.__name__:
            patch.apply(module)
