"""Messages of the runtime go to Python's logging, and what a handler raises to the program."""

import pytest

pytestmark = pytest.mark.usefixtures("device")

RAISES = """
    import logging
    import numpy as np
    import xpu_runtime as xr
    from xpu_runtime._native import C

    class Handler(logging.Handler):
        def emit(self, record):
            raise {kind}("on purpose")

    logging.getLogger("xpu_runtime").addHandler(Handler())
    x = xr.zeros(4)
    try:
        C.deallocate(12345 * 4096)  # said in the log: nobody gave this out
        for _ in range(100):
            pass
        C.flush_log()
    except {kind} as raised:
        print("raised", raised)
    print(x.numpy().sum())
"""


@pytest.mark.parametrize("kind", ["ValueError", "KeyboardInterrupt"])
def test_a_handler_that_raises(child, kind):
    out = child(RAISES.format(kind=kind)).check().out
    assert out.startswith("raised on purpose\n")


OF_A_CONSTRUCTOR = """
    import sys
    sys.modules.pop("logging", None)
    import xpu_runtime as xr
    from xpu_runtime._native import C

    x = xr.zeros(4)
    # Such are the constructors of named tuples. The interpreter hands a message over behind the call.
    print(eval("deallocate(12345 * 4096)", {"__builtins__": {}, "deallocate": C.deallocate}))
    print("logging" in sys.modules)
"""


def test_a_message_in_a_function_without_builtins(child):
    result = child(OF_A_CONSTRUCTOR).check()
    assert result.out == "None\nTrue\n"
    assert "12345" in result.err or f"{12345 * 4096:x}" in result.err
