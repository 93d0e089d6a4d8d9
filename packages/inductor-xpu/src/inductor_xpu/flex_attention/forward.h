
// Attention with a score and a mask function: columns are queries, rows are keys. A struct A has
// - Real, Query, Key, Value: the type of computations, and the stored types; results have that of queries
// - kD, kE, kRows: the numbers of a key and of a value; sums that a lane has at once
// - kVectors, kTeams, kTile: vectors of queries and sub-groups of a group; keys of a tile
// - kBlockQueries, kBlockKeys, kHasFull: the size of the mask's blocks; whether some are without a mask
// - kParts: groups that share a vector's keys; if more than 1, `stored` gets what flex_join adds
// - kHasLogsumexp, kHasMaximum: which results are stored
// - q, k, v, out, logsumexp, maximum: memory
// - q_strides, ...: those of batches, heads and rows, 0 where broadcast
// - heads, queries, keys, shared: sizes, and query heads of a key head
// - scale, partial, full: the factor of products, and FlexBlocks
// - score(value, b, h, q, k, valid), mask(b, h, q, k, valid)
namespace xpu {

// Stores what is known of a query's scores, in units of log(2), as the operator defines.
template <class A>
XPU_FN void flex_finish(const A& a, i64 b, i64 h, i64 q, typename A::Real total, typename A::Real largest) {
  using Real = typename A::Real;
  const i64 row = (b * a.heads + h) * a.queries + q;
  if (A::kHasLogsumexp)
    a.logsumexp[row] = (float)(total == 0 ? -(Real)infinity() : (largest + log(total)) / kLogOf2<Real>);
  if (A::kHasMaximum) a.maximum[row] = (float)(largest / kLogOf2<Real>);
}

template <class A>
XPU_FN void flex_forward(const A& a) {
  using Real = typename A::Real;
  constexpr int kLanes = XPU_SUB_GROUP, kD = A::kD, kE = A::kE, kRows = A::kRows;
  constexpr int kPaddedD = flex_padded(kD, kRows), kPaddedE = flex_padded(kE, kRows);
  Real* const queries = flex_tile<Real, A::kVectors * kD * kLanes, FlexTile::queries>.data;
  Real* const keys = flex_tile<Real, A::kTile * kPaddedD, FlexTile::keys>.data;
  Real* const values = flex_tile<Real, A::kTile * kPaddedE, FlexTile::values>.data;
  Real* const all_scores = flex_tile<Real, A::kTeams * A::kTile * kLanes, FlexTile::scores>.data;
  Real* const sums = flex_tile<Real, A::kVectors * kPaddedE * kLanes, FlexTile::sums>.data;
  Real* const maxima = flex_tile<Real, A::kVectors * kLanes, FlexTile::maxima>.data;
  Real* const totals = flex_tile<Real, A::kVectors * kLanes, FlexTile::totals>.data;
  Real* const scores = all_scores + sub_group_id() * A::kTile * kLanes;

  constexpr i64 kColumns = A::kVectors * kLanes,
                kTilesOfBlock = flex_padded(A::kBlockQueries, kColumns) / kColumns;
  const i64 part = group_id(0) % A::kParts, tile = group_id(0) / A::kParts, block = tile / kTilesOfBlock;
  const i64 h = group_id(1), b = group_id(2);
  const i64 begin = block * A::kBlockQueries + tile % kTilesOfBlock * kColumns;
  const i64 end = min_of(min_of(begin + kColumns, (block + 1) * A::kBlockQueries), a.queries);
  const i32 own = lane(), teams = sub_group_count();
  const Real hidden = -infinity();
  for (i32 vector = sub_group_id(); vector < A::kVectors; vector += teams) {
    const i64 q = min_of(begin + vector * kLanes + own, a.queries - 1);
    flex_columns<kD>(queries + vector * kD * kLanes, flex_row(a.q, a.q_strides, b, h, q));
    for (i32 i = 0; i < kPaddedE; ++i) sums[(vector * kPaddedE + i) * kLanes + own] = 0;
    maxima[vector * kLanes + own] = hidden;
    totals[vector * kLanes + own] = 0;
  }
  const i64 key_head = h / a.shared;

  const auto attend = [&](i64 key, i32 count, bool masked) __attribute__((always_inline)) {
    barrier();
    flex_stage<kD, kPaddedD>(keys, flex_row(a.k, a.k_strides, b, key_head, key), a.k_strides[2], count);
    flex_stage<kE, kPaddedE>(values, flex_row(a.v, a.v_strides, b, key_head, key), a.v_strides[2], count);
    barrier();
    for (i32 vector = sub_group_id(); vector < A::kVectors; vector += teams) {
      if (begin + vector * kLanes >= end) break;
      const i32 q = (i32)min_of(begin + vector * kLanes + own, a.queries - 1);
      flex_products<kRows, kD, kPaddedD>(queries + vector * kD * kLanes, keys, scores, count);
      Real largest = maxima[vector * kLanes + own];
      const Real before = largest;
      if (masked) {
#pragma nounroll
        for (i32 n = 0; n < count; ++n) {
          const bool seen = a.mask((i32)b, (i32)h, q, (i32)key + n, true);
          const Real s =
              select(seen, a.score(scores[n * kLanes + own] * a.scale, (i32)b, (i32)h, q, (i32)key + n, seen),
                     hidden);
          scores[n * kLanes + own] = s;
          largest = s <= largest ? largest : s;
        }
      } else {
#pragma nounroll
        for (i32 n = 0; n < count; ++n) {
          const Real s = a.score(scores[n * kLanes + own] * a.scale, (i32)b, (i32)h, q, (i32)key + n, true);
          scores[n * kLanes + own] = s;
          largest = s <= largest ? largest : s;
        }
      }
      const Real shift = largest == hidden ? (Real)0 : largest, factor = exp(before - shift);
      Real total = totals[vector * kLanes + own] * factor;
#pragma nounroll
      for (i32 n = 0; n < count; ++n) {
        const Real weight = exp(scores[n * kLanes + own] - shift);
        scores[n * kLanes + own] = weight;
        total += weight;
      }
      totals[vector * kLanes + own] = total;
      maxima[vector * kLanes + own] = largest;
      flex_add<kRows, kE, kPaddedE>(sums + vector * kPaddedE * kLanes, values, scores, count, factor);
    }
  };
  flex_each_tile<A::kParts>(a, b, h, block, A::kBlockKeys, a.keys, part, attend);
  for (i32 vector = sub_group_id(); vector < A::kVectors; vector += teams) {
    const i64 q = begin + vector * kLanes + own;
    const Real total = totals[vector * kLanes + own], largest = maxima[vector * kLanes + own];
    if (q >= end) continue;
    const i64 row = (b * a.heads + h) * a.queries + q;
    if constexpr (A::kParts == 1) {
      flex_finish(a, b, h, q, total, largest);
      flex_store<kE>(flex_row(a.out, a.out_strides, b, h, q), sums + vector * kPaddedE * kLanes,
                     total == 0 ? (Real)0 : 1 / total);
    } else {
      global<Real> to = a.stored + (row * A::kParts + part) * (kE + 2);
      flex_store<kE>(to, sums + vector * kPaddedE * kLanes, (Real)1);
      to[kE] = largest;
      to[kE + 1] = total;
    }
  }
}

// Writes one row of the result from its parts, which are weighed by their largest scores.
template <class A>
XPU_FN void flex_join(const A& a) {
  using Real = typename A::Real;
  constexpr int kE = A::kE, kStored = kE + 2;
  const i64 q = group_id(0), h = group_id(1), b = group_id(2), row = (b * a.heads + h) * a.queries + q;
  global<const Real> from = a.stored + row * A::kParts * kStored;
  Real largest = -infinity(), total = 0;
  for (i32 part = 0; part < A::kParts; ++part) largest = Larger()(from[part * kStored + kE], largest);
  const Real shift = largest == -infinity() ? (Real)0 : largest;
  for (i32 part = 0; part < A::kParts; ++part)
    total += exp(from[part * kStored + kE] - shift) * from[part * kStored + kE + 1];
  const Real inverse = total == 0 ? (Real)0 : 1 / total;
  global<typename A::Query> out = flex_row(a.out, a.out_strides, b, h, q);
  for (i32 i = lane(); i < kE; i += XPU_SUB_GROUP) {
    Real sum = 0;
    for (i32 part = 0; part < A::kParts; ++part)
      sum += exp(from[part * kStored + kE] - shift) * from[part * kStored + i];
    out[i] = to<typename A::Query>(sum * inverse);
  }
  if (lane() == 0) flex_finish(a, b, h, q, total, largest);
}

}  // namespace xpu
