#include "dnn/descriptor.h"

#include <algorithm>

#include "dnn/candidates.h"

namespace xpu::dnn {

dnnl::memory::data_type data_type_of(DType dtype) {
  switch (dtype) {
#define XPU_CASE(dtype, type) \
  case DType::dtype:          \
    return dnnl::memory::data_type::type;
    XPU_FOR_ONEDNN_TYPES(XPU_CASE)
#undef XPU_CASE
    default:
      throw Rejection{join("oneDNN has no type ", name_of(dtype))};
  }
}

namespace {
dnnl::memory::dims sizes_of(const Tensor& t) {
  return {t.shape, t.shape + t.ndim};
}
}  // namespace

// The stride along a dimension of size 1 has no meaning, but an unusual one keeps oneDNN from recognizing a
// plain layout, or, if it is as small as another dimension's, makes its matrix products wrong. It is replaced
// by the stride of an outer dimension.
dnnl::memory::desc describe(const Tensor& t) {
  dnnl::memory::dims strides(t.strides, t.strides + t.ndim);
  std::int64_t extent = 1;
  for (int i = t.ndim - 1; i >= 0; --i) {
    if (t.shape[i] == 1) strides[i] = extent;
    extent = std::max(extent, strides[i] * t.shape[i]);
    reject_unless(strides[i] >= 0, "negative stride");
    reject_unless(strides[i] > 0 || t.shape[i] <= 1, "a dimension is broadcast by a stride of 0");
  }
  return {sizes_of(t), data_type_of(t.dtype), strides};
}

dnnl::memory::desc any_layout(const Tensor& t) {
  return {sizes_of(t), data_type_of(t.dtype), dnnl::memory::format_tag::any};
}

dnnl::memory::desc any_layout(const dnnl::memory::desc& desc) {
  return {desc.get_dims(), desc.get_data_type(), dnnl::memory::format_tag::any};
}

dnnl::memory::desc with_type(const dnnl::memory::desc& plain, dnnl::memory::data_type type) {
  return {plain.get_dims(), type, plain.get_strides()};
}

Tensor with_leading_ones(const Tensor& t, int ndim) {
  Tensor wide;
  wide.data = t.data;
  wide.dtype = t.dtype;
  wide.ndim = ndim;
  int added = ndim - t.ndim;
  for (int i = 0; i < ndim; ++i) {
    wide.shape[i] = i < added ? 1 : t.shape[i - added];
    wide.strides[i] = i < added ? 0 : t.strides[i - added];
  }
  return wide;
}

}  // namespace xpu::dnn
