"""Give each array of some calls from another device, and print what is not refused by name."""

import numpy as np

import xpu_runtime as xr

here, there = xr.Stream(0), xr.Stream(1)
k = xr.kernels
add = k.Elementwise("add_two", "a0 + a1", inputs=2, headers=[])
total = k.Reduction("total", [("T", "0")], "a0", "s0 = s0 + r0;", "s0")
# Each call, by its arguments: those of another device come one at a time.
calls = {
    "elementwise": (lambda o, a, b: add(o, [a, b], stream=here), ["f32"] * 3),
    "reduction": (lambda o, a: total(o, a, dims=[0], stream=here), ["f32", "f32"]),
    "fill": (lambda o: k.fill(o, 1, stream=here), ["f32"]),
    "cumsum": (lambda o, a: k.cumsum(o, a, 0, stream=here), ["f32", "f32"]),
    "gather": (lambda o, a, i: k.gather(o, a, 0, i, stream=here), ["f32", "f32", "i64"]),
    "sort": (lambda v, i, a: k.sort(v, i, a, 0, stream=here), ["f32", "i64", "f32"]),
}
for name, (call, dtypes) in calls.items():
    for wrong in range(len(dtypes)):
        arrays = [
            xr.zeros(
                1 if name == "reduction" and i == 0 else 4, dtype, there if i == wrong else here
            )
            for i, dtype in enumerate(dtypes)
        ]
        try:
            call(*arrays)
            print(name, wrong, "is taken")
        except xr.UsageError as error:
            if name not in str(error) or "of device 1, expected an array of device 0" not in str(
                error
            ):
                print(name, wrong, error)
x = xr.from_numpy(np.arange(4.0, dtype=np.float32), stream=there)
y = xr.zeros(4)
for device in (0, 1):
    xr.synchronize(device)
k.copy(y, x, stream=here)  # a copy's source may be another device's
here.synchronize()
print(y.numpy().tolist())
