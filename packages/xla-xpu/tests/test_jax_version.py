"""A JAX of another version than the plugin's: one warning, and JAX as without the plugin."""

import sys

import pytest
from xpu_testing.other_version import pretend_version


@pytest.mark.parametrize("version", ["0.13.0", "0.14.1.dev20270101"])
def test_the_plugin_stands_aside_with_one_warning(child, tmp_path, version):
    done = child(
        """
        import warnings
        with warnings.catch_warnings(record=True) as seen:
            warnings.simplefilter("always")
            import jax
            assert {device.platform for device in jax.devices()} == {"cpu"}
        about = [str(each.message) for each in seen if "xpu" in str(each.message)]
        print(about[0])
        assert len(about) == 1, about
        assert float(jax.numpy.ones(3).sum()) == 3
        with open("/proc/self/maps") as maps:
            loaded = maps.read()
        assert "xla_xpu" not in loaded and "xpu_runtime" not in loaded
        """,
        env=pretend_version(tmp_path, "jax.version", version) | {"JAX_PLATFORMS": None},
    ).check()
    assert f"and this is jax {version}" in done.out
    assert f'{sys.executable} -m pip install "jax' in done.out
