"""Whole checkpoints: files, names, models on meta, and a model that is as it was after an error."""

import json

import checkpoint_files as files
import pytest
import torch
from checkpoint_model import PACKERS, Model, assert_computes, checkpoint
from torchao.quantization import Int4TilePackedTo4dTensor, Int4WeightOnlyConfig, quantize_

from ao_xpu.checkpoints import OrderedLinear, load_checkpoint

# What is read decides how it is loaded.
pytestmark = pytest.mark.values


def assert_unchanged(model, before):
    after = model.state_dict()
    assert after.keys() == before.keys()
    assert all(torch.equal(after[key], before[key]) for key in before)


@pytest.mark.values
@pytest.mark.parametrize("format", PACKERS)
@pytest.mark.parametrize("device", ["xpu", "meta"])
def test_a_state_dict(format, device):
    state, expected = checkpoint(PACKERS[format])
    model = Model(device)
    if device == "meta":
        model.position = torch.ones(1, device="xpu")
    assert load_checkpoint(model, state) == ["up", "down"]
    assert type(model.up.weight).__name__ == "Int4PlainInt32Tensor"
    assert model.head.weight is model.embedding.weight
    assert {t.device.type for t in model.state_dict().values()} == {"xpu"}
    assert_computes(model, expected)


@pytest.mark.values
def test_columns_in_the_order_of_activations():
    state, expected = checkpoint(files.gptq, lambda k: (torch.arange(k) // 32)[torch.randperm(k)])
    model = Model()
    load_checkpoint(model, state)
    assert type(model.up) is OrderedLinear
    assert_computes(model, expected)


@pytest.mark.values
def test_a_model_on_the_cpu_moves_afterwards():
    state, expected = checkpoint(files.awq)
    model = Model("cpu")
    load_checkpoint(model, state)
    assert model.up.weight.device.type == "cpu"
    assert_computes(model.to("xpu"), expected)


@pytest.mark.values
def test_a_file_of_torch_save_with_tiles_of_cuda(tmp_path):
    """The layer `up` is stored with the padding that torchao gives it; `down` is not quantized."""
    state, expected = checkpoint(files.gptq)
    state = {k: v for k, v in state.items() if not k.startswith(("up.q", "up.s", "up.g", "down."))}
    numbers, _, scales = files.random_layer(128, 1024, 32, torch.bfloat16)
    zeros = (scales * torch.randn(scales.shape)).to(torch.bfloat16)
    tiles = files.cuda_tiles(numbers), torch.stack((scales.t(), zeros.t()), -1).contiguous()
    state["up.weight"] = Int4TilePackedTo4dTensor(*tiles, [1, 32], torch.Size((128, 64)))
    state["down.weight"] = torch.randn(64, 128).half()
    groups = torch.arange(64) // 32
    up = scales.double()[:, groups] * (numbers[:, :64] - 8) + zeros.double()[:, groups]
    expected |= {"up.weight": up, "down.weight": state["down.weight"].double()}
    torch.save(state, tmp_path / "model.pt")
    model = Model()
    assert load_checkpoint(model, tmp_path / "model.pt") == ["up"]
    assert type(model.up.weight).__name__ == "Int4Tensor"
    assert_computes(model, expected)


@pytest.mark.values
def test_weights_of_torchao_go_to_the_device_of_the_model(tmp_path):
    quantized = Model("xpu", torch.bfloat16)
    quantize_(
        quantized, Int4WeightOnlyConfig(group_size=32), lambda m, name: name in ("up", "down")
    )
    torch.save(quantized.state_dict(), tmp_path / "model.pt")
    model = Model("xpu", torch.bfloat16)
    assert load_checkpoint(model, tmp_path / "model.pt") == ["up", "down"]
    tokens = torch.arange(32, device="xpu")
    assert torch.equal(model(tokens), quantized(tokens))


@pytest.mark.values
def test_safetensors(tmp_path):
    """A folder with two files, an index and a config; then one of the files is cut, and one is missing."""
    save_file = pytest.importorskip("safetensors.torch").save_file
    state, expected = checkpoint(lambda *layer: files.gptq(*layer, version=2))
    shards = {"a.safetensors": {}, "b.safetensors": {}}
    for index, (key, tensor) in enumerate(state.items()):
        shards["ab"[index % 2] + ".safetensors"][key] = tensor.contiguous()
    for name, tensors in shards.items():
        save_file(tensors, tmp_path / name)
    weight_map = {key: name for name, tensors in shards.items() for key in tensors}
    index = tmp_path / "model.safetensors.index.json"
    index.write_text(json.dumps({"weight_map": weight_map}))
    config = {"quantization_config": {"quant_method": "gptq", "checkpoint_format": "gptq_v2"}}
    (tmp_path / "config.json").write_text(json.dumps(config))
    model = Model()
    load_checkpoint(model, tmp_path)
    assert_computes(model, expected)

    model = Model()
    before = {key: tensor.clone() for key, tensor in model.state_dict().items()}
    with pytest.raises(ValueError, match=r"the checkpoint has qweight, but no .*: was it cut\?"):
        load_checkpoint(model, tmp_path / "a.safetensors")
    data = (tmp_path / "a.safetensors").read_bytes()
    (tmp_path / "a.safetensors").write_bytes(data[:-100])
    with pytest.raises(ValueError, match=r"a\.safetensors is no safetensors file, or was cut"):
        load_checkpoint(model, tmp_path)
    (tmp_path / "a.safetensors").unlink()
    with pytest.raises(FileNotFoundError, match=r"a\.safetensors"):
        load_checkpoint(model, tmp_path)
    assert_unchanged(model, before)


def test_a_folder_without_files(tmp_path):
    with pytest.raises(FileNotFoundError, match="no safetensors files"):
        load_checkpoint(Model(), tmp_path)


def test_a_bias_of_zeros_is_no_bias():
    state, _ = checkpoint(files.gptq)
    load_checkpoint(Model(), state | {"down.bias": torch.zeros(64).half()})
    with pytest.raises(ValueError, match=r"unexpected: down\.bias"):
        load_checkpoint(Model(), state | {"down.bias": torch.ones(64).half()})


WRONG = {
    "no scales": (lambda s: s.pop("up.scales"), r"up: .* no scales: was it cut\?"),
    "no other tensor": (
        lambda s: s.pop("norm.weight"),
        r"missing: norm\.weight; unexpected: nothing",
    ),
    "one too many": (lambda s: s.update(x=torch.ones(1)), "missing: nothing; unexpected: x"),
    "another shape": (
        lambda s: s.update({"norm.weight": torch.ones(63)}),
        r"norm\.weight: got .*63.*, expected shape \(64,\)",
    ),
    "another layer": (
        lambda s: s.update({"down.qweight": s["up.qweight"]}),
        "down: qweight: got shape",
    ),
    "fewer columns": (
        lambda s: s.update({k: s[k][: len(s[k]) // 2] for k in PARTS} | {"up.g_idx": HALF}),
        r"up: g_idx: got shape \(32,\), expected \(64,\)",
    ),
    "no such layer": (
        lambda s: s.update({"other.qweight": s["up.qweight"]}),
        "other: the checkpoint has an int4 weight, the model no",
    ),
    "no linear layer": (
        lambda s: s.update({"embedding.qweight": s["up.qweight"]}),
        "embedding: the checkpoint has an int4 weight, the model no",
    ),
    "8 bits": (
        lambda s: s.update({"up.qzeros": torch.zeros(2, 32).int()}),
        "up: qzeros has numbers of 8 bits",
    ),
}
HALF = torch.zeros(32, dtype=torch.int32)
PARTS = ("up.qweight", "up.qzeros", "up.scales")


@pytest.mark.parametrize("case", WRONG)
def test_an_error_leaves_the_model_as_it_was(case):
    change, message = WRONG[case]
    state, _ = checkpoint(files.gptq)
    change(state)
    model = Model()
    before = {key: tensor.clone() for key, tensor in model.state_dict().items()}
    with pytest.raises(ValueError, match=message):
        load_checkpoint(model, state)
    assert_unchanged(model, before)


def test_not_strict():
    state, _ = checkpoint(files.gptq)
    del state["norm.weight"]
    assert load_checkpoint(Model(), state | {"x": torch.ones(1)}, strict=False) == ["up", "down"]
