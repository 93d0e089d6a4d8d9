#include "dnn/attention/dropout.h"

#include <algorithm>

#include "compile/source/embedded.h"
#include "dnn/kernel_step.h"
#include "kernels/kernel_table.h"
#include "process/immortal.h"
#include "xpu/error.h"
#include "xpu/launch.h"

namespace xpu::dnn {
namespace {

const char dropout_name[] = "attention_dropout";

// As the kernel declares it.
struct Shape {
  std::int64_t length, keys, size[4], of_query[4], first;
  Dropout dropout;
};

}  // namespace

QueryNumbers::QueryNumbers(const Tensor& q, std::int64_t image, std::int64_t group, std::int64_t query) {
  of_query[3] = 1;
  for (int d = 2; d >= 0; --d) of_query[d] = of_query[d + 1] * q.shape[d + 1];
  first = image * of_query[0] + group * of_query[1] + query;
}

void drop_attention(Stream stream, const Tensor& weights, std::int64_t keys, const QueryNumbers& numbers,
                    const AttentionOptions& options) {
  static auto& table = immortal<kernels::KernelTable>();
  int device = stream.device();
  kernels::KernelKey key{static_cast<std::uint64_t>(device), static_cast<std::uint64_t>(weights.dtype)};
  auto kernel = table.find_or_make(key, [&] {
    auto source =
        join("#define XPU_P ", kernel_type(weights.dtype), "\n", kernel_source("attention_dropout.sycl"));
    return build_shared_kernel(device, source, dropout_name);
  });
  Shape s{weights.shape[4], keys, {}, {}, numbers.first, Dropout(options)};
  std::copy_n(weights.shape, 4, s.size);
  std::copy_n(numbers.of_query, 4, s.of_query);
  auto rows = static_cast<std::size_t>(weights.numel() / weights.shape[4]);
  launch(stream, kernel, NdRange::linear(rows, row_group(device)), args(weights.data, s));
}

}  // namespace xpu::dnn
