"""XPU_LAUNCH_BLOCKING: what fails is raised by the call that launched it."""

import pytest
import sources

FAILS = """
    import numpy as np
    import xpu_runtime as xr
    from xpu_runtime._native import C
    kernel = xr.compile({source!r}).kernel("pick")
    x, y = xr.zeros(16), xr.zeros(16)
    index = xr.from_numpy(np.full(16, 99))
    code = C.fault_code("pick", "index {{a}} is out of range for a dimension of {{b}}")
    launch = xr.Launcher(kernel, "pu4pppi8")
    where = "the launch"
    try:
        launch(16, 16, C.fault_record(0), code, index, x, y, 16)
        where = "the wait"
        xr.synchronize()
    except xr.KernelFault as error:
        print(where, "XPU_LAUNCH_BLOCKING=1" in str(error))
"""


@pytest.mark.values
@pytest.mark.parametrize(("blocking", "where"), [("0", "the wait"), ("1", "the launch")])
def test_a_failure_names_its_call(child, blocking, where):
    """If a later wait has found it, the message says how to find the call."""
    code = FAILS.format(source=sources.FAULTY)
    done = child(code, env={"XPU_LAUNCH_BLOCKING": blocking}).check()
    assert done.out.strip() == f"{where} {where == 'the wait'}"
