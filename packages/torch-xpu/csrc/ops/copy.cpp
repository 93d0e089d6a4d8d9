#include "ops/copy.h"

#include <ATen/MemoryOverlap.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/empty_strided.h>

#include "device/errors.h"
#include "ops/elementwise/minifloat.h"
#include "ops/tensor.h"
#include "xpu/copy.h"
#include "xpu/host_memory.h"
#include "xpu/interrupt.h"
#include "xpu/kernels/copy.h"
#include "xpu/kernels/elementwise.h"

namespace torch_xpu {
namespace {

using at::Tensor;
using xpu::kernels::Elementwise;

// `to` and `from` hold the same elements in the same order in memory, without gaps.
bool byte_for_byte(const Tensor& to, const Tensor& from) {
  return to.scalar_type() == from.scalar_type() && to.is_non_overlapping_and_dense() &&
         to.strides() == from.strides() && to.is_conj() == from.is_conj() && to.is_neg() == from.is_neg();
}

// Both are views of the same numbers: there is nothing to copy.
bool same_elements(const Tensor& to, const Tensor& from) {
  return to.is_same(from) || (to.is_alias_of(from) && to.storage_offset() == from.storage_offset() &&
                              to.sizes() == from.sizes() && to.strides() == from.strides() &&
                              to.scalar_type() == from.scalar_type() && to.is_conj() == from.is_conj() &&
                              to.is_neg() == from.is_neg());
}

// Lazy conjugates and negatives are views whose elements are not what memory holds.
const Elementwise* pending(const Tensor& to, const Tensor& from) {
  static const auto* conjugate = new Elementwise({.name = "copy_conj", .outputs = {"T(a0.re, -a0.im)"}});
  static const auto* negative = new Elementwise({.name = "copy_neg", .outputs = {"-a0"}});
  static const auto* both = new Elementwise({.name = "copy_neg_conj", .outputs = {"T(-a0.re, a0.im)"}});
  bool conj = to.is_conj() != from.is_conj(), neg = to.is_neg() != from.is_neg();
  return conj && neg ? both : conj ? conjugate : neg ? negative : nullptr;
}

bool is_complex_half(const Tensor& t) {
  return t.scalar_type() == at::kComplexHalf;
}

// Complex numbers as in memory: pairs of real ones, without a pending conjugation or negation.
Tensor pairs(const Tensor& t) {
  auto sizes = t.sizes().vec(), strides = t.strides().vec();
  for (auto& stride : strides) stride *= 2;
  sizes.push_back(2);
  strides.push_back(1);
  return at::empty({0}, t.options().dtype(c10::toRealValueType(t.scalar_type())))
      .set_(t.storage(), t.storage_offset() * 2, sizes, strides);
}

// Elements of complex64 with the same conjugates and negatives pending.
Tensor wide_like(const Tensor& t) {
  auto wide = at::empty_like(t, t.options().dtype(at::kComplexFloat));
  wide._set_conj(t.is_conj());
  wide._set_neg(t.is_neg());
  return wide;
}

void copy_on_device(const Tensor& to, const Tensor& from) {
  if (to.scalar_type() == from.scalar_type() && !with_runtime_dtype(to).is_same(to))
    return copy_on_device(with_runtime_dtype(to), with_runtime_dtype(from));
  if (is_minifloat(from)) return copy_on_device(to, minifloat_to_f32(from));
  if (is_minifloat(to)) {
    auto numbers = at::empty(to.sizes(), to.options().dtype(at::kFloat));
    copy_on_device(numbers, from);
    return f32_to_minifloat(to, numbers);
  }
  // The runtime has no complex halves: they pass through wider ones.
  if (is_complex_half(from)) {
    auto wide = wide_like(from);
    copy_on_device(pairs(wide), pairs(from));
    return copy_on_device(to, wide);
  }
  if (is_complex_half(to)) {
    auto wide = wide_like(to);
    copy_on_device(wide, from);
    return copy_on_device(pairs(to), pairs(wide));
  }
  // Names of complex and negative views vanish below: the bits say what is left to do.
  auto dst = view_of(to), src = view_of(from);
  auto stream = stream_of(to);
  if (auto* operation = pending(to, from))
    (*operation)(stream, std::span(&dst, 1), std::span(&src, 1));
  else
    xpu::kernels::copy(stream, dst, src);
}

Tensor like(const Tensor& t, c10::Device device, at::ScalarType dtype) {
  return at::empty(
      t.sizes(),
      t.options().device(device).dtype(dtype).memory_format(t.suggest_memory_format()).pinned_memory(false));
}

void wait_unless(bool may_run_on, const xpu::Stream& stream) {
  if (!may_run_on) stream.synchronize();
}

// Ordinary host memory may be freed or changed by the caller as soon as copy_() returns; pinned blocks of
// ours are kept until the stream has passed.
bool stays(const Tensor& host, bool non_blocking, const xpu::Stream& stream) {
  void* ptr = const_cast<void*>(host.const_data_ptr());
  if (!non_blocking || !xpu::host_memory::is_pinned(ptr)) return false;
  xpu::host_memory::record_stream(host.storage().mutable_data(), stream);
  return true;
}

void from_host(const Tensor& to, const Tensor& from, bool non_blocking) {
  if (!byte_for_byte(to, from)) {
    auto dense = from.is_non_overlapping_and_dense() ? from.resolve_conj().resolve_neg()
                                                     : from.resolve_conj().resolve_neg().contiguous();
    auto staged = at::empty_strided(dense.sizes(), dense.strides(),
                                    dense.options().device(to.device()).pinned_memory(false));
    from_host(staged, dense, non_blocking);
    return copy_on_device(to, staged);
  }
  auto stream = stream_of(to);
  xpu::copy(stream, to.mutable_data_ptr(), from.const_data_ptr(), to.nbytes());
  wait_unless(stays(from, non_blocking, stream), stream);
}

void to_host(const Tensor& to, const Tensor& from, bool non_blocking) {
  if (!byte_for_byte(to, from)) {
    if (!to.is_non_overlapping_and_dense() || to.is_conj() || to.is_neg()) {
      auto staged = like(to, to.device(), to.scalar_type());
      to_host(staged, from, false);
      to.copy_(staged);
      return;
    }
    auto staged =
        at::empty_strided(to.sizes(), to.strides(), to.options().device(from.device()).pinned_memory(false));
    copy_on_device(staged, from);
    return to_host(to, staged, non_blocking);
  }
  auto stream = stream_of(from);
  bool may_run_on = stays(to, non_blocking, stream);
  if (!may_run_on) xpu::wait_interruptibly(stream);
  xpu::copy(stream, to.mutable_data_ptr(), from.const_data_ptr(), to.nbytes());
  wait_unless(may_run_on, stream);
}

// On the source's stream, behind and before what the target's holds.
void between_devices(const Tensor& to, const Tensor& from) {
  if (!byte_for_byte(to, from)) {
    auto staged = at::empty_strided(
        to.sizes(), from.is_non_overlapping_and_dense() ? from.strides() : to.contiguous().strides(),
        to.options().device(from.device()));
    copy_on_device(staged, from);
    auto landed = at::empty_strided(staged.sizes(), staged.strides(), to.options());
    between_devices(landed, staged);
    return copy_on_device(to, landed);
  }
  auto here = stream_of(from), there = stream_of(to);
  here.wait(there);
  xpu::copy(here, to.mutable_data_ptr(), from.const_data_ptr(), to.nbytes());
  there.wait(here);
}

}  // namespace

void copy_tensor(const Tensor& to, const Tensor& from, bool non_blocking) {
  if (to.numel() == 0 || same_elements(to, from)) return;
  at::assert_no_internal_overlap(to);
  at::assert_no_partial_overlap(to, from);
  auto source = from.sizes() == to.sizes() ? from : from.expand_as(to);
  translate_errors([&] {
    if (source.is_cpu()) return from_host(to, source, non_blocking);
    if (to.is_cpu()) return to_host(to, source, non_blocking);
    TORCH_CHECK(to.is_xpu() && source.is_xpu(), "no copy from ", source.device(), " to ", to.device());
    if (to.device() != source.device()) return between_devices(to, source);
    copy_on_device(to, source);
  });
}

}  // namespace torch_xpu
