"""Small kernels that several tests use."""

SAXPY = """
#include <xpu/core.h>
XPU_KERNEL(1) saxpy(float a, xpu::global<const float> x, xpu::global<float> y, long n) {
  long i = xpu::global_id();
  if (i < n) y[i] = a * x[i] + y[i];
}
"""

# Each launch's result depends on the one before it and on k, so that order and number show.
CHAIN = """
#include <xpu/core.h>
XPU_KERNEL(1) chain(xpu::global<unsigned> x, unsigned k) {
  long i = xpu::global_id();
  x[i] = 3 * x[i] + k;
}
"""

# Long enough that work enqueued behind it is still waiting when the host looks.
SLOW = """
#include <xpu/core.h>
XPU_KERNEL(1) slow(xpu::global<float> y, long rounds) {
  float v = y[xpu::global_id()];
  for (long i = 0; i < rounds; ++i) v = v * 0.5f + 1.0f;
  y[xpu::global_id()] = v;
}
"""

FAULTY = """
#include <xpu/core.h>
#include <xpu/fault.h>
XPU_KERNEL(1) pick(xpu::global<xpu::FaultRecord> record, unsigned code, xpu::global<const long> index,
                   xpu::global<const float> x, xpu::global<float> y, long size) {
  long i = xpu::global_id();
  y[i] = x[xpu::checked_index(record, code, index[i], size)];
}
"""


def add_kernel(xr, pointers: int):
    """Return a kernel that adds up all arrays but the first, into the first."""
    parameters = ", ".join(f"xpu::global<float> p{i}" for i in range(pointers))
    total = " + ".join(f"p{i}[i]" for i in range(1, pointers))
    source = (
        f"#include <xpu/core.h>\nXPU_KERNEL(1) add_all({parameters}, long n) {{\n"
        f"  long i = xpu::global_id();\n  if (i < n) p0[i] = {total};\n}}\n"
    )
    return xr.compile(source).kernel("add_all")
