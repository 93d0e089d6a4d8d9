#include <algorithm>
#include <bit>

#include "compile/source/embedded.h"
#include "kernels/call.h"
#include "kernels/dtype_text.h"
#include "kernels/index/combine.h"
#include "kernels/sort/group_keys.h"
#include "kernels/tuning.h"
#include "process/immortal.h"

namespace xpu::kernels {
namespace {

constexpr const char* keys_text = R"(
XPU_FN void visit(const Pointers& x, Index at, Index target) { x.elements[at] = (V)(x.target + target); }
XPU_FN void visit_invalid(const Pointers& x, Index at) { x.elements[at] = ~(V)0; }
)";

// True for a dimension along which the indices do not vary and to whose target dimension no index adds.
bool in_window(const IndexedAccess& a, int d) {
  if (a.target_dims[d] == IndexedAccess::no_dim) return false;
  for (int k = 0; k < a.indices; ++k)
    if (a.index[k].dim == a.target_dims[d] || a.index[k].values.strides[d] != 0) return false;
  return true;
}

void append(Geometry& g, std::int64_t size, std::int64_t first, std::int64_t second = 0) {
  g.size[g.dims] = size;
  g.stride[0][g.dims] = first;
  g.stride[1][g.dims++] = second;
}

// An access in two parts: over windows of the target, which keys number, and within one window.
struct Split {
  IndexedAccess keys;                 // the caller sets the memory of `elements`
  Geometry targets, updates, window;  // offsets in the target by key; in `elements`; in both
};

Split split(const IndexedAccess& a) {
  Split s{a, {}, {}, {}};
  auto& k = s.keys;
  s.targets.operands = s.updates.operands = 1;
  s.window.operands = 2;
  k.elements.ndim = k.target.ndim = 0;
  int key_dim[Tensor::max_dims];
  bool outside[Tensor::max_dims] = {};
  for (int d = 0; d < a.elements.ndim; ++d)
    if (in_window(a, d)) outside[a.target_dims[d]] = true;
  for (int d = 0; d < a.target.ndim; ++d) {
    key_dim[d] = IndexedAccess::no_dim;
    if (outside[d]) continue;
    key_dim[d] = k.target.ndim;
    k.target.strides[k.target.ndim] = a.target.strides[d];
    k.target.shape[k.target.ndim++] = a.target.shape[d];
  }
  for (int i = 0; i < a.indices; ++i) k.index[i].dim = key_dim[a.index[i].dim], k.index[i].values.ndim = 0;
  for (int d = 0; d < a.elements.ndim; ++d) {
    if (in_window(a, d)) continue;
    int to = k.elements.ndim++;
    k.elements.shape[to] = a.elements.shape[d];
    k.target_dims[to] =
        a.target_dims[d] == IndexedAccess::no_dim ? IndexedAccess::no_dim : key_dim[a.target_dims[d]];
    for (int i = 0; i < a.indices; ++i) {
      k.index[i].values.ndim = to + 1;
      k.index[i].values.shape[to] = a.elements.shape[d];
      k.index[i].values.strides[to] = a.index[i].values.strides[d];
    }
  }
  for (int d = a.target.ndim - 1; d >= 0; --d)
    if (!outside[d]) append(s.targets, a.target.shape[d], a.target.strides[d]);
  for (int d = a.elements.ndim - 1; d >= 0; --d) {
    if (in_window(a, d))
      append(s.window, a.elements.shape[d], a.target.strides[a.target_dims[d]], a.elements.strides[d]);
    else
      append(s.updates, a.elements.shape[d], a.elements.strides[d]);
  }
  // Targets and updates are numbered in row-major order, so their dimensions keep it.
  simplify(s.targets, true);
  simplify(s.updates, true);
  simplify(s.window, true);
  return s;
}

std::uint8_t dims_of(const Geometry& g) {
  return kernel_dims(g.dims, {1, 2, 4});
}

void pass(Args& args, const Geometry& g, std::span<const int> operands) {
  PackedStruct packed;
  packed.add_shape(g, dims_of(g), operands).pass(args);
}

// Updates in a block, and vectors of a window in a tile; the latter as in the kernel source.
constexpr std::int64_t block_size = 512, tile_vectors = 4;

// The last step: the kernels of kernels/combine_groups.sycl.
struct GroupCombiner {
  Stream stream;
  const IndexedAccess& access;
  Combiner::State& state;
  const Split& split;
  bool rows, wide;

  std::string source() const {
    DType dtype = access.target.dtype;
    const char* bits = size_of(dtype) == 16 ? "xpu::Array<xpu::u64, 2>" : storage_type(bits_type(dtype));
    return join("#include <xpu/", is_complex(dtype) ? "complex" : "convert",
                ".h>\nusing V = ", state.replaces ? bits : storage_type(dtype), ";\n",
                arithmetic_text(state, dtype), "using Word = ", wide ? "xpu::u64" : "xpu::u32",
                ";\n#define ROWS ", rows ? 1 : 0, "\n#define BLOCK ", block_size, "\n#define TARGET_DIMS ",
                int{dims_of(split.targets)}, "\n#define UPDATE_DIMS ", int{dims_of(split.updates)},
                "\n#define WINDOW_DIMS ", int{dims_of(split.window)}, "\n",
                kernel_source("combine_groups.sycl"));
  }

  Kernel kernel(const char* name, bool finish) const {
    DType dtype = access.target.dtype;
    KernelKey key{static_cast<std::uint64_t>(stream.device())};
    for (std::uint64_t part :
         {std::uint64_t{dims_of(split.targets)}, std::uint64_t{dims_of(split.updates)},
          std::uint64_t{dims_of(split.window)}, std::uint64_t{rows}, std::uint64_t{wide},
          std::uint64_t{finish}, state.replaces ? size_of(dtype) : static_cast<std::uint64_t>(dtype)})
      key.low = key.low << 5 | part;
    return state.groups.find_or_make(key,
                                     [&] { return build_shared_kernel(stream.device(), source(), name); });
  }

  void run(const KeyGroups& groups) const {
    auto& tune = tuning(stream.device());
    static constexpr int first[] = {0}, both[] = {0, 1};
    std::int64_t n = split.updates.count, window = split.window.count,
                 blocks = (n + block_size - 1) / block_size;
    std::int64_t tile = rows ? tile_vectors * tune.sub_group : window, tiles = (window + tile - 1) / tile;
    std::size_t element = size_of(access.target.dtype);
    ScratchBuffer partials;
    if (blocks > 1)
      partials = ScratchBuffer(stream,
                               static_cast<std::size_t>(blocks * window) * std::max<std::size_t>(element, 4));
    Args list;
    list.add(access.target.data).add(partials.data()).add(access.elements.data);
    list.add(groups.keys.data()).add(groups.positions.data());
    PackedStruct().add(n).add(window).add(tiles).pass(list);
    pass(list, split.targets, first);
    pass(list, split.updates, first);
    pass(list, split.window, both);
    auto lanes = [&](std::int64_t items) { return (items + tune.sub_group - 1) / tune.sub_group; };
    launch(stream, kernel("combine_groups", false), tile_range(tune, rows ? n * tiles : lanes(n)), list,
           2 * static_cast<std::size_t>(n * window) * element);
    if (blocks == 1) return;
    Args rest;
    rest.add(access.target.data).add(partials.data()).add(groups.keys.data());
    PackedStruct().add(n).add(window).add(tiles).pass(rest);
    pass(rest, split.targets, first);
    pass(rest, split.window, both);
    launch(stream, kernel("finish_groups", true), tile_range(tune, lanes(blocks * window)), rest);
  }
};

}  // namespace

std::int64_t window_size(const IndexedAccess& access) {
  std::int64_t size = 1;
  for (int d = 0; d < access.elements.ndim; ++d)
    if (in_window(access, d)) size *= access.elements.shape[d];
  return size;
}

void combine_grouped(Stream stream, const IndexedAccess& access, Combiner::State& state) {
  auto& tune = tuning(stream.device());
  auto s = split(access);
  std::int64_t n = s.updates.count, places = s.targets.count;
  bool wide = n > 0xfffffffe || places > 0xfffffffe;
  DType word = wide ? DType::u64 : DType::u32;
  ScratchBuffer keys(stream, static_cast<std::size_t>(n) * size_of(word));
  s.keys.elements.data = keys.data();
  s.keys.elements.dtype = word;
  std::int64_t step = 1;
  for (int d = s.keys.elements.ndim - 1; d >= 0; --d)
    s.keys.elements.strides[d] = step, step *= s.keys.elements.shape[d];
  static auto& key_table = immortal<KernelTable>();
  enqueue_access(stream,
                 {.name = "find_keys", .access = s.keys, .target_is_position = true, .keep_order = true},
                 key_table, [] { return keys_text; });
  int bits = std::bit_width(static_cast<std::uint64_t>(places));
  auto groups = group_keys(stream, std::move(keys), n, bits, wide);

  GroupCombiner c{stream, access, state, s, s.window.count >= tune.sub_group, wide};
  c.run(groups);
}

}  // namespace xpu::kernels
