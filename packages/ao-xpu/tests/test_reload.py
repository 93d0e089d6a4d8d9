"""Every kind of checkpoint, into models that are new, were quantized before, or have other layers.

Afterwards the model is right, or the load raised and the model is as it was.
"""

import json
import warnings

import checkpoint_files as files
import gguf_files
import pytest
import torch
from checkpoint_model import Model, assert_computes, checkpoint
from torchao.quantization import (
    Float8WeightOnlyConfig,
    Int4TilePackedTo4dTensor,
    Int4WeightOnlyConfig,
    Int8WeightOnlyConfig,
    IntxWeightOnlyConfig,
    PerGroup,
    quantize_,
)

import ao_xpu
from ao_xpu.checkpoints import OrderedLinear, load_checkpoint

pytestmark = pytest.mark.values
LAYERS = ("up", "down")
# What a damaged layer may lack: then it is a whole layer of another kind.
OPTIONAL = ("g_idx", "weight_g_idx", "weight_zero_point", "input_order")


def shuffled(columns):
    return (torch.arange(columns) // 32)[torch.randperm(columns)]


def packed(pack, order=None, part="g_idx"):
    return lambda seed: checkpoint(pack, order, part, seed)


def gptq_v2(*layer):
    return files.gptq(*layer, version=2)


def tiles_of_cuda(seed):
    state, expected = checkpoint(files.gptq, seed=seed)
    state = {k: v for k, v in state.items() if k.rpartition(".")[2] in ("weight", "bias")}
    for i, (name, rows, columns) in enumerate([("up", 128, 64), ("down", 64, 128)]):
        numbers, _, scales = files.random_layer(rows, 1024, 32, torch.bfloat16, 2 * seed + i)
        parameters = torch.stack((scales.t(), scales.t()), -1).contiguous()
        shape = torch.Size((rows, columns))
        parts = files.cuda_tiles(numbers), parameters, [1, 32], shape
        state[f"{name}.weight"] = Int4TilePackedTo4dTensor(*parts)
        scale = scales.double()[:, torch.arange(columns) // 32]
        expected[f"{name}.weight"] = scale * (numbers[:, :columns] - 8) + scale
    return state, expected


def of_torchao(config):
    def make(seed):
        torch.manual_seed(seed)
        model = Model()
        quantize_(model, config, lambda module, name: name in LAYERS)
        return copied(model.state_dict()), elements(model)

    return make


def own_state_of_ordered_layers(seed):
    state, expected = checkpoint(files.gptq, shuffled, seed=seed)
    model = Model()
    load_checkpoint(model, state)
    return copied(model.state_dict()), expected


def copied(state):
    """Return a state dict that has the tied weights once."""
    return {key: tensor.detach().clone() for key, tensor in state.items() if key != "head.weight"}


def elements(model):
    """Return the state dict in float64."""
    state = {}
    for key, tensor in model.state_dict().items():
        plain = tensor.dequantize() if hasattr(tensor, "qdata") else tensor
        state[key] = plain.cpu().double()
    return state


# Each makes a state dict and its elements in float64 from a seed.
KINDS = {
    "gptq": packed(files.gptq),
    "gptq_v2": packed(gptq_v2),
    "gptq desc_act": packed(files.gptq, shuffled),
    "awq": packed(files.awq),
    "compressed-tensors": packed(files.compressed_tensors),
    "compressed-tensors actorder": packed(files.compressed_tensors, shuffled, "weight_g_idx"),
    "tile_packed_to_4d": tiles_of_cuda,
    "plain_int32": of_torchao(Int4WeightOnlyConfig(32, int4_packing_format="plain_int32")),
    "int8": of_torchao(Int8WeightOnlyConfig()),
    "float8": of_torchao(Float8WeightOnlyConfig()),
    "intx": of_torchao(IntxWeightOnlyConfig(torch.int3, PerGroup(32))),
    "state dict of desc_act": own_state_of_ordered_layers,
}
ORDERED = ("gptq desc_act", "compressed-tensors actorder", "state dict of desc_act")


def load(model, state, kind, **options):
    version = "gptq_v2" if kind == "gptq_v2" else "gptq"
    return load_checkpoint(model, state, checkpoint_format=version, **options)


def right(model, kind, seed=0, strict=True):
    state, expected = KINDS[kind](seed)
    assert load(model, state, kind, strict=strict) == list(LAYERS)
    assert_right(model, kind, expected)


def assert_right(model, kind, expected):
    assert {type(model.get_submodule(name)) for name in LAYERS} == (
        {OrderedLinear} if kind in ORDERED else {torch.nn.Linear}
    )
    assert_computes(model, expected)


def snapshot(model):
    """Return classes, the tensors themselves, and copies of their values."""
    state = model.state_dict(keep_vars=True)
    tensors = {name: (id(tensor), tensor.detach().clone()) for name, tensor in state.items()}
    return {name: type(module) for name, module in model.named_modules()}, tensors


def assert_untouched(model, before):
    classes, tensors = snapshot(model)
    assert classes == before[0]
    assert tensors.keys() == before[1].keys()
    for name, (identity, value) in tensors.items():
        assert identity == before[1][name][0], name
        plain = [t.dequantize() if hasattr(t, "qdata") else t for t in (value, before[1][name][1])]
        assert torch.equal(*plain), name


@pytest.mark.parametrize("kind", KINDS)
def test_a_new_model(kind):
    right(Model(), kind)


@pytest.mark.parametrize("strict", [True, False])
@pytest.mark.parametrize("kind", KINDS)
def test_a_model_that_was_quantized_before(kind, strict):
    model = Model()
    for before in ("gptq desc_act", kind, "intx", kind, "state dict of desc_act", "int8"):
        right(model, before, seed=1, strict=strict)
        right(model, kind, strict=strict)


@pytest.mark.parametrize("kind", KINDS)
def test_its_own_state_dict(kind):
    """Saved, loaded into a new model and into itself; afterwards the two share no memory."""
    model, other = Model(), Model()
    _, expected = KINDS[kind](0)
    load(model, KINDS[kind](0)[0], kind)
    load_checkpoint(model, model.state_dict())
    model.load_state_dict(model.state_dict())
    load_checkpoint(other, model.state_dict())
    right(model, kind, seed=1)
    load_checkpoint(model, other.state_dict())
    for m in (model, other):
        assert_right(m, kind, expected)


class Doubled(torch.nn.Linear):
    def forward(self, input):
        return 2 * super().forward(input)


@pytest.mark.parametrize("kind", KINDS)
def test_a_layer_of_another_class(kind):
    """It keeps its class, which the order of columns would replace. A layer before it is an nn.Linear."""
    state, expected = KINDS[kind](0)
    model = Model()
    model.down = Doubled(128, 64, bias=False, device="xpu", dtype=torch.float16)
    before = snapshot(model)
    if kind in ORDERED:
        with pytest.raises(ValueError, match=r"down: .*Doubled.* is no nn\.Linear"):
            load(model, state, kind)
        assert_untouched(model, before)
        return
    load(model, state, kind)
    expected["down.weight"] = 2 * expected["down.weight"]
    assert_computes(model, expected)


@pytest.mark.parametrize("kind", KINDS)
def test_a_layer_that_computes_its_weight(kind):
    model = Model()
    torch.nn.utils.parametrizations.orthogonal(model.down)
    before = snapshot(model)
    with pytest.raises(ValueError, match="down: the layer computes its weight"):
        load(model, KINDS[kind](0)[0], kind)
    assert_untouched(model, before)


@pytest.mark.parametrize("kind", KINDS)
def test_a_layer_of_two_names(kind):
    state, expected = KINDS[kind](0)
    model = Model()
    model.again = model.up
    state |= {k.replace("up.", "again."): v for k, v in state.items() if k.startswith("up.")}
    assert set(load(model, state, kind)) == {"up", "down", "again"}
    assert model.again is model.up
    del model.again
    assert_right(model, kind, expected)


def damages(state):
    """Yield names and state dicts of which one tensor is missing, cut, or of another type."""
    for key, tensor in state.items():
        if not key.endswith(OPTIONAL):
            yield f"no {key}", {k: v for k, v in state.items() if k != key}
        yield f"{key} is no tensor", state | {key: "x"}
        if hasattr(tensor, "qdata"):
            other = state["down.weight" if "up" in key else "up.weight"]
            yield f"{key} of another layer", state | {key: other}
            yield f"{key} in floats of another shape", state | {key: torch.zeros(3, 3)}
            continue
        yield f"half of {key}", state | {key: tensor[: len(tensor) // 2]}
        yield f"{key} of more dimensions", state | {key: tensor[None]}
        other = torch.complex64 if tensor.is_floating_point() else torch.float8_e4m3fn
        yield f"{key} of {other}", state | {key: tensor.to(other)}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("before", [None, "gptq desc_act"])
def test_a_damaged_state_dict(kind, before):
    model = Model()
    if before:
        right(model, before, seed=1)
    untouched = snapshot(model)
    state, _ = KINDS[kind](0)
    for strict in (True, False):
        for name, damaged in damages(state):
            is_part = name.startswith(("no up.", "no down."))
            is_part = is_part and not name.endswith((".bias", ".weight"))
            if not strict and name.startswith("no ") and not is_part:
                continue  # as asked: what the checkpoint lacks stays
            print("damaged:", name)
            with pytest.raises(ValueError):
                load(model, damaged, kind, strict=strict)
            assert_untouched(model, untouched)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("format", ["safetensors", "folder", "torch.save"])
def test_a_damaged_file(kind, format, tmp_path):
    state, expected = KINDS[kind](0)
    path = tmp_path / ("model.pt" if format == "torch.save" else "model.safetensors")
    is_flat = not any(hasattr(tensor, "qdata") for tensor in state.values())
    if format == "torch.save":
        torch.save(state, path)
    else:
        save_file = pytest.importorskip("safetensors.torch").save_file
        from torchao.prototype.safetensors import safetensors_support as support

        parts, metadata = (state, {}) if is_flat else support.flatten_tensor_state_dict(state)
        save_file({k: v.cpu().contiguous() for k, v in parts.items()}, path, metadata)
    source = path
    if format == "folder":
        index = tmp_path / "model.safetensors.index.json"
        index.write_text(json.dumps({"weight_map": dict.fromkeys(state, path.name)}))
        source = tmp_path
    model = Model()
    load(model, source, kind)
    assert_right(model, kind, expected)
    before, data = snapshot(model), path.read_bytes()
    for length in (0, 5, 100, len(data) // 2, len(data) - 50):
        path.write_bytes(data[:length])
        with pytest.raises(ValueError, match=path.name):
            load(model, source, kind)
    path.write_bytes(data)
    if format == "folder":
        for text in ("{", "[]", "{}"):
            index.write_text(text)
            with pytest.raises(ValueError, match=r"index\.json"):
                load(model, source, kind)
    path.unlink()
    with pytest.raises(FileNotFoundError):
        load(model, path, kind)
    assert_untouched(model, before)


def test_floats_do_not_fill_a_quantized_model():
    model = Model()
    right(model, "gptq")
    before = snapshot(model)
    floats = {key: torch.zeros(t.shape).half() for key, t in model.state_dict().items()}
    with pytest.raises(ValueError, match=r"up\.weight: the model has a Int4PlainInt32Tensor"):
        load_checkpoint(model, floats)
    assert_untouched(model, before)


def test_numbers_whose_scales_are_not_read_are_rejected():
    """compressed-tensors' float8 and int8: a weight of eight bits, and a scale beside it."""
    for dtype in (torch.float8_e4m3fn, torch.int8):
        state, _ = checkpoint(files.gptq)
        state = {k: v for k, v in state.items() if not k.startswith("up.") or k == "up.bias"}
        state["up.weight"] = torch.ones(128, 64).to(dtype)
        for scale in ({}, {"up.weight_scale": torch.ones(128, 1)}):
            model = Model()
            before = snapshot(model)
            with pytest.raises(ValueError, match=r"up\.weight: got numbers of|up: .* weight_scale"):
                load_checkpoint(model, state | scale, strict=False)
            assert_untouched(model, before)


def test_a_plain_state_dict_into_ordered_layers_is_an_error_even_if_not_strict():
    model = Model()
    right(model, "gptq desc_act")
    other = Model()
    right(other, "gptq", seed=1)
    weights = {name: model.get_submodule(name).weight.dequantize() for name in LAYERS}
    for state in (other.state_dict(), {"up.input_order": torch.arange(64)}):
        with pytest.raises(RuntimeError, match=r"up\.weight and up\.input_order or neither"):
            model.load_state_dict(state, strict=False)
    for name, weight in weights.items():
        assert torch.equal(model.get_submodule(name).weight.dequantize(), weight)


class GgufModel(torch.nn.Module):
    """The linear layers of a GGUF file's first block; `down` is the last that is loaded."""

    def __init__(self, kind=torch.nn.Linear):
        super().__init__()
        options = {"bias": False, "device": "xpu"}
        self.up = torch.nn.Linear(gguf_files.WIDTH, gguf_files.HIDDEN, **options)
        self.down = kind(gguf_files.HIDDEN, gguf_files.WIDTH, **options)

    def forward(self, x):
        return self.down(self.up(x))


def gguf_state(path):
    state = ao_xpu.load_gguf(path, dtype=torch.float32)
    names = {name: f"model.layers.0.mlp.{name}_proj.weight" for name in LAYERS}
    return {f"{name}.weight": state[key] for name, key in names.items()}


@pytest.mark.parametrize("format", ["Q4_0", "Q4_1", "Q8_0"])
def test_gguf(format, tmp_path):
    """A new model, one that has another format and one of int4, a layer of another class, and cut files."""
    path = tmp_path / "m.gguf"
    values = gguf_files.write(path, matrix=format)
    up, down = (torch.from_numpy(values[f"blk.0.ffn_{name}.weight"]) for name in LAYERS)
    x = torch.randn(5, gguf_files.WIDTH)
    state = gguf_state(path)
    for kind, factor in ((torch.nn.Linear, 1), (Doubled, 2)):
        model = GgufModel(kind)
        for before in (None, "Q8_0", "int8"):
            if before == "int8":
                quantize_(model := GgufModel(kind), Int8WeightOnlyConfig())
            elif before:
                gguf_files.write(path, matrix=before)
                load_checkpoint(model, gguf_state(path))
            assert load_checkpoint(model, state) == list(LAYERS)
            expected = factor * (x @ up.t() @ down.t())
            torch.testing.assert_close(model(x.xpu()).cpu(), expected, rtol=1e-4, atol=1e-3)
    before, data = snapshot(model), path.read_bytes()
    for length in (0, 100, 1000, len(data) // 2, len(data) - 1):
        path.write_bytes(data[:length])
        with pytest.raises(ValueError, match=r"m\.gguf"):
            load_checkpoint(model, gguf_state(path))
    for name, damaged in damages(state):
        print("damaged:", name)
        with pytest.raises(ValueError):
            load_checkpoint(model, damaged)
    assert_untouched(model, before)


def test_layers_that_a_config_does_not_take_leave_all_as_they_were_if_that_is_an_error():
    """`quantize_` has replaced the layers before the one that does not fit when it is found."""
    model = torch.nn.Sequential(torch.nn.Linear(64, 50), Doubled(50, 64)).to("xpu", torch.bfloat16)
    before = snapshot(model)
    with ao_xpu.strict(), pytest.raises(ValueError, match="not quantized: 1"):
        quantize_(model, Int4WeightOnlyConfig(64))
    assert_untouched(model, before)
    assert "in_features=64, out_features=50, bias=True" in repr(model)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        quantize_(model, Int4WeightOnlyConfig(64))
    assert type(model[0].weight).__name__ == "Int4Tensor"
