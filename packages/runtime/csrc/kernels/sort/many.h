// Selection of any number of elements of long rows on a GPU.
#pragma once

#include "kernels/sort/rows.h"

namespace xpu::kernels {

/// The first `keep` elements of each row, in the order of the row. The device must work in groups of several
/// sub-groups.
void many_of_rows(const RowSort& rows);

}  // namespace xpu::kernels
