"""Saved models: state dicts that cross devices, safetensors, and a model of transformers."""

import pytest
import torch
from torchao.quantization import (
    Float8DynamicActivationFloat8WeightConfig,
    Float8WeightOnlyConfig,
    Int4WeightOnlyConfig,
    Int8DynamicActivationInt8WeightConfig,
    Int8WeightOnlyConfig,
    IntxWeightOnlyConfig,
    PerGroup,
    PerRow,
    quantize_,
)

CONFIGS = {
    "plain": Int4WeightOnlyConfig(group_size=64),
    "plain_int32": Int4WeightOnlyConfig(group_size=64, int4_packing_format="plain_int32"),
    "tile_packed": Int4WeightOnlyConfig(group_size=64, int4_packing_format="tile_packed_to_4d"),
    "int8": Int8WeightOnlyConfig(),
    "int8 dynamic": Int8DynamicActivationInt8WeightConfig(),
    "float8": Float8WeightOnlyConfig(),
    "float8 rows": Float8DynamicActivationFloat8WeightConfig(granularity=PerRow()),
    "intx": IntxWeightOnlyConfig(torch.int4, PerGroup(32)),
}


def make_model(device="xpu"):
    torch.manual_seed(0)
    parts = torch.nn.Linear(256, 128), torch.nn.GELU(), torch.nn.Linear(128, 256)
    return torch.nn.Sequential(*parts).to(device, torch.bfloat16).requires_grad_(False)


def loaded(state, device):
    """Return a model whose weights are those of a state dict, on the device of the dict."""
    model = make_model(device)
    model.load_state_dict(state, assign=True)
    return model


@pytest.mark.values
@pytest.mark.parametrize("name", CONFIGS)
def test_state_dicts_cross_devices(name, tmp_path):
    """Weights are saved on xpu, loaded and saved on the CPU, and come back by a file and by `to`."""
    model = make_model()
    quantize_(model, CONFIGS[name])
    x = torch.randn(5, 256, device="xpu", dtype=torch.bfloat16)
    expected = model(x)
    torch.save(model.state_dict(), tmp_path / "xpu.pt")
    on_cpu = loaded(torch.load(tmp_path / "xpu.pt", "cpu", weights_only=True), "cpu")
    assert {tensor.device.type for tensor in on_cpu.state_dict().values()} == {"cpu"}
    torch.save(on_cpu.state_dict(), tmp_path / "cpu.pt")
    for model in (
        loaded(torch.load(tmp_path / "cpu.pt", "xpu:0", weights_only=True), "xpu"),
        on_cpu.to("xpu"),
    ):
        assert type(model[0].weight) is type(on_cpu[0].weight)
        assert torch.equal(model(x), expected)


@pytest.mark.values
@pytest.mark.parametrize("name", CONFIGS)
def test_safetensors(name, tmp_path):
    files = pytest.importorskip("safetensors.torch")
    from safetensors import safe_open
    from torchao.prototype.safetensors import safetensors_support as support

    from ao_xpu.checkpoints import load_checkpoint

    model = make_model()
    quantize_(model, CONFIGS[name])
    x = torch.randn(5, 256, device="xpu", dtype=torch.bfloat16)
    path = tmp_path / "model.safetensors"
    tensors, metadata = support.flatten_tensor_state_dict(model.state_dict())
    files.save_file(tensors, path, metadata)
    with safe_open(path, framework="pt", device="xpu") as file:
        tensors = {key: file.get_tensor(key) for key in file.keys()}  # noqa: SIM118
        state, left = support.unflatten_tensor_state_dict(tensors, file.metadata())
    assert not left
    assert torch.equal(loaded(state, "xpu")(x), model(x))
    other = make_model()
    assert load_checkpoint(other, path) == ["0", "2"]
    assert torch.equal(other(x), model(x))


@pytest.mark.values
@pytest.mark.parametrize("name", CONFIGS)
def test_transformers(name, tmp_path):
    transformers = pytest.importorskip("transformers")
    pytest.importorskip("accelerate")
    config = transformers.LlamaConfig(
        vocab_size=64,
        hidden_size=128,
        intermediate_size=256,
        num_hidden_layers=1,
        num_attention_heads=4,
        num_key_value_heads=2,
        max_position_embeddings=64,
    )
    auto = transformers.AutoModelForCausalLM
    auto.from_config(config).to(torch.bfloat16).save_pretrained(tmp_path / "base")
    options = {"device_map": "xpu", "dtype": torch.bfloat16}
    quantization = transformers.TorchAoConfig(CONFIGS[name])
    model = auto.from_pretrained(tmp_path / "base", quantization_config=quantization, **options)
    model.save_pretrained(tmp_path / "quantized")
    again = auto.from_pretrained(tmp_path / "quantized", **options)
    weights = [m.model.layers[0].mlp.up_proj.weight for m in (model, again)]
    assert type(weights[0]) is type(weights[1]) is not torch.nn.Parameter
    tokens = torch.arange(12, device="xpu")[None]
    with torch.no_grad():
        assert torch.equal(model(tokens).logits, again(tokens).logits)
