"""Packages of AOTInductor: values, inputs that do not fit, weights, threads and streams."""

import threading

import package_case
import pytest
import torch
from torch._inductor.package import load_package

COUNTS = (2, 16, 700, 4999)


@pytest.fixture(scope="module")
def loaded(packaged):
    path, model = packaged
    return torch._inductor.aoti_load_package(str(path)), model


@pytest.mark.values
@torch.no_grad()
def test_a_package_gives_what_the_model_gives_for_all_sizes(loaded):
    call, model = loaded
    for count in COUNTS:
        for got, expected in zip(
            call(*package_case.inputs(count)), model(*package_case.inputs(count)), strict=True
        ):
            assert got.device.type == "xpu"
            torch.testing.assert_close(got, expected)


def _wrong(change):
    words, scale = package_case.inputs(16)
    return {
        "size": (words, scale[:4].contiguous()),
        "least size": (words[:1], scale),
        "greatest size": (words.repeat(400), scale),
        "dtype": (words.int(), scale),
        "device": (words.cpu(), scale),
        "stride": (words, scale.repeat(2)[::2]),
        "rank": (words, scale[None]),
    }[change]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ("size", r"input 1 \(scale\): got size 4 in dimension 0, expected 16"),
        ("least size", r"input 0 \(words\): got size 1 in dimension 0, expected 2 to 5000"),
        ("greatest size", r"input 0 \(words\): got size 6400 in dimension 0, expected 2 to 5000"),
        ("dtype", r"input 0 \(words\): got dtype int32, expected int64"),
        ("device", r"input 0 \(words\): got a tensor on another device, expected one on xpu"),
        ("stride", r"input 1 \(scale\): got stride 2 in dimension 0, expected 1"),
        ("rank", r"input 1 \(scale\): got 2 dimensions, expected 1"),
    ],
)
def test_an_input_that_does_not_fit_raises_with_its_name(loaded, change, message):
    with pytest.raises(RuntimeError, match=message):
        loaded[0](*_wrong(change))


@pytest.mark.values
@torch.no_grad()
def test_an_index_out_of_range_is_an_error_at_the_next_wait(packaged):
    call = torch._inductor.aoti_load_package(str(packaged[0]))
    words, scale = package_case.inputs(16)
    words[3] = 50
    with pytest.raises(RuntimeError, match="index 50 is out of range for a dimension of 50"):
        call(words, scale)[0].cpu()
    torch.testing.assert_close(
        call(*package_case.inputs(16)), packaged[1](*package_case.inputs(16))
    )


@pytest.mark.values
@torch.no_grad()
def test_new_weights_are_used(packaged):
    path, model = packaged
    call = torch._inductor.aoti_load_package(str(path))
    other = package_case.Model()
    for parameter in other.parameters():
        parameter.mul_(-0.5)
    other.to("xpu")
    weights = dict(other.state_dict())
    call.load_constants(weights, check_full_update=True)
    torch.testing.assert_close(call(*package_case.inputs(16)), other(*package_case.inputs(16)))
    call.load_constants(dict(model.state_dict()), check_full_update=True)
    torch.testing.assert_close(call(*package_case.inputs(16)), model(*package_case.inputs(16)))


@pytest.mark.values
@torch.no_grad()
def test_threads_and_streams_share_a_package(packaged):
    path, model = packaged
    call = load_package(str(path), num_runners=4)
    expected = {count: model(*package_case.inputs(count)) for count in COUNTS}
    wrong = []

    def run(number):
        stream = torch.xpu.Stream()
        with torch.xpu.stream(stream):
            for turn in range(20):
                count = COUNTS[(number + turn) % len(COUNTS)]
                got = call(*package_case.inputs(count))
                stream.synchronize()
                for ours, theirs in zip(got, expected[count], strict=True):
                    if not torch.allclose(ours, theirs, atol=1e-5):
                        wrong.append((number, turn, count))

    torch.xpu.synchronize()
    threads = [threading.Thread(target=run, args=(n,)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)
        assert not thread.is_alive()
    assert not wrong


@pytest.mark.values
@torch.no_grad()
def test_a_call_is_captured_into_a_graph(loaded):
    call, model = loaded
    given = package_case.inputs(16)
    call(*given)
    graph = torch.xpu.XPUGraph()
    with torch.xpu.graph(graph, stream=torch.xpu.Stream()):
        got = call(*given)
    graph.replay()
    torch.testing.assert_close(got, model(*given))


@pytest.mark.values
@torch.no_grad()
def test_a_call_is_profiled(loaded):
    call, model = loaded
    with torch.profiler.profile() as profile:
        got = call(*package_case.inputs(16))
        torch.xpu.synchronize()
    torch.testing.assert_close(got, model(*package_case.inputs(16)))
    assert any("softmax" in event.name for event in profile.events())


@pytest.mark.values
@torch.no_grad()
def test_a_package_is_dropped_with_work_queued(packaged):
    path, model = packaged
    call = torch._inductor.aoti_load_package(str(path))
    got = call(*package_case.inputs(4999))
    del call
    torch.testing.assert_close(got, model(*package_case.inputs(4999)))


@pytest.mark.values
@torch.no_grad()
def test_an_input_may_begin_anywhere(loaded):
    call, model = loaded
    words, scale = package_case.inputs(16)
    moved = torch.cat([scale[:1], scale])[1:]
    torch.testing.assert_close(call(words, moved), model(words, scale))


def test_a_missing_input_is_an_error(loaded):
    with pytest.raises(RuntimeError, match="expected inputs vector size to be 2, but got 1"):
        loaded[0](package_case.inputs(16)[0])
