#include "kernels/copy/packed_copy.h"

#include "compile/source/embedded.h"
#include "kernels/dtype_text.h"
#include "kernels/kernel_table.h"
#include "process/immortal.h"
#include "xpu/copy.h"
#include "xpu/error.h"

namespace xpu::kernels {
namespace {

bool is_packed(const Tensor& t) {
  return size_of(t.dtype) == 0;
}

void check(const Tensor& dst, const Tensor& src) {
  bool same = dst.ndim == src.ndim;
  for (int d = 0; same && d < dst.ndim; ++d) same = dst.shape[d] == src.shape[d];
  expect<UsageError>(same && dst.contiguous() && src.contiguous(), "copy: from ", src, " to ", dst,
                     ": with a dtype that is packed two to a byte both must be contiguous and of one shape");
  expect<Unsupported>(!is_complex(dst.dtype) && !is_complex(src.dtype), "copy: from ", src, " to ", dst,
                      ": there is no conversion between complex and packed integers");
}

SharedKernel build(int device, DType element, bool is_signed, bool packs) {
  auto source = join("#include <xpu/complex.h>\nusing Element = ", storage_type(element),
                     ";\nusing Value = ", value_type(element), ";\n#define XPU_SIGNED ", is_signed ? 1 : 0,
                     "\n", kernel_source("packed.sycl"));
  return build_shared_kernel(device, source, packs ? "pack" : "unpack");
}

void run(Stream stream, void* dst, const void* src, DType element, DType packed, bool packs,
         std::int64_t count) {
  static auto& kernels = immortal<KernelTable>();
  bool is_signed = packed == DType::i4;
  int device = stream.device();
  KernelKey key{static_cast<std::uint64_t>(device),
                static_cast<std::uint64_t>(element) << 2 | (is_signed ? 2u : 0u) | (packs ? 1u : 0u)};
  Kernel kernel = kernels.find_or_make(key, [&] { return build(device, element, is_signed, packs); });
  constexpr std::size_t group = 256;
  auto items = static_cast<std::size_t>(count + 1) / 2;
  launch(stream, kernel, NdRange::linear((items + group - 1) / group, group), args(dst, src, count));
}

}  // namespace

void copy_packed(Stream stream, const Tensor& dst, const Tensor& src) {
  check(dst, src);
  std::int64_t count = dst.numel();
  if (!is_packed(dst)) return run(stream, dst.data, src.data, dst.dtype, src.dtype, false, count);
  if (!is_packed(src)) return run(stream, dst.data, src.data, src.dtype, dst.dtype, true, count);
  // Between u4 and i4 the bits stay.
  xpu::copy(stream, dst.data, src.data, static_cast<std::size_t>(count + 1) / 2);
}

}  // namespace xpu::kernels
