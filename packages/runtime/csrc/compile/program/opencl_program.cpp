#include "compile/program/opencl_program.h"

#include <algorithm>
#include <sycl/backend/opencl.hpp>
#include <vector>

#include "devices/opencl.h"
#include "xpu/device.h"
#include "xpu/error.h"

namespace xpu {
namespace {

std::string build_log(cl_program program, cl_device_id device) {
  std::size_t size = 0;
  XPU_CL(clGetProgramBuildInfo)(program, device, CL_PROGRAM_BUILD_LOG, 0, nullptr, &size);
  std::string log(size, '\0');
  XPU_CL(clGetProgramBuildInfo)(program, device, CL_PROGRAM_BUILD_LOG, size, log.data(), nullptr);
  return log.c_str();
}

// At most one device of the program's context has a binary, because programs are built for one.
Bytes binary_of(cl_program program) {
  cl_uint devices = 0;
  XPU_CL(clGetProgramInfo)(program, CL_PROGRAM_NUM_DEVICES, sizeof devices, &devices, nullptr);
  std::vector<std::size_t> sizes(devices);
  if (devices == 0 ||
      XPU_CL(clGetProgramInfo)(program, CL_PROGRAM_BINARY_SIZES, devices * sizeof(std::size_t), sizes.data(),
                               nullptr) != CL_SUCCESS)
    return {};
  auto built = std::ranges::find_if(sizes, [](auto size) { return size > 0; });
  if (built == sizes.end()) return {};
  Bytes binary(*built);
  std::vector<std::uint8_t*> places(devices);  // the driver skips null pointers
  places[static_cast<std::size_t>(built - sizes.begin())] = binary.data();
  if (XPU_CL(clGetProgramInfo)(program, CL_PROGRAM_BINARIES, devices * sizeof(std::uint8_t*), places.data(),
                               nullptr) != CL_SUCCESS)
    return {};
  return binary;
}

class OpenClProgram : public Program {
 public:
  OpenClProgram(cl_program program, int device) : program_(program), device_(device) {}
  ~OpenClProgram() override { XPU_CL(clReleaseProgram)(program_); }

  sycl::kernel kernel(const std::string& name) override {
    cl_int status = 0;
    cl_kernel kernel = XPU_CL(clCreateKernel)(program_, ("__sycl_kernel_" + name).c_str(), &status);
    if (status != CL_SUCCESS) kernel = XPU_CL(clCreateKernel)(program_, name.c_str(), &status);
    expect<UsageError>(status == CL_SUCCESS, "the program has no kernel named \"", name, "\" (OpenCL status ",
                       status, ")");
    auto made = sycl::make_kernel<sycl::backend::opencl>(kernel, sycl_context(device_));
    XPU_CL(clReleaseKernel)(kernel);  // SYCL holds its own reference
    return made;
  }

  Bytes native() override { return binary_of(program_); }

 private:
  cl_program program_;
  int device_;
};

struct Handles {
  cl_context context;
  cl_device_id device;
  explicit Handles(int index)
      : context(sycl::get_native<sycl::backend::opencl>(sycl_context(index))),
        device(sycl::get_native<sycl::backend::opencl>(sycl_device(index))) {}
};

}  // namespace

ProgramPtr load_opencl_spirv(int device, const Bytes& spirv) {
  Handles on(device);
  cl_int status = 0;
  cl_program program = XPU_CL(clCreateProgramWithIL)(on.context, spirv.data(), spirv.size(), &status);
  expect<CompileError>(status == CL_SUCCESS, "the driver cannot read this SPIR-V (OpenCL status ", status,
                       ")");
  auto loaded = std::make_unique<OpenClProgram>(program, device);
  status = XPU_CL(clBuildProgram)(program, 1, &on.device, "", nullptr, nullptr);
  expect<CompileError>(status == CL_SUCCESS, "the driver cannot build this SPIR-V (OpenCL status ", status,
                       "):\n", build_log(program, on.device));
  return loaded;
}

ProgramPtr load_opencl_binary(int device, const Bytes& binary) {
  Handles on(device);
  const unsigned char* data = binary.data();
  std::size_t size = binary.size();
  cl_int accepted = 0, status = 0;
  cl_program program =
      XPU_CL(clCreateProgramWithBinary)(on.context, 1, &on.device, &size, &data, &accepted, &status);
  if (status != CL_SUCCESS) return nullptr;
  auto loaded = std::make_unique<OpenClProgram>(program, device);
  return XPU_CL(clBuildProgram)(program, 1, &on.device, "", nullptr, nullptr) == CL_SUCCESS
             ? std::move(loaded)
             : nullptr;
}

Bytes opencl_binary(const sycl::kernel_bundle<sycl::bundle_state::executable>& bundle) {
  if (bundle.get_backend() != sycl::backend::opencl) return {};
  auto programs = sycl::get_native<sycl::backend::opencl>(bundle);
  Bytes binary = programs.size() == 1 ? binary_of(programs[0]) : Bytes{};
  for (auto program : programs) XPU_CL(clReleaseProgram)(program);
  return binary;
}

}  // namespace xpu
