"""What the package changes inside JAX still has the effect it is there for."""

import jax
import numpy as np
import pytest
from jax._src import compilation_cache
from jax._src.interpreters import mlir


def test_donation_is_offered(xpu):
    assert mlir._platforms_with_donation.count("xpu") == 1
    lowered = jax.jit(lambda x: x + 1, donate_argnums=0).lower(np.ones(3, np.float32))
    assert "tf.aliasing_output" in lowered.as_text()


def test_patches_are_applied_once(xpu):
    from xla_xpu import _dlpack, _patches

    before = compilation_cache.is_cache_used
    _patches.apply()
    _dlpack.apply()
    assert compilation_cache.is_cache_used is before
    assert mlir._platforms_with_donation.count("xpu") == 1


@pytest.mark.values
def test_programs_are_kept_on_disk(child, tmp_path):
    code = """
        import jax, numpy as np
        jax.config.update("jax_persistent_cache_min_compile_time_secs", 0)
        jax.config.update("jax_persistent_cache_min_entry_size_bytes", -1)
        import jax.monitoring
        hits = []
        jax.monitoring.register_event_listener(lambda name, **_: hits.append(name))
        f = jax.jit(lambda x: x * 3 + 1)
        x = jax.device_put(np.arange(4, dtype=np.float32))
        np.testing.assert_array_equal(np.asarray(f(x)), np.arange(4, dtype=np.float32) * 3 + 1)
        print("HITS", sum("cache_hits" in name for name in hits))
    """
    env = {"JAX_COMPILATION_CACHE_DIR": str(tmp_path)}
    first = child(code, env=env).check()
    assert "HITS 0" in first.out
    assert list(tmp_path.iterdir())
    second = child(code, env=env).check()
    assert "HITS 0" not in second.out
