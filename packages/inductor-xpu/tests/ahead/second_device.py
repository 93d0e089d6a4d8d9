"""Loads a package for the second device and calls it there, and with inputs of the first."""

import sys

import package_case
import torch

call = torch._inductor.aoti_load_package(sys.argv[1], device_index=1)
model = package_case.Model().to("xpu:1").eval()
with torch.no_grad():
    given = [tensor.to("xpu:1") for tensor in package_case.inputs(16, "cpu")]
    for got, expected in zip(call(*given), model(*given), strict=True):
        assert got.device == torch.device("xpu:1")
        torch.testing.assert_close(got, expected)
    try:
        call(*package_case.inputs(16, "xpu:0"))
    except RuntimeError as error:
        print(error)
