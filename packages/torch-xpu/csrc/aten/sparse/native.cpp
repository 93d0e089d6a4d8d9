// Sparse tensors: PyTorch's own functions for them, which are made of operators on indices and values.
#include <ATen/ops/_coalesced_native.h>
#include <ATen/ops/_dimI_native.h>
#include <ATen/ops/_dimV_native.h>
#include <ATen/ops/_indices_native.h>
#include <ATen/ops/_nnz_native.h>
#include <ATen/ops/_sparse_broadcast_to_native.h>
#include <ATen/ops/_sparse_coo_tensor_with_dims_and_tensors_native.h>
#include <ATen/ops/_sparse_coo_tensor_with_dims_native.h>
#include <ATen/ops/_to_dense_native.h>
#include <ATen/ops/_to_sparse_bsc_native.h>
#include <ATen/ops/_to_sparse_bsr_native.h>
#include <ATen/ops/_to_sparse_csc_native.h>
#include <ATen/ops/_to_sparse_csr_native.h>
#include <ATen/ops/_to_sparse_native.h>
#include <ATen/ops/_to_sparse_ops.h>
#include <ATen/ops/_values_native.h>
#include <ATen/ops/abs_native.h>
#include <ATen/ops/add_native.h>
#include <ATen/ops/addmm_native.h>
#include <ATen/ops/any_native.h>
#include <ATen/ops/asin_native.h>
#include <ATen/ops/asinh_native.h>
#include <ATen/ops/atan_native.h>
#include <ATen/ops/atanh_native.h>
#include <ATen/ops/cat_native.h>
#include <ATen/ops/ccol_indices_native.h>
#include <ATen/ops/ceil_native.h>
#include <ATen/ops/clone_native.h>
#include <ATen/ops/col_indices_native.h>
#include <ATen/ops/copy_native.h>
#include <ATen/ops/copy_sparse_to_sparse_native.h>
#include <ATen/ops/crow_indices_native.h>
#include <ATen/ops/deg2rad_native.h>
#include <ATen/ops/dense_dim_native.h>
#include <ATen/ops/div_native.h>
#include <ATen/ops/div_ops.h>
#include <ATen/ops/empty_like_native.h>
#include <ATen/ops/empty_native.h>
#include <ATen/ops/erf_native.h>
#include <ATen/ops/erfinv_native.h>
#include <ATen/ops/expm1_native.h>
#include <ATen/ops/fill_native.h>
#include <ATen/ops/floor_divide_native.h>
#include <ATen/ops/floor_native.h>
#include <ATen/ops/frac_native.h>
#include <ATen/ops/indices_native.h>
#include <ATen/ops/is_coalesced_native.h>
#include <ATen/ops/isinf_native.h>
#include <ATen/ops/isnan_native.h>
#include <ATen/ops/isneginf_native.h>
#include <ATen/ops/isposinf_native.h>
#include <ATen/ops/log1p_native.h>
#include <ATen/ops/mm_native.h>
#include <ATen/ops/mul_native.h>
#include <ATen/ops/mv_native.h>
#include <ATen/ops/nan_to_num_native.h>
#include <ATen/ops/narrow_copy_native.h>
#include <ATen/ops/native_norm_native.h>
#include <ATen/ops/native_norm_ops.h>
#include <ATen/ops/neg_native.h>
#include <ATen/ops/norm_native.h>
#include <ATen/ops/permute_native.h>
#include <ATen/ops/pow_native.h>
#include <ATen/ops/rad2deg_native.h>
#include <ATen/ops/relu_native.h>
#include <ATen/ops/resize_as_sparse_native.h>
#include <ATen/ops/resize_native.h>
#include <ATen/ops/round_native.h>
#include <ATen/ops/row_indices_native.h>
#include <ATen/ops/select_native.h>
#include <ATen/ops/sgn_native.h>
#include <ATen/ops/sign_native.h>
#include <ATen/ops/signbit_native.h>
#include <ATen/ops/sin_native.h>
#include <ATen/ops/sinh_native.h>
#include <ATen/ops/sparse_dim_native.h>
#include <ATen/ops/sparse_mask_native.h>
#include <ATen/ops/sparse_resize_and_clear_native.h>
#include <ATen/ops/sparse_resize_native.h>
#include <ATen/ops/sqrt_native.h>
#include <ATen/ops/sub_native.h>
#include <ATen/ops/sum_native.h>
#include <ATen/ops/tan_native.h>
#include <ATen/ops/tanh_native.h>
#include <ATen/ops/threshold_backward_native.h>
#include <ATen/ops/trunc_native.h>
#include <ATen/ops/unsqueeze_native.h>
#include <ATen/ops/values_native.h>
#include <ATen/ops/zero_native.h>
#include <ATen/ops/zeros_native.h>
#include <torch/library.h>

namespace torch_xpu {

#define FORMS(name, suffix)                                \
  m.impl(#name, at::native::name##_sparse##suffix);        \
  m.impl(#name "_", at::native::name##_sparse##suffix##_); \
  m.impl(#name ".out", at::native::name##_sparse##suffix##_out)
// Those that leave zeros zero.
#define EACH_UNARY(suffix) \
  FORMS(abs, suffix);      \
  FORMS(sgn, suffix);      \
  FORMS(asinh, suffix);    \
  FORMS(atanh, suffix);    \
  FORMS(asin, suffix);     \
  FORMS(atan, suffix);     \
  FORMS(ceil, suffix);     \
  FORMS(erf, suffix);      \
  FORMS(expm1, suffix);    \
  FORMS(floor, suffix);    \
  FORMS(frac, suffix);     \
  FORMS(log1p, suffix);    \
  FORMS(rad2deg, suffix);  \
  FORMS(deg2rad, suffix);  \
  FORMS(round, suffix);    \
  FORMS(sin, suffix);      \
  FORMS(sinh, suffix);     \
  FORMS(sqrt, suffix);     \
  FORMS(tan, suffix);      \
  FORMS(tanh, suffix);     \
  FORMS(trunc, suffix);    \
  FORMS(erfinv, suffix);   \
  FORMS(sign, suffix);

TORCH_LIBRARY_IMPL(aten, SparseXPU, m) {
  EACH_UNARY()
  m.impl("neg", at::native::neg_sparse);
  m.impl("neg_", at::native::neg_sparse_);
  m.impl("neg.out", at::native::neg_out_sparse);
  m.impl("relu", at::native::relu_sparse);
  m.impl("relu_", at::native::relu_sparse_);
  m.impl("isnan", at::native::isnan_sparse);
  m.impl("isinf", at::native::isinf_sparse);
  m.impl("isposinf", at::native::isposinf_sparse);
  m.impl("isposinf.out", at::native::isposinf_sparse_out);
  m.impl("isneginf", at::native::isneginf_sparse);
  m.impl("isneginf.out", at::native::isneginf_sparse_out);
  m.impl("signbit", at::native::signbit_sparse);
  m.impl("signbit.out", at::native::signbit_sparse_out);
  m.impl("nan_to_num", at::native::nan_to_num_sparse);
  m.impl("nan_to_num_", at::native::nan_to_num_sparse_);
  m.impl("nan_to_num.out", at::native::nan_to_num_sparse_out);
  m.impl("pow.Tensor_Scalar", at::native::pow_sparse_scalar);
  m.impl("pow.Tensor_Scalar_out", at::native::pow_out_sparse_scalar);
  m.impl("div.Tensor", static_cast<at::_ops::div_Tensor::schema*>(at::native::div_sparse));
  m.impl("div_.Tensor", static_cast<at::_ops::div__Tensor::schema*>(at::native::div_sparse_));
  m.impl("div.out", static_cast<at::_ops::div_out::schema*>(at::native::div_out_sparse_zerodim));
  m.impl("div.Tensor_mode", static_cast<at::_ops::div_Tensor_mode::schema*>(at::native::div_sparse));
  m.impl("div_.Tensor_mode", static_cast<at::_ops::div__Tensor_mode::schema*>(at::native::div_sparse_));
  m.impl("div.out_mode", static_cast<at::_ops::div_out_mode::schema*>(at::native::div_out_sparse_zerodim));
  m.impl("floor_divide", at::native::floor_divide_sparse);
  m.impl("floor_divide_.Tensor", at::native::floor_divide_sparse_);
  m.impl("floor_divide.out", at::native::floor_divide_out_sparse_zerodim);
  m.impl("threshold_backward", at::native::threshold_backward_sparse);
  m.impl("threshold_backward.grad_input", at::native::threshold_backward_sparse_out);
  m.impl("add.Tensor", at::native::add_sparse);
  m.impl("add_.Tensor", at::native::add_sparse_);
  m.impl("mul.Tensor", at::native::mul_sparse);
  m.impl("mul_.Tensor", at::native::mul_sparse_);
  m.impl("sub.Tensor", at::native::sub_sparse);
  m.impl("sub_.Tensor", at::native::sub_sparse_);
  m.impl("sub.out", at::native::sub_out_sparse);
  m.impl("sum", at::native::sum_coo);
  m.impl("sum.dim_IntList", at::native::sum_sparse_coo);
  m.impl("any", at::native::any_sparse);
  m.impl("norm.ScalarOpt_dim_dtype", at::native::sparse_dtype_norm);
  m.impl("norm.ScalarOpt_dim", at::native::sparse_norm);
  m.impl("native_norm", static_cast<at::_ops::native_norm::schema*>(at::native::norm_sparse));
  m.impl("native_norm.ScalarOpt_dim_dtype",
         static_cast<at::_ops::native_norm_ScalarOpt_dim_dtype::schema*>(at::native::norm_sparse));
  m.impl("mm", at::native::_sparse_mm);
  m.impl("mm.out", at::native::_sparse_mm_out);
  m.impl("mv", at::native::mv_sparse);
  m.impl("cat", at::native::cat_sparse);
  m.impl("clone", at::native::clone_sparse);
  m.impl("copy_", at::native::copy_sparse_wrapper_);
  m.impl("copy_sparse_to_sparse_", at::native::copy_sparse_);
  m.impl("empty.memory_format", at::native::empty_sparse);
  m.impl("empty_like", at::native::empty_like_sparse_coo);
  m.impl("resize_as_sparse_", at::native::resize_as_sparse_);
  m.impl("zero_", at::native::zero_sparse_);
  m.impl("zeros.out", at::native::zeros_sparse_out);
  m.impl("permute", at::native::permute_sparse_coo);
  m.impl("unsqueeze", at::native::unsqueeze_sparse);
  m.impl("narrow_copy", at::native::narrow_copy_sparse);
  m.impl("_sparse_broadcast_to", at::native::sparse_broadcast_to);
  m.impl("sparse_dim", at::native::sparse_dim_sparse);
  m.impl("_dimI", at::native::sparse_dim_sparse);
  m.impl("dense_dim", at::native::dense_dim_sparse);
  m.impl("_dimV", at::native::dense_dim_sparse);
  m.impl("_nnz", at::native::_nnz_sparse);
  m.impl("_indices", at::native::_indices_sparse);
  m.impl("_values", at::native::_values_sparse);
  m.impl("indices", at::native::indices_sparse);
  m.impl("values", at::native::values_sparse);
  m.impl("is_coalesced", at::native::is_coalesced_sparse);
  m.impl("_coalesced_", at::native::_coalesced_sparse_);
  m.impl("sparse_resize_", at::native::sparse_resize_);
  m.impl("sparse_resize_and_clear_", at::native::sparse_resize_and_clear_);
  m.impl("_sparse_coo_tensor_with_dims", at::native::new_with_dims_sparse);
  m.impl("_sparse_coo_tensor_with_dims_and_tensors", at::native::new_with_dims_and_tensor_sparse_symint);
  m.impl("_to_dense", at::native::sparse_to_dense);
  m.impl("_to_sparse", static_cast<at::_ops::_to_sparse::schema*>(at::native::sparse_coo_to_sparse));
  m.impl("_to_sparse.sparse_dim",
         static_cast<at::_ops::_to_sparse_sparse_dim::schema*>(at::native::sparse_coo_to_sparse));
  m.impl("_to_sparse_csr", at::native::coo_to_sparse_csr);
  m.impl("_to_sparse_csc", at::native::coo_to_sparse_csc);
  m.impl("_to_sparse_bsr", at::native::coo_to_sparse_bsr);
  m.impl("_to_sparse_bsc", at::native::coo_to_sparse_bsc);
}

TORCH_LIBRARY_IMPL(aten, SparseCsrXPU, m) {
  EACH_UNARY(_csr)
  m.impl("neg", at::native::neg_sparse_csr);
  m.impl("neg_", at::native::neg_sparse_csr_);
  m.impl("neg.out", at::native::neg_sparse_csr_out);
  m.impl("relu", at::native::relu_sparse_csr);
  m.impl("relu_", at::native::relu_sparse_csr_);
  m.impl("isnan", at::native::isnan_sparse_csr);
  m.impl("isinf", at::native::isinf_sparse_csr);
  m.impl("isposinf", at::native::isposinf_sparse_csr);
  m.impl("isposinf.out", at::native::isposinf_sparse_csr_out);
  m.impl("isneginf", at::native::isneginf_sparse_csr);
  m.impl("isneginf.out", at::native::isneginf_sparse_csr_out);
  m.impl("signbit", at::native::signbit_sparse_csr);
  m.impl("signbit.out", at::native::signbit_sparse_csr_out);
  m.impl("threshold_backward", at::native::threshold_backward_sparse_compressed);
  m.impl("threshold_backward.grad_input", at::native::threshold_backward_sparse_compressed_out);
  m.impl("add.Tensor", at::native::add_sparse_csr);
  m.impl("add_.Tensor", at::native::add_sparse_csr_);
  m.impl("mul.Tensor", at::native::mul_sparse_csr);
  m.impl("mul_.Tensor", at::native::mul_sparse_csr_);
  m.impl("mul.out", at::native::mul_out_sparse_csr);
  m.impl("mul.Scalar", at::native::mul_scalar_sparse_csr);
  m.impl("mul_.Scalar", at::native::mul__scalar_sparse_csr);
  m.impl("sum", at::native::sum_csr);
  m.impl("sum.dim_IntList", at::native::sum_sparse_compressed);
  m.impl("mm", at::native::_sparse_csr_mm);
  m.impl("mm.out", at::native::_sparse_csr_mm_out);
  m.impl("addmm", at::native::addmm_sparse_compressed_dense);
  m.impl("clone", at::native::clone_sparse_compressed);
  m.impl("copy_", at::native::copy_sparse_compressed_);
  m.impl("empty.memory_format", at::native::empty_sparse_compressed);
  m.impl("empty_like", at::native::empty_like_sparse_csr);
  m.impl("resize_", at::native::resize_sparse_csr_);
  m.impl("resize_as_sparse_", at::native::resize_as_sparse_compressed_);
  m.impl("zero_", at::native::zero_sparse_csr_);
  m.impl("fill_.Scalar", at::native::fill_sparse_csr_);
  m.impl("select.int", at::native::select_sparse_csr);
  m.impl("sparse_mask", at::native::sparse_mask_sparse_compressed);
  m.impl("sparse_dim", at::native::sparse_dim_sparse_csr);
  m.impl("dense_dim", at::native::dense_dim_sparse_csr);
  m.impl("_nnz", at::native::_nnz_sparse_csr);
  m.impl("values", at::native::values_sparse_csr);
  m.impl("crow_indices", at::native::crow_indices_sparse_csr);
  m.impl("col_indices", at::native::col_indices_sparse_csr);
  m.impl("ccol_indices", at::native::ccol_indices_sparse_csr);
  m.impl("row_indices", at::native::row_indices_sparse_csr);
  m.impl("_to_dense", at::native::sparse_compressed_to_dense);
  m.impl("_to_sparse.sparse_dim",
         static_cast<at::_ops::_to_sparse_sparse_dim::schema*>(at::native::sparse_compressed_to_sparse));
}

TORCH_LIBRARY_IMPL(aten, XPU, m) {
  m.impl("_to_sparse", static_cast<at::_ops::_to_sparse::schema*>(at::native::dense_to_sparse));
  m.impl("_to_sparse.sparse_dim",
         static_cast<at::_ops::_to_sparse_sparse_dim::schema*>(at::native::dense_to_sparse));
  m.impl("_to_sparse_csr", at::native::dense_to_sparse_csr);
  m.impl("_to_sparse_csc", at::native::dense_to_sparse_csc);
  m.impl("_to_sparse_bsr", at::native::dense_to_sparse_bsr);
  m.impl("_to_sparse_bsc", at::native::dense_to_sparse_bsc);
}

#undef EACH_UNARY
#undef FORMS

}  // namespace torch_xpu
