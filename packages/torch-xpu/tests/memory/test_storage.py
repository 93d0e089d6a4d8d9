"""Views, resizing, serialisation and exchange of storages."""

import copy
import io
import pickle

import numpy as np
import pytest
import torch
import xpu_runtime
from xpu_testing import assert_close


def test_views_share_memory():
    base = torch.zeros(4, 6, device="xpu")
    assert base.view(24).data_ptr() == base.data_ptr()
    assert base[1:].storage_offset() == 6
    base[1:, 2].fill_(5)
    expected = torch.zeros(4, 6)
    expected[1:, 2] = 5
    assert_close(base.cpu().numpy(), expected.numpy())
    assert base.unfold(1, 2, 2).shape == (4, 3, 2)


def test_resize_keeps_what_fits():
    tensor = torch.arange(4.0).to("xpu")
    tensor.resize_(2, 4)
    assert tensor.shape == (2, 4)
    assert_close(tensor[0].cpu().numpy(), torch.arange(4.0).numpy())


def test_set():
    source, other = torch.arange(6.0).to("xpu"), torch.empty(0, device="xpu")
    other.set_(source.untyped_storage(), 2, (2, 2), (2, 1))
    assert_close(other.cpu().numpy(), torch.tensor([[2.0, 3], [4, 5]]).numpy())


def saved(what, **options):
    file = io.BytesIO()
    torch.save(what, file, **options)
    file.seek(0)
    return file


LOCATIONS = {
    None: "xpu",
    "cpu": "cpu",
    "meta": "meta",
    "xpu": "xpu",
    "xpu:0": "xpu",
    torch.device("xpu"): "xpu",
    torch.device("xpu", 0): "xpu",
    torch.device("cpu"): "cpu",
    lambda storage, place: storage: "cpu",
    lambda storage, place: None: "xpu",
}


@pytest.mark.parametrize("location", LOCATIONS, ids=str)
def test_save_and_load(location):
    tensor = torch.arange(6.0).reshape(2, 3).to("xpu").t()
    loaded = torch.load(saved({"t": tensor}), map_location=location)["t"]
    assert loaded.device.type == LOCATIONS[location]
    assert loaded.stride() == tensor.stride()
    if location != "meta":
        assert_close(loaded.cpu().numpy(), tensor.cpu().numpy())


@pytest.mark.parametrize(
    ("source", "table", "expected"),
    [("xpu", {"xpu:0": "cpu"}, "cpu"), ("cpu", {"cpu": "xpu:0"}, "xpu"), ("cpu", {}, "cpu")],
)
def test_load_with_a_table_of_places(source, table, expected):
    tensor = torch.arange(6.0).to(source)
    assert torch.load(saved(tensor), map_location=table).device.type == expected


@pytest.mark.parametrize("old_format", [False, True])
def test_load_what_the_cpu_saved(old_format, tmp_path):
    path = tmp_path / "weights.pt"
    torch.save(torch.arange(6.0), path, _use_new_zipfile_serialization=not old_format)
    loaded = torch.load(path, map_location="xpu", mmap=None if old_format else True)
    assert_close(loaded.cpu().numpy(), torch.arange(6.0).numpy())


def test_load_a_device_that_is_not_there():
    with pytest.raises(RuntimeError, match=r"XPU device 9 but torch.xpu.device_count\(\) is"):
        torch.load(saved(torch.ones(2)), map_location="xpu:9")


def test_states_of_training_survive():
    net = torch.nn.Linear(3, 3).to("xpu")
    optimizer = torch.optim.AdamW(net.parameters())
    net(torch.ones(2, 3, device="xpu")).sum().backward()
    optimizer.step()
    state = torch.load(saved([net.state_dict(), optimizer.state_dict()]), map_location="cpu")
    again = torch.nn.Linear(3, 3).to("xpu")
    other = torch.optim.AdamW(again.parameters())
    again.load_state_dict(state[0])
    other.load_state_dict(state[1])
    assert other.state[again.weight]["exp_avg"].device.type == "xpu"
    assert_close(again.weight.detach().cpu().numpy(), net.weight.detach().cpu().numpy())


def test_pickle_and_deepcopy():
    tensor = torch.arange(6.0).to("xpu")
    for other in (pickle.loads(pickle.dumps(tensor)), copy.deepcopy(tensor)):
        assert other.device == tensor.device
        assert other.data_ptr() != tensor.data_ptr()
        assert_close(other.cpu().numpy(), tensor.cpu().numpy())


def test_dlpack_between_tensors():
    tensor = torch.arange(6.0).reshape(2, 3).to("xpu").t()
    other = torch.from_dlpack(tensor)
    assert other.device == tensor.device
    assert other.data_ptr() == tensor.data_ptr()
    assert other.stride() == tensor.stride()
    assert torch.from_dlpack(tensor, copy=True).data_ptr() != tensor.data_ptr()


@pytest.mark.parametrize("versioned", [False, True])
def test_dlpack_without_elements(versioned):
    empty = torch.empty(3, 0, 2, device="xpu", dtype=torch.int16).transpose(0, 2)
    for tensor in (empty, torch.ones(4, device="xpu")[4:]):
        for capsule in (tensor, tensor.__dlpack__(max_version=(1, 0) if versioned else None)):
            other = torch.from_dlpack(capsule)
            assert (other.shape, other.dtype, other.device) == (
                tensor.shape,
                tensor.dtype,
                tensor.device,
            )
            assert other.stride() == tensor.stride()
        assert torch.from_dlpack(tensor, device="cpu").shape == tensor.shape
        assert torch.from_dlpack(tensor, copy=True).device == tensor.device
        assert torch.from_dlpack(tensor.cpu(), device="xpu").device == tensor.device


@pytest.mark.values
def test_dlpack_copies_when_told():
    tensor = torch.arange(4.0, device="xpu")
    torch.from_dlpack(tensor, copy=True).add_(1)
    assert torch.from_dlpack(tensor, device="cpu", copy=True).tolist() == [0, 1, 2, 3]
    with pytest.raises(ValueError, match="without copying"):
        torch.from_dlpack(tensor, device="cpu", copy=False)


def test_dlpack_says_where_it_is():
    kind, index = torch.ones(2, device="xpu").__dlpack_device__()
    assert (kind.name, index) == ("kDLOneAPI", 0)


@pytest.mark.parametrize("stream", [None, -1, 1])
def test_dlpack_with_a_stream(stream):
    capsule = torch.arange(6.0).to("xpu").__dlpack__(stream=stream)
    assert_close(torch.from_dlpack(capsule).cpu().numpy(), torch.arange(6.0).numpy())


def test_dlpack_across_devices():
    host = torch.arange(6.0)
    tensor = torch.from_dlpack(host, device="xpu")
    assert tensor.device.type == "xpu"
    assert_close(torch.from_dlpack(tensor, device="cpu").numpy(), host.numpy())


def test_dlpack_to_a_library_of_the_host():
    with pytest.raises((RuntimeError, BufferError)):
        np.from_dlpack(torch.ones(2, device="xpu"))


def test_the_runtime_knows_the_memory():
    tensor = torch.empty(1000, device="xpu")
    block = xpu_runtime.memory.find(tensor.data_ptr() + 8)
    assert block["owner"] == "torch"
    assert block["requested"] == 4000
