"""Give each operand of each call from another device, and print what is not refused by name."""

from dnn_calls import CALLS, operand, operands

import xpu_runtime as xr

here, there = xr.Stream(0), xr.Stream(1)
checked = 0
for call in CALLS:
    arrays = operands(xr, call, here)
    for key in call.operands:
        given = arrays | {key: operand(xr, call, key, there)}
        xr.synchronize(0)
        xr.synchronize(1)
        xr.trace.start()
        try:
            call.run(xr, here, given)
            print(call.name, key, "is taken")
        except xr.UsageError as error:
            said = str(error)
            wanted = key.removeprefix("grad_") if call.name == "rnn_backward" else key
            if wanted.split("_")[-1] not in said or "device 1" not in said:
                print(call.name, key, "is refused with", said)
        records = xr.trace.stop()
        if [r for r in records if r.kind.name in ("kernel", "dnn")]:
            print(call.name, key, "launches something")
        checked += 1
print(checked)
