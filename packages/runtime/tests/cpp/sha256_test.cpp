// Digests key and check the files of caches and packages.
#include "compile/sha256.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "compile/sha256_blocks.h"
#include "harness.h"

namespace {

std::vector<std::uint8_t> random_bytes(std::size_t count) {
  std::vector<std::uint8_t> bytes(count);
  std::uint32_t state = 1;
  for (auto& byte : bytes) byte = static_cast<std::uint8_t>((state = state * 1664525 + 1013904223) >> 24);
  return bytes;
}

std::string digest_of(std::string_view text) {
  return xpu::Sha256().add(text).hex();
}

}  // namespace

TEST(instructions_and_the_portable_code_agree) {
  if (!xpu::has_sha256_instructions()) return;
  auto bytes = random_bytes(64 * 7);
  for (std::size_t blocks = 0; blocks <= 7; ++blocks) {
    std::uint32_t portable[8] = {1, 2, 3, 4, 5, 6, 7, 0xffffffff}, fast[8];
    std::copy(portable, portable + 8, fast);
    xpu::add_blocks_portably(portable, bytes.data(), blocks);
    xpu::add_blocks_by_instructions(fast, bytes.data(), blocks);
    for (int i = 0; i < 8; ++i) CHECK_EQUAL(fast[i], portable[i]);
  }
}

TEST(digests_are_those_of_the_standard) {
  // The examples of FIPS 180-4: one block, two blocks.
  CHECK_EQUAL(digest_of("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  CHECK_EQUAL(digest_of("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
              "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
}

TEST(a_digest_does_not_depend_on_how_the_bytes_are_added) {
  auto bytes = random_bytes(1000);
  auto whole = xpu::Sha256().add(bytes.data(), bytes.size()).hex();
  for (std::size_t size : {1, 3, 63, 64, 65, 130, 999}) {
    xpu::Sha256 hash;
    for (std::size_t at = 0; at < bytes.size(); at += size)
      hash.add(bytes.data() + at, std::min(size, bytes.size() - at));
    CHECK_EQUAL(hash.hex(), whole);
  }
}
