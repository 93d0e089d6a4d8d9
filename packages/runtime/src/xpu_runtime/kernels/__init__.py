"""Kernels written once for every framework, over strided arrays.

Fills, copies, elementwise operations and reductions; scans; sorts and selections; gathers, scatters
and masks; random fills; Fourier transforms; linear algebra.
"""

from __future__ import annotations

from .elementwise import Elementwise, Reduction, copy, fill, promote, reduce, reductions
from .factorize import (
    factorize_cholesky,
    factorize_lu,
    fill_failed_with_nan,
    pivots_to_permutation,
    solve_triangle,
    swap_rows,
)
from .fourier import fft
from .indexing import (
    Combiner,
    embedding_backward,
    gather,
    gather_slices,
    index,
    index_combine,
    index_put,
    index_select,
    scatter,
    scatter_mean,
    scatter_slices,
)
from .random import (
    bernoulli,
    cauchy,
    exponential,
    geometric,
    integers,
    log_normal,
    normal,
    random_bits,
    uniform,
)
from .scan import Scan, cummax, cummin, cumprod, cumsum, logcumsumexp
from .select import masked_scatter, masked_select, nonzero
from .sort import ComparisonSort, sort, topk

__all__ = [
    "Combiner",
    "ComparisonSort",
    "Elementwise",
    "Reduction",
    "Scan",
    "bernoulli",
    "cauchy",
    "copy",
    "cummax",
    "cummin",
    "cumprod",
    "cumsum",
    "embedding_backward",
    "exponential",
    "factorize_cholesky",
    "factorize_lu",
    "fft",
    "fill",
    "fill_failed_with_nan",
    "gather",
    "gather_slices",
    "geometric",
    "index",
    "index_combine",
    "index_put",
    "index_select",
    "integers",
    "log_normal",
    "logcumsumexp",
    "masked_scatter",
    "masked_select",
    "nonzero",
    "normal",
    "pivots_to_permutation",
    "promote",
    "random_bits",
    "reduce",
    "reductions",
    "scatter",
    "scatter_mean",
    "scatter_slices",
    "solve_triangle",
    "sort",
    "swap_rows",
    "topk",
    "uniform",
]
