"""The ends of processes: with work in flight, after a fork, with two clients."""

import pytest

WORK = """
    import jax, numpy as np
    f = jax.jit(lambda x: x * 1.5 + 1)
    x = jax.device_put(np.ones(1 << 18, np.float32))
    for _ in range(50):
        x = f(x)
"""


def test_exit_with_work_in_flight(child):
    child(WORK).check()


def test_exit_with_callbacks_waiting(child):
    child(WORK + "    x.copy_to_host_async()\n").check()


def test_exit_while_arrays_are_held_by_the_interpreter(child):
    child(WORK + "    import builtins; builtins.held = (x, x.__dlpack__())\n").check()


def test_exit_by_an_exception(child):
    done = child(WORK + "    raise SystemExit(3)\n")
    assert done.exit_code == 3, done.err


def test_a_forked_child_may_end(child):
    done = child(
        WORK
        + """
    import os, sys, warnings
    warnings.simplefilter("ignore")
    x.block_until_ready()
    pid = os.fork()
    if pid == 0:
        try:
            f(x)
        except Exception as e:
            sys.stdout.write(type(e).__name__)
            sys.stdout.flush()
        os._exit(0)
    assert os.waitpid(pid, 0)[1] == 0
    print(x.shape)
    """
    ).check()
    assert done.out == "ValueError(262144,)\n"


@pytest.mark.values
def test_two_clients(child):
    child(
        """
        import jax, numpy as np
        from jaxlib import xla_client
        import jax._src.xla_bridge as bridge
        one = jax.devices()[0].client
        two = xla_client.make_c_api_client("xpu", {})
        assert two.platform == "xpu" and len(two.devices()) == len(one.devices())
        del two
        assert float(jax.device_put(np.float32(3)) + 1) == 4
        """
    ).check()


@pytest.mark.values
@pytest.mark.parametrize("threads", [6])
def test_threads(child, threads):
    child(
        f"""
        import threading, jax, numpy as np
        failures = []
        def work(n):
            try:
                f = jax.jit(lambda x: x * n + 1)
                for i in range(30):
                    got = np.asarray(f(jax.device_put(np.full(100, i, np.float32))))
                    np.testing.assert_array_equal(got, np.full(100, i * n + 1, np.float32))
            except BaseException as e:
                failures.append(e)
        all = [threading.Thread(target=work, args=(n,)) for n in range({threads})]
        [t.start() for t in all]; [t.join() for t in all]
        assert not failures, failures
        """
    ).check()
