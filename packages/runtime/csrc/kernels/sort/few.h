// The first few elements of rows on a GPU: radix select within a group, after few reads of a long row.
#pragma once

#include "kernels/sort/rows.h"

namespace xpu::kernels {

/// True if few_of_rows() takes the rows and is faster than a sort of each in a group's local memory.
bool takes_few(const RowSort& rows);
/// The first `keep` elements of each row, in order.
void few_of_rows(const RowSort& rows);

}  // namespace xpu::kernels
