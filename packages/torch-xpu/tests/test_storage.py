"""Views, resizing, serialisation and exchange of storages."""

import copy
import io
import pickle

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


@pytest.mark.parametrize("target", [None, "cpu", "xpu", "xpu:0"])
def test_save_and_load(target):
    tensor = torch.arange(6.0).reshape(2, 3).to("xpu").t()
    file = io.BytesIO()
    torch.save({"t": tensor}, file)
    file.seek(0)
    loaded = torch.load(file, map_location=target)["t"]
    assert loaded.device.type == ("cpu" if target == "cpu" else "xpu")
    assert loaded.stride() == tensor.stride()
    assert_close(loaded.cpu().numpy(), tensor.cpu().numpy())


def test_pickle_and_deepcopy():
    tensor = torch.arange(6.0).to("xpu")
    for other in (pickle.loads(pickle.dumps(tensor)), copy.deepcopy(tensor)):
        assert other.device == tensor.device
        assert other.data_ptr() != tensor.data_ptr()
        assert_close(other.cpu().numpy(), tensor.cpu().numpy())


def test_dlpack_between_tensors():
    tensor = torch.arange(6.0).to("xpu")
    other = torch.from_dlpack(tensor)
    assert other.device == tensor.device
    assert other.data_ptr() == tensor.data_ptr()


def test_the_runtime_knows_the_memory():
    tensor = torch.empty(1000, device="xpu")
    block = xpu_runtime.memory.find(tensor.data_ptr() + 8)
    assert block["owner"] == "torch"
    assert block["requested"] == 4000
