// Divides work for sizes that it reads: lines of a form and 13 numbers.
#include <iostream>
#include <string>

#include "xpu_division.h"

using namespace torch::aot_inductor;

int main() {
  std::string form;
  std::int64_t lanes, sub_groups, tiles, least, most, rows, columns, items, limit, outer, inner, overlap,
      divisor;
  while (std::cin >> form >> lanes >> sub_groups >> tiles >> least >> most >> rows >> columns >> items >>
         limit >> outer >> inner >> overlap >> divisor) {
    XpuTarget on{lanes, sub_groups, tiles, least, most};
    auto division = form == "line"   ? xpu_divide_line(on, rows, columns)
                    : form == "rows" ? xpu_divide_rows(on, rows, columns, limit)
                    : form == "folds"
                        ? xpu_divide_folds(on, rows, columns, items)
                        : xpu_divide_columns(on, rows, columns, items, outer, inner, overlap != 0);
    division.divisor(divisor);
    std::cout << division.groups(sub_groups);
    for (std::size_t n = 0; n < division.count; ++n) std::cout << ' ' << division.sizes[n];
    std::cout << '\n';
  }
}
