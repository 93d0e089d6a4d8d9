"""Which store answers a build, and why others do not."""

import logging
import uuid

import pytest
import sources

import xpu_runtime as xr

pytestmark = pytest.mark.driver_binaries
SPIRV, NATIVE = "SPIR-V", "native code"

EXPLAIN = """
import xpu_runtime as xr
SOURCE = {source!r}
for each in xr.cache.explain(SOURCE):
    print(each.wanted, each.store, each.found, each.answer, sep="|")
"""


@pytest.fixture
def explain(child, tmp_path):
    """Return a function that returns the answers of a new process, as tuples of text."""

    def explain(source, **variables):
        env = {"XPU_CACHE_DIR": str(tmp_path / "kernels"), "XPU_DUMP_KERNELS": ""} | variables
        out = child(EXPLAIN.format(source=source), env=env).check().out
        return [tuple(line.split("|")) for line in out.splitlines()]

    return explain


def build(child, tmp_path, source, **variables):
    env = {"XPU_CACHE_DIR": str(tmp_path / "kernels"), "XPU_DUMP_KERNELS": ""} | variables
    code = f"import xpu_runtime as xr\nxr.compile({source!r}).kernel('saxpy')"
    child(code, env=env).check()


def found(answers):
    return {(wanted, store) for wanted, store, found, _ in answers if found == "True"}


def test_a_new_source_is_nowhere(explain):
    answers = explain(sources.SAXPY + "// nowhere\n")
    assert not found(answers)
    assert {wanted for wanted, *_ in answers} == {SPIRV}
    assert all(reason for *_, reason in answers)


def test_what_is_built_is_in_the_disk_cache(child, tmp_path, explain):
    source = sources.SAXPY + "// somewhere\n"
    build(child, tmp_path, source)
    assert found(explain(source)) == {(SPIRV, "disk cache"), (NATIVE, "disk cache")}
    for file in (tmp_path / "kernels").glob("*.bin"):
        file.unlink()
    answers = explain(source)
    assert found(answers) == {(SPIRV, "disk cache")}
    assert any(wanted == NATIVE and "has no " in reason for wanted, _, _, reason in answers)


def test_a_dumped_source_is_explained_like_its_kernel(child, tmp_path, explain):
    dumps = tmp_path / "dumps"
    dumps.mkdir()
    build(child, tmp_path, sources.SAXPY + "// dumped\n", XPU_DUMP_KERNELS=str(dumps))
    (dump,) = dumps.glob("*.sycl")
    assert (SPIRV, "disk cache") in found(explain(dump.read_text()))
    assert (tmp_path / "kernels" / dump.name).with_suffix(".spv").exists()


def test_a_cache_that_is_off_says_so(explain):
    answers = explain(sources.SAXPY, XPU_CACHE_SIZE="0")
    assert (SPIRV, "disk cache", "False", "is off") in answers


def test_the_generic_mode_asks_for_images_of_the_source(child, tmp_path, explain):
    source, generic = sources.SAXPY + "// image\n", {"XPU_GENERIC_BACKEND": "1"}
    build(child, tmp_path, source, **generic)
    assert found(explain(source, **generic)) == {("SYCL's image", "disk cache")}


def test_the_log_says_who_built_and_what_the_stores_lack(caplog):
    with caplog.at_level(logging.DEBUG, "xpu_runtime"):
        xr.compile(f"{sources.SAXPY}// {uuid.uuid4()}\n").kernel("saxpy")
        xr._native.C.flush_log()
    (said,) = [text for text in caplog.messages if "is built by" in text]
    assert "no SPIR-V" in said
    assert "disk cache" in said
