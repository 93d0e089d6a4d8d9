#include "xpu/kernels/select.h"

#include <algorithm>

#include "compile/source/embedded.h"
#include "kernels/call.h"
#include "kernels/contiguous.h"
#include "kernels/dtype_text.h"
#include "kernels/index/access.h"
#include "kernels/kernel_table.h"
#include "kernels/reciprocal.h"
#include "kernels/require.h"
#include "kernels/tuning.h"
#include "process/immortal.h"
#include "xpu/copy.h"
#include "xpu/fault.h"
#include "xpu/kernels/copy.h"
#include "xpu/kernels/scan.h"

namespace xpu::kernels {
namespace {

constexpr std::int64_t chunk_vectors = 64;
// Positions in a chunk are added to those of its beginning in 31 bits if dimensions are at most this long.
constexpr std::int64_t longest_near = 1 << 30;

// As in the kernel source.
struct Chunks {
  std::int64_t n, chunk;
};
struct Line {
  std::int64_t size, stride;
};

const char* word_type(DType dtype) {
  return size_of(dtype) == 16 ? "xpu::Array<xpu::u64, 2>" : storage_type(bits_type(dtype));
}

// Of a float all but the sign.
const char* mask_bits(DType dtype) {
  if (dtype == DType::c64) return "0x7fffffff7fffffffu";
  if (!is_float(dtype) && !is_complex(dtype)) return "~0ull";
  switch (size_of(dtype)) {
    case 1:
      return "0x7fu";
    case 2:
      return "0x7fffu";
    case 4:
      return "0x7fffffffu";
    default:
      return "0x7fffffffffffffffu";
  }
}

enum class Which : std::uint8_t { count, positions, gather, scatter };
constexpr const char* names[] = {"count_chunks", "write_positions", "gather_chosen", "scatter_chosen"};

// What a kernel is built for.
struct Form {
  DType mask, value;
  int per_lane;  // elements of the mask that a lane looks at together
  int dims = 1;
  bool far = false;  // positions need 64 bits
};

Kernel kernel_of(int device, Which which, const Form& form) {
  static auto& table = immortal<KernelTable>();
  auto bits = KeyBits().add(8, static_cast<std::uint64_t>(device)).add(2, static_cast<std::uint64_t>(which));
  bits.add(8, static_cast<std::uint64_t>(form.mask)).add(8, static_cast<std::uint64_t>(form.value));
  bits.add(3, static_cast<std::uint64_t>(form.per_lane)).add(7, static_cast<std::uint64_t>(form.dims));
  return table.find_or_make(bits.add(1, form.far).key(), [&] {
    auto out = which == Which::positions ? storage_type(form.value) : "int";
    auto source =
        join("#include <xpu/core.h>\nusing Mask = ", word_type(form.mask),
             ";\nusing Value = ", word_type(form.value), ";\nusing Out = ", out, ";\n#define MASK_BITS ",
             mask_bits(form.mask), "\n#define PER_LANE ", form.per_lane, "\n#define DIMS ",
             std::max(form.dims, 1), "\n#define FAR ", form.far ? 1 : 0, "\n", kernel_source("select.sycl"));
    return build_shared_kernel(device, source, names[static_cast<int>(which)]);
  });
}

}  // namespace

struct Selection::State {
  State(Stream on, const Tensor& m) : stream(on), shape(m), mask(on, m), n(m.numel()) {}

  Stream stream;
  Tensor shape;  // of the mask
  ContiguousInput mask;
  std::int64_t n, chunk = 0, chunks = 0;
  ScratchBuffer sums;

  Chunks pieces() const { return {n, chunk}; }
  NdRange range() const { return tile_range(tuning(stream.device()), chunks); }
  Kernel kernel(Which which, DType value, int dims = 1, bool far = false) const {
    auto place = reinterpret_cast<std::uintptr_t>(mask.tensor().data);
    int per_lane = size_of(shape.dtype) == 1 && place % 4 == 0 ? 4 : 1;
    return kernel_of(stream.device(), which, {shape.dtype, value, per_lane, dims, far});
  }
  Args begin() const {
    Args list = args(mask.tensor().data, sums.data(), pieces());
    return list;
  }
};

Selection::Selection(Stream stream, const Tensor& mask) {
  expect<Unsupported>(size_of(mask.dtype), "select: the mask is ", mask,
                      ", whose elements are packed two to a byte; copy to i8 or u8 first");
  require_memory("select", mask);
  state_ = std::make_unique<State>(stream, mask);
  auto& s = *state_;
  if (s.n == 0) return;
  s.chunk = chunk_vectors * tuning(stream.device()).sub_group;
  s.chunks = (s.n + s.chunk - 1) / s.chunk;
  s.sums = ScratchBuffer(stream, static_cast<std::size_t>(s.chunks) * sizeof(std::int64_t));
  launch(stream, s.kernel(Which::count, DType::u8), s.range(), s.begin(),
         static_cast<std::size_t>(s.n) * size_of(mask.dtype));
  Tensor line(s.sums.data(), DType::i64, {s.chunks});
  cumsum(stream, line, line, 0);
}

Selection::~Selection() = default;

std::int64_t Selection::count() const {
  auto& s = *state_;
  if (s.n == 0) return 0;
  std::int64_t total = 0;
  xpu::copy(s.stream, &total, s.sums.as<std::int64_t>() + s.chunks - 1, sizeof total);
  s.stream.synchronize();
  return std::clamp<std::int64_t>(total, 0, s.n);
}

void Selection::positions(const Tensor& out) const {
  auto& s = *state_;
  int dims = s.shape.ndim;
  expect<UsageError>(out.dtype == DType::i64 || out.dtype == DType::i32, "nonzero: the output is ", out,
                     ", expected i64 or i32");
  expect<UsageError>(out.ndim == 2 && out.shape[1] == dims, "nonzero: the output is ", out,
                     ", expected two dimensions, the second of size ", dims);
  require_no_overlap("nonzero", out);
  require_memory("nonzero", out);
  if (s.n == 0 || out.numel() == 0) return;
  Args list = s.begin();
  list.add(out.data).add(Line{out.shape[0], out.strides[0]}).add(out.strides[1]);
  PackedStruct sizes;
  for (int d = 0; d < dims; ++d) sizes.add(s.shape.shape[d]);
  bool far = false;
  for (int d = 0; d < dims; ++d) far = far || s.shape.shape[d] > longest_near;
  for (int d = 0; d < dims; ++d)
    sizes.add(reciprocal_of(static_cast<std::uint32_t>(far ? 1 : s.shape.shape[d])));
  sizes.pass(list);
  launch(s.stream, s.kernel(Which::positions, out.dtype, dims, far), s.range(), list,
         static_cast<std::size_t>(out.numel()) * size_of(out.dtype));
}

void Selection::gather(const Tensor& out, const Tensor& x) const {
  auto& s = *state_;
  expect<UsageError>(out.ndim == 1 && out.dtype == x.dtype, "masked_select: the output is ", out,
                     ", expected one dimension and the dtype of ", x);
  expect<Unsupported>(size_of(x.dtype), "masked_select: elements of ", name_of(x.dtype),
                      " are packed two to a byte and have no address; copy to i8 or u8 first");
  require_no_overlap("masked_select", out);
  Tensor whole = broadcast_to("masked_select", "the input", x, s.shape);
  if (s.n == 0 || out.numel() == 0) return;
  require_memory("masked_select", out);
  require_memory("masked_select", x);
  ContiguousInput contiguous(s.stream, whole);
  Args list = s.begin();
  list.add(out.data).add(Line{out.shape[0], out.strides[0]}).add(contiguous.tensor().data);
  launch(s.stream, s.kernel(Which::gather, x.dtype), s.range(), list,
         static_cast<std::size_t>(s.n) * size_of(x.dtype));
}

void Selection::scatter(const Tensor& out, const Tensor& source) const {
  auto& s = *state_;
  expect<UsageError>(same_shape(out, s.shape), "masked_scatter: the output is ", out,
                     ", expected the shape of ", s.shape);
  expect<UsageError>(out.dtype == source.dtype, "masked_scatter: the source is ", source,
                     ", expected the dtype of ", out);
  expect<Unsupported>(size_of(out.dtype), "masked_scatter: elements of ", name_of(out.dtype),
                      " are packed two to a byte and have no address; copy to i8 or u8 first");
  require_no_overlap("masked_scatter", out);
  require_memory("masked_scatter", out);
  require_memory("masked_scatter", source);
  if (s.n == 0) return;
  ContiguousInput values(s.stream, source), written(s.stream, out);
  std::uint32_t code =
      fault_code("masked_scatter", "chosen element {a}, counted from 0, has no value: the source has {b}");
  Args list = s.begin();
  list.add(written.tensor().data).add(source.numel()).add(values.tensor().data);
  list.add(fault_record(s.stream.device())).add(code);
  launch(s.stream, s.kernel(Which::scatter, out.dtype), s.range(), list,
         static_cast<std::size_t>(s.n) * size_of(out.dtype));
  if (written.tensor().data != out.data) kernels::copy(s.stream, out, written.tensor());
}

}  // namespace xpu::kernels
