#include "xpu/tensor.h"

#include <iterator>

#include "xpu/error.h"

namespace xpu {
namespace {

struct Entry {
  const char* name;
  std::size_t size;
};
constexpr Entry dtypes[] = {
#define XPU_ENTRY(dtype, name, kind, bytes, ...) {name, bytes},
    XPU_FOR_DTYPES(XPU_ENTRY)
#undef XPU_ENTRY
};

}  // namespace

std::size_t size_of(DType dtype) {
  return dtypes[static_cast<std::size_t>(dtype)].size;
}
const char* name_of(DType dtype) {
  return dtypes[static_cast<std::size_t>(dtype)].name;
}

DType dtype_of(const std::string& name) {
  std::string all;
  for (std::size_t i = 0; i < std::size(dtypes); ++i) {
    if (name == dtypes[i].name) return static_cast<DType>(i);
    all += join(i ? ", " : "", dtypes[i].name);
  }
  fail<UsageError>("dtype: got \"", name, "\", expected one of ", all);
}

DType dtype_of_width(std::size_t bytes) {
  switch (bytes) {
    case 1:
      return DType::u8;
    case 2:
      return DType::u16;
    case 4:
      return DType::u32;
    case 8:
      return DType::u64;
    case 16:
      return DType::c128;
    default:
      fail<InternalError>("dtype: no element has ", bytes, " bytes");
  }
}

Tensor::Tensor(const Tensor& other) {
  *this = other;
}

Tensor& Tensor::operator=(const Tensor& other) {
  data = other.data, dtype = other.dtype, ndim = other.ndim;
  for (int d = 0; d < ndim; ++d) shape[d] = other.shape[d], strides[d] = other.strides[d];
  return *this;
}

Tensor::Tensor(void* data_, DType dtype_, int ndim_, const std::int64_t* shape_, const std::int64_t* strides_)
    : data(data_), dtype(dtype_), ndim(ndim_) {
  expect<UsageError>(ndim >= 0 && ndim <= max_dims, "tensor: got ", ndim, " dimensions, expected 0 to ",
                     max_dims);
  for (int i = 0; i < ndim; ++i) {
    expect<UsageError>(shape_[i] >= 0, "tensor: size of dimension ", i, " is ", shape_[i], ", expected >= 0");
    shape[i] = shape_[i];
    strides[i] = strides_[i];
  }
}

Tensor::Tensor(void* data_, DType dtype_, std::initializer_list<std::int64_t> sizes) {
  expect<UsageError>(sizes.size() <= max_dims, "tensor: got ", sizes.size(), " dimensions, expected 0 to ",
                     max_dims);
  std::int64_t row_major[max_dims], step = 1;
  for (int i = static_cast<int>(sizes.size()) - 1; i >= 0; --i) {
    row_major[i] = step;
    step *= sizes.begin()[i];
  }
  *this = Tensor(data_, dtype_, static_cast<int>(sizes.size()), sizes.begin(), row_major);
}

std::int64_t Tensor::numel() const {
  std::int64_t n = 1;
  for (int i = 0; i < ndim; ++i) n *= shape[i];
  return n;
}

bool Tensor::contiguous() const {
  std::int64_t step = 1;
  for (int i = ndim - 1; i >= 0; --i) {
    if (shape[i] != 1 && strides[i] != step) return false;
    step *= shape[i];
  }
  return true;
}

std::string Tensor::describe() const {
  auto list = [&](const std::int64_t* values, char open, char close) {
    std::ostringstream text;
    for (int i = 0; i < ndim; ++i) text << (i ? ',' : open) << values[i];
    if (ndim == 0) text << open;
    text << close;
    return text.str();
  };
  return name_of(dtype) + list(shape, '[', ']') + list(strides, '{', '}');
}

std::ostream& operator<<(std::ostream& out, const Tensor& tensor) {
  return out << tensor.describe();
}

}  // namespace xpu
