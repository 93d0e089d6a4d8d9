"""Print a line for each way to distribute a quantized weight: whether it is refused by name."""

import warnings
from functools import partial

import torch
import torch.distributed as dist
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard
from torch.distributed.tensor import DTensor, Replicate, Shard, distribute_tensor
from torchao.quantization import (
    Float8WeightOnlyConfig,
    Int4WeightOnlyConfig,
    Int8DynamicActivationInt8WeightConfig,
    Int8WeightOnlyConfig,
    IntxWeightOnlyConfig,
    PerGroup,
    quantize_,
)

warnings.simplefilter("ignore")
dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
mesh = init_device_mesh("xpu", (1,))
configs = [
    Int4WeightOnlyConfig(group_size=64, int4_packing_format=name)
    for name in ("plain", "plain_int32", "preshuffled", "tile_packed_to_4d")
]
configs += [Int8WeightOnlyConfig(), Int8DynamicActivationInt8WeightConfig()]
configs += [Float8WeightOnlyConfig(), IntxWeightOnlyConfig(torch.int4, PerGroup(64))]
configs += [IntxWeightOnlyConfig(torch.int8, PerGroup(64))]


def layer(config):
    torch.manual_seed(0)
    result = torch.nn.Linear(256, 128, False, "xpu", torch.bfloat16).requires_grad_(False)
    quantize_(result, config)
    return result


def refused(name, call):
    try:
        call()
    except NotImplementedError as error:
        print(name in str(error) and "do not distribute it" in str(error))
    else:
        print("no error")


for config in configs:
    name = type(layer(config).weight).__name__
    for placement in (Shard(0), Shard(1), Replicate()):
        refused(name, partial(distribute_tensor, layer(config).weight, mesh, [placement]))
    refused(name, partial(fully_shard, torch.nn.Sequential(layer(config)), mesh=mesh))
    if name != "Float8Tensor":
        refused(name, partial(DTensor.from_local, layer(config).weight, mesh, [Shard(0)]))

linear = layer(Float8WeightOnlyConfig())
x = torch.randn(4, 256, device="xpu", dtype=torch.bfloat16)
expected = linear(x)
linear.weight = torch.nn.Parameter(DTensor.from_local(linear.weight, mesh, [Shard(0)]), False)
got = linear(DTensor.from_local(x, mesh, [Replicate()])).full_tensor()
torch.testing.assert_close(got, expected, atol=0.02, rtol=0.02)
dist.destroy_process_group()
