#include "kernels/index/indexed.h"
#include "process/immortal.h"

#include <algorithm>
#include <cstdlib>
#include <numeric>

#include "compile/source/embedded.h"
#include "kernels/call.h"
#include "kernels/contiguous_access.h"
#include "kernels/dtype_text.h"
#include "kernels/require.h"
#include "xpu/fault.h"

namespace xpu::kernels {
namespace {

// The order of operands in the geometry.
enum Operand { elements_operand, target_operand, first_index };

// The type as which the bits of an element are copied. A GPU loads 16 bytes at once if they are aligned.
const char* word_type(std::size_t bytes, bool aligned) {
  if (aligned) return "Aligned16";
  switch (bytes) {
    case 1:
      return "u8";
    case 2:
      return "u16";
    case 4:
      return "u32";
    case 8:
      return "u64";
    default:
      return "Array<u64, 2>";
  }
}

struct PlacedOperands {
  Geometry geometry, sequence;  // the sequence is of a line, or empty
  std::size_t element;          // bytes
  char *elements, *target;
  std::int64_t step[IndexedAccess::max_indices];  // of the target, in elements

  bool is_aligned16() const {
    auto whole = [](const char* p) { return reinterpret_cast<std::uintptr_t>(p) % 16 == 0; };
    return element == 16 && whole(elements) && whole(target);
  }
};

// The elements of the fastest dimension lie side by side and share their indices.
bool has_rows(const Geometry& g) {
  bool row = g.stride[elements_operand][0] == 1 && g.stride[target_operand][0] == 1;
  for (int k = first_index; k < g.operands; ++k) row = row && g.stride[k][0] == 0;
  return row;
}

PlacedOperands place_operands(const AccessKernel& spec) {
  auto& a = spec.access;
  PlacedOperands p{};
  auto& g = p.geometry;
  // Positions are those in a row-major target.
  std::int64_t contiguous[Tensor::max_dims], next = 1;
  for (int d = a.target.ndim - 1; d >= 0; --d) contiguous[d] = next, next *= a.target.shape[d];
  const std::int64_t* strides = spec.target_is_position ? contiguous : a.target.strides;
  g.operands = p.sequence.operands = first_index + a.indices;
  for (int d = a.elements.ndim - 1; d >= 0; --d) {
    auto& to = spec.line_per_item && !is_conflict_free_dim(a, d) ? p.sequence : g;
    to.size[to.dims] = a.elements.shape[d];
    to.stride[elements_operand][to.dims] = a.elements.strides[d];
    to.stride[target_operand][to.dims] =
        a.target_dims[d] == IndexedAccess::no_dim ? 0 : strides[a.target_dims[d]];
    for (int k = 0; k < a.indices; ++k) to.stride[first_index + k][to.dims] = a.index[k].values.strides[d];
    ++to.dims;
  }
  for (int k = 0; k < a.indices; ++k) p.step[k] = strides[a.index[k].dim];
  simplify(g, spec.keep_order);
  if (spec.line_per_item) simplify(p.sequence, true);
  p.element = size_of(a.elements.dtype);
  auto first = [&](const Tensor& t, int operand) {
    return static_cast<char*>(t.data) + g.offset[operand] * static_cast<std::int64_t>(size_of(t.dtype));
  };
  p.elements = first(a.elements, elements_operand);
  p.target = spec.target_is_position ? nullptr : first(a.target, target_operand);
  return p;
}

// Elements of a row become one larger element, unless the row would then be too short for `lanes`.
void widen(PlacedOperands& p, int indices, std::size_t max_bytes, int lanes) {
  auto& g = p.geometry;
  bool row = has_rows(g), fills_lanes = g.size[0] >= lanes;
  auto fits = [&](std::size_t bytes) {
    auto ratio = static_cast<std::int64_t>(bytes / p.element);
    auto whole = [&](std::int64_t n) { return n % ratio == 0; };
    bool all = whole(g.size[0]) && (!fills_lanes || g.size[0] / ratio >= lanes) &&
               reinterpret_cast<std::uintptr_t>(p.elements) % bytes == 0 &&
               reinterpret_cast<std::uintptr_t>(p.target) % bytes == 0;
    for (int d = 1; d < g.dims; ++d)
      all = all && whole(g.stride[elements_operand][d]) && whole(g.stride[target_operand][d]);
    for (int k = 0; k < indices; ++k) all = all && whole(p.step[k]);
    return all;
  };
  std::size_t bytes = max_bytes;
  while (bytes > p.element && !(row && fits(bytes))) bytes /= 2;
  if (bytes <= p.element) return;
  auto ratio = static_cast<std::int64_t>(bytes / p.element);
  g.size[0] /= ratio;
  for (int d = 1; d < g.dims; ++d)
    g.stride[elements_operand][d] /= ratio, g.stride[target_operand][d] /= ratio;
  for (int k = 0; k < indices; ++k) p.step[k] /= ratio;
  p.element = bytes;
  simplify(g, true);
}

// A sequence reads its values and indices one after the other, and the indices count single elements of the
// target.
bool has_unit_steps(const PlacedOperands& p, int indices) {
  auto& s = p.sequence;
  bool unit = s.dims == 1 && s.stride[elements_operand][0] == 1 && s.stride[target_operand][0] == 0;
  for (int k = 0; k < indices; ++k) unit = unit && s.stride[first_index + k][0] == 1 && p.step[k] == 1;
  return unit;
}

// True if offsets in one of the operands need more than 31 bits.
bool needs_wide_index(const IndexedAccess& a) {
  auto far = [](const Tensor& t) {
    std::int64_t reach = 0;
    for (int d = 0; d < t.ndim; ++d) reach += (t.shape[d] - 1) * std::abs(t.strides[d]);
    return reach > 0x7fffffff || t.numel() > 0x7fffffff;
  };
  bool any = far(a.target) || far(a.elements);
  for (int k = 0; k < a.indices; ++k) any = any || far(a.index[k].values);
  return any;
}

std::uint64_t flags(const IndexedAccess& a) {
  return static_cast<std::uint64_t>(a.out_of_range) | (a.wraps ? 4u : 0u) | (a.skips ? 8u : 0u);
}

// How an item loops over its line; see AccessKernel::line_per_item.
struct Sequence {
  int dims = 0;           // 0: an item has one point
  bool together = false;  // all lanes compute the same line
  bool unit = false;      // see has_unit_steps
  bool rows = false;      // the lines are pieces of rows

  void add_to(KeyBits& key) const {
    key.add(6, static_cast<std::uint64_t>(dims)).add(1, together).add(1, unit).add(1, rows);
  }
};

std::string source_of(const AccessKernel& spec, const Plan& plan, const Sequence& sequence,
                      const Tuning& tuning, std::size_t element, bool aligned, const std::string& text) {
  auto& a = spec.access;
  auto& v = plan.variant;
  std::string s = "#include <xpu/fault.h>\n#include <xpu/group.h>\n";
  if (is_complex(a.elements.dtype) && spec.is_arithmetic) s += "#include <xpu/complex.h>\n";
  auto line = [&](const auto&... parts) { s += join(parts..., "\n"); };
  line("using namespace xpu;");
  line("typedef u64 Aligned16 __attribute__((ext_vector_type(2)));");
  line("using V = ", spec.is_arithmetic ? storage_type(a.elements.dtype) : word_type(element, aligned), ";");
  line("using Index = ", v.wide_index ? "i64" : "i32", ";");
  const char* target = spec.target_is_position ? "i64" : "global<V>";
  std::string declared = join("global<V> elements, ", target, " target"), names = "elements, target", fields,
              loads, steps;
  for (int k = 0; k < a.indices; ++k) {
    auto type = join("global<const ", storage_type(a.index[k].values.dtype), ">");
    declared += join(", ", type, " index", k);
    names += join(", index", k);
    fields += join(type, " index", k, "; ");
    steps += join(" x.index", k, " += by[", first_index + k, "];");
    loads += join(" values[", k, "] = (i64)x.index", k, "[at[", first_index + k, "]];");
  }
  line("#define XPU_NAME ", spec.name);
  line("#define XPU_OPERANDS ", int{v.operands});
  line("#define XPU_PATH ", static_cast<int>(v.path));
  line("#define XPU_DIMS ", int{v.dims});
  line("#define XPU_VECTOR 1");
  line("#define XPU_LANES ", tuning.sub_group);
  line("#define XPU_SUB_GROUPS ", tuning.sub_groups);
  line("#define XPU_GATHERS ", v.gathers() ? 1 : 0);
  std::string kinds;
  for (int k = 0; k < v.operands; ++k) kinds += join(k ? ", " : "", v.kind(k));
  line("#define XPU_KINDS ", kinds);
  line("#define XPU_POINTERS ", declared, ", global<FaultRecord> record");
  line("#define XPU_POINTER_NAMES ", names, ", record");
  line("#define INDICES ", a.indices);
  line("#define CLAMP ", a.out_of_range == OutOfRange::clamp ? 1 : 0);
  line("#define FAULT ", a.out_of_range == OutOfRange::fault ? 1 : 0);
  line("#define WRAPS ", a.wraps ? 1 : 0);
  line("#define SKIPS ", a.skips ? 1 : 0);
  line("#define SEQUENCE_DIMS ", sequence.dims);
  line("#define UNIT_STEPS ", sequence.unit ? 1 : 0);
  line("#define XPU_ROWS ", sequence.rows ? 1 : 0);
  line("#define LOAD_INDICES(values, x, at)", loads);
  line("struct Pointers { global<V> elements; ", target, " target; ", fields,
       "global<FaultRecord> record; i32 columns; };");
  line("XPU_FN void advance(Pointers& x, const i64* by) { x.elements += by[0]; x.target += by[1];", steps,
       " }");
  s += text;
  s += kernel_source("indexed.sycl");
  s += kernel_source(sequence.rows ? "combine_rows.sycl" : "elementwise.sycl");
  return s;
}

constexpr const char* gather_text = R"(
#define GATHERS_ELEMENTS (XPU_SUB_GROUPS > 1)
XPU_FN void visit(const Pointers& x, Index at, Index target) { x.elements[at] = x.target[target]; }
XPU_FN void visit_invalid(const Pointers&, Index) {}
)";
constexpr const char* scatter_text = R"(
XPU_FN void visit(const Pointers& x, Index at, Index target) { x.target[target] = x.elements[at]; }
XPU_FN void visit_invalid(const Pointers&, Index) {}
)";

}  // namespace

IndexedAccess::Index& IndexedAccess::add_index(const Tensor& values, int dim) {
  expect<Unsupported>(indices < max_indices, name, ": got more than ", int{max_indices},
                      " index tensors; join some of them into one flat index");
  auto& added = index[indices++];
  added.values = values;
  added.dim = dim;
  added.last = target.shape[dim] - 1;
  return added;
}

bool is_conflict_free_dim(const IndexedAccess& a, int d) {
  if (a.target_dims[d] == IndexedAccess::no_dim) return false;
  for (int k = 0; k < a.indices; ++k)
    if (a.index[k].dim == a.target_dims[d]) return false;
  return true;
}

std::int64_t line_count(const IndexedAccess& a) {
  std::int64_t count = 1;
  for (int d = 0; d < a.elements.ndim; ++d)
    if (is_conflict_free_dim(a, d)) count *= a.elements.shape[d];
  return count;
}

bool is_empty_access(const IndexedAccess& a) {
  if (a.elements.numel() == 0) return true;
  if (a.target.numel() != 0) return false;
  expect<UsageError>(a.out_of_range == OutOfRange::drop, a.name, ": ", a.target,
                     " has no elements, so every index is out of range; got ", a.elements.numel(),
                     " of them, expected none");
  return true;
}

void enqueue_access(Stream stream, const AccessKernel& spec, KernelTable& table,
                    const std::function<std::string()>& text) {
  auto& a = spec.access;
  int device = stream.device();
  Tuning tune = tuning(device);
  PlacedOperands p = place_operands(spec);
  // A line is enough work for an item, so each tile is one vector of lines.
  if (spec.line_per_item) tune.min_tile_length = 1;
  int lanes = tune.sub_group;
  Sequence sequence;
  if (spec.line_per_item) {
    sequence.dims = kernel_dims(p.sequence.dims, {1, 2, 4});
    // A CPU reads one long contiguous line faster than it gathers from several. All lanes then compute the
    // same line, which its compiler turns into scalar code.
    bool scattered = p.geometry.count == 1 || p.geometry.stride[elements_operand][0] != 1;
    sequence.together = tune.sub_groups == 1 && scattered && p.sequence.size[0] >= lanes &&
                        p.sequence.stride[elements_operand][0] == 1;
    sequence.unit = sequence.together && has_unit_steps(p, a.indices);
    sequence.rows = !sequence.together && p.geometry.dims == 1 && has_rows(p.geometry);
  }
  if (sequence.together) tune.sub_group = 1;
  if (!spec.is_arithmetic && !spec.target_is_position && !spec.line_per_item)
    widen(p, a.indices, std::max<std::size_t>(8, static_cast<std::size_t>(tune.lane_bytes)), tune.sub_group);
  Variant v;
  v.operands = static_cast<std::uint8_t>(p.geometry.operands);
  v.dtype[elements_operand] = v.dtype[target_operand] =
      spec.is_arithmetic ? a.elements.dtype : dtype_of_width(p.element);
  for (int k = 0; k < a.indices; ++k) v.dtype[first_index + k] = a.index[k].values.dtype;
  v.wide_index = sequence.together || needs_wide_index(a);  // scalar code gains nothing from short offsets
  // Reading an index once for a whole row is worth more than keeping all lanes busy.
  Plan plan = has_rows(p.geometry) ? plan_over(p.geometry, v, spec.keep_order, tune.sub_group)
                                   : plan_over(p.geometry, v, spec.keep_order);
  expect<Unsupported>(!plan.exceeds_kernel_dims(), a.name, ": got ", plan.geometry.dims,
                      " dimensions that do not lie one inside the other, expected at most ",
                      int{Geometry::max_kernel_dims}, "; make the tensors contiguous");
  // A sub-group takes a piece of the rows: as long as possible, but each compute unit gets some.
  std::int64_t columns = plan.geometry.size[0], vectors = (columns + tune.sub_group - 1) / tune.sub_group;
  std::int64_t piece = std::clamp<std::int64_t>(vectors * 8 / tune.tiles, 1, tune.max_tile_length);
  auto bits = plan.variant.key_bits(device);
  sequence.add_to(bits);
  bool aligned = tune.sub_groups > 1 && !spec.is_arithmetic && !spec.target_is_position && p.is_aligned16();
  KernelKey key = bits.add(4, flags(a)).add(1, aligned).key();
  Kernel kernel = table.find_or_make(key, [&] {
    return build_shared_kernel(device, source_of(spec, plan, sequence, tune, p.element, aligned, text()),
                               spec.name);
  });
  Args args;
  args.add(static_cast<void*>(p.elements));
  spec.target_is_position ? args.add(p.geometry.offset[target_operand])
                          : args.add(static_cast<void*>(p.target));
  for (int k = 0; k < a.indices; ++k)
    add_pointer(args, a.name, a.index[k].values, p.geometry.offset[first_index + k]);
  args.add(fault_record(device));
  PackedStruct parameters;
  for (int k = 0; k < a.indices; ++k)
    parameters.add(a.target.shape[a.index[k].dim]).add(a.index[k].last).add(p.step[k]);
  std::uint32_t code = a.out_of_range != OutOfRange::fault
                           ? 0
                           : fault_code(a.name, "index {a} is out of range for a dimension of size {b}");
  parameters.add(a.skip).add(code).add(std::uint32_t{0});
  if (spec.line_per_item) {
    int operands[Geometry::max_operands];
    std::iota(operands, operands + p.sequence.operands, 0);
    parameters.add(p.sequence.count)
        .add_shape(p.sequence, sequence.dims, {operands, static_cast<std::size_t>(p.sequence.operands)});
  }
  parameters.pass(args);
  NdRange range =
      sequence.rows ? tile_range(tune, (vectors + piece - 1) / piece) : add_geometry(args, tune, plan);
  if (sequence.rows) PackedStruct().add(columns).add(piece * tune.sub_group).pass(args);
  if (sequence.together) range = NdRange::linear(range.global[0], static_cast<std::size_t>(lanes));
  launch(stream, kernel, range, args,
         2 * size_of(a.elements.dtype) * static_cast<std::size_t>(a.elements.numel()));
}

void gather_elements(Stream stream, const IndexedAccess& access) {
  if (is_empty_access(access)) return;
  if (needs_contiguous(access)) {
    ContiguousAccess contiguous(stream, access, ContiguousAccess::Writes::elements);
    gather_elements(stream, contiguous.access());
    return contiguous.finish();
  }
  static auto& table = immortal<KernelTable>();
  enqueue_access(stream, {"gather_elements", access}, table, [] { return gather_text; });
}

void scatter_elements(Stream stream, const IndexedAccess& access) {
  if (is_empty_access(access)) return;
  if (needs_contiguous(access)) {
    ContiguousAccess contiguous(stream, access, ContiguousAccess::Writes::target);
    scatter_elements(stream, contiguous.access());
    return contiguous.finish();
  }
  static auto& table = immortal<KernelTable>();
  enqueue_access(stream, {"scatter_elements", access}, table, [] { return scatter_text; });
}

}  // namespace xpu::kernels
