// torch_xpu::unpack_bits: bytes from numbers of one to seven bits that lie dense. The schema is in
// bridge/operators.txt.
//
// Eight numbers are as many bytes as they have bits. Of these, four hold four bits of each number, byte i
// those of numbers i (low) and i + 4; then two hold two bits of each, the first those of the first four
// numbers; then one holds a bit of each. A part is there if the count of bits has it: 7 is 4 + 2 + 1. The
// lowest bits come first.
#include <ATen/ops/empty.h>
#include <c10/util/StringUtil.h>
#include <torch/library.h>

#include <array>

#include "ops/arguments.h"
#include "ops/elementwise/elementwise.h"

namespace torch_xpu {
namespace {

using at::Tensor;
using xpu::kernels::Elementwise;

// The expression of four numbers as the bytes of an integer; `half` is 0 or 1. a0, a1, ... are the bytes.
std::string four_numbers(int bits, int half) {
  std::string text = "0";
  int byte = 0, place = 0;
  auto add = [&](int from, int shift, int mask, int number) {
    text += c10::str(" | (a", from, " >> ", shift, " & ", mask, ") << ", 8 * number + place);
  };
  if (bits & 4) {
    for (int i = 0; i < 4; ++i) add(byte + i, 4 * half, 15, i);
    byte += 4;
    place += 4;
  }
  if (bits & 2) {
    for (int i = 0; i < 4; ++i) add(byte + half, 2 * i, 3, i);
    byte += 2;
    place += 2;
  }
  if (bits & 1)
    for (int i = 0; i < 4; ++i) add(byte, 4 * half + i, 1, i);
  return text;
}

const Elementwise& unpacking(int bits) {
  static const auto& kernels = *new auto([] {
    std::array<Elementwise*, 8> made{};
    for (int b = 1; b < 8; ++b)
      made[b] = new Elementwise(
          {.name = "unpack_bits", .outputs = {four_numbers(b, 0), four_numbers(b, 1)}, .inputs = b});
    return made;
  }());
  return *kernels[bits];
}

Tensor unpack_bits(const Tensor& packed, std::int64_t bits) {
  auto guard = guard_for(packed);
  TORCH_CHECK_VALUE(bits > 0 && bits < 8, "unpack_bits: got ", bits, " bits, expected 1 to 7");
  TORCH_CHECK_TYPE(packed.scalar_type() == at::kByte, "packed: got ", packed.scalar_type(),
                   ", expected uint8");
  TORCH_CHECK_VALUE(packed.dim() > 0 && packed.size(-1) % bits == 0, "packed of shape ", packed.sizes(),
                    " has no rows of groups of ", bits, " bytes");
  auto sizes = packed.sizes().vec();
  sizes.back() = sizes.back() / bits * 8;
  auto output = at::empty(sizes, packed.options());
  if (output.numel() == 0) return output;
  auto groups = packed.contiguous().view({-1, bits});
  auto halves = output.view(at::kInt).view({-1, 2});
  std::vector<Tensor> bytes;
  for (int i = 0; i < bits; ++i) bytes.push_back(groups.select(1, i));
  elementwise(unpacking(static_cast<int>(bits)), {halves.select(1, 0), halves.select(1, 1)}, bytes, {},
              at::kInt);
  return output;
}

}  // namespace

TORCH_LIBRARY_IMPL(torch_xpu, XPU, m) {
  m.impl("unpack_bits", unpack_bits);
}

}  // namespace torch_xpu
