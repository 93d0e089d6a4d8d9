
// The gradients of attention, from the logsumexp of the forward: scores and weights are computed again. The
// struct A has what forward.h says, and
// - grad: the gradient of the result
// - logsumexp: that of the forward, in units of log(2)
// - delta: the sum of a row's products of result and gradient
// - grad_q, grad_k, grad_v: results
// - gradient(value, b, h, q, k, grad, valid): that of score; it may add to the gradients of captured tensors
namespace xpu {

// A weight, and the gradient of its product, for a query and a key; both 0 where the mask hides the key.
template <class A>
XPU_FN void flex_gradients(const A& a, typename A::Real& product, typename A::Real& grad, i32 b, i32 h, i32 q,
                           i32 k, typename A::Real logsumexp, typename A::Real delta, bool seen) {
  using Real = typename A::Real;
  const Real value = product * a.scale, score = a.score(value, b, h, q, k, seen);
  const bool counts = seen && logsumexp != -infinity();
  const Real weight = select(counts, exp(score - logsumexp), (Real)0);
  const Real of_score = a.gradient(value, b, h, q, k, weight * (grad - delta), counts);
  grad = select(counts, of_score * a.scale, (Real)0);
  product = weight;
}

template <class A>
XPU_FN void flex_backward_queries(const A& a) {
  using Real = typename A::Real;
  constexpr int kLanes = XPU_SUB_GROUP, kD = A::kD, kE = A::kE, kRows = A::kRows;
  constexpr int kPaddedD = flex_padded(kD, kRows), kPaddedE = flex_padded(kE, kRows);
  Real* const queries = flex_tile<Real, A::kVectors * kD * kLanes, FlexTile::queries>.data;
  Real* const grads = flex_tile<Real, A::kVectors * kE * kLanes, FlexTile::grads>.data;
  Real* const sums = flex_tile<Real, A::kVectors * kPaddedD * kLanes, FlexTile::sums>.data;
  Real* const keys = flex_tile<Real, A::kTile * kPaddedD, FlexTile::keys>.data;
  Real* const values = flex_tile<Real, A::kTile * kPaddedE, FlexTile::values>.data;
  const i64 team = sub_group_id() * A::kTile * kLanes;
  Real* const products = flex_tile<Real, A::kTeams * A::kTile * kLanes, FlexTile::scores>.data + team;
  Real* const weights = flex_tile<Real, A::kTeams * A::kTile * kLanes, FlexTile::weights>.data + team;

  constexpr i64 kColumns = A::kVectors * kLanes,
                kTilesOfBlock = flex_padded(A::kBlockQueries, kColumns) / kColumns;
  const i64 tile = group_id(0), h = group_id(1), b = group_id(2), block = tile / kTilesOfBlock;
  const i64 begin = block * A::kBlockQueries + tile % kTilesOfBlock * kColumns;
  const i64 end = min_of(min_of(begin + kColumns, (block + 1) * A::kBlockQueries), a.queries);
  const i32 own = lane(), teams = sub_group_count();
  const i64 first_row = (b * a.heads + h) * a.queries;
  for (i32 vector = sub_group_id(); vector < A::kVectors; vector += teams) {
    const i64 q = min_of(begin + vector * kLanes + own, a.queries - 1);
    flex_columns<kD>(queries + vector * kD * kLanes, flex_row(a.q, a.q_strides, b, h, q));
    flex_columns<kE>(grads + vector * kE * kLanes, flex_row(a.grad, a.grad_strides, b, h, q));
    for (i32 i = 0; i < kPaddedD; ++i) sums[(vector * kPaddedD + i) * kLanes + own] = 0;
  }
  const i64 key_head = h / a.shared;
  const auto add_keys = [&](i64 key, i32 count, bool masked) __attribute__((always_inline)) {
    barrier();
    flex_stage<kD, kPaddedD>(keys, flex_row(a.k, a.k_strides, b, key_head, key), a.k_strides[2], count);
    flex_stage<kE, kPaddedE>(values, flex_row(a.v, a.v_strides, b, key_head, key), a.v_strides[2], count);
    barrier();
    for (i32 vector = sub_group_id(); vector < A::kVectors; vector += teams) {
      if (begin + vector * kLanes >= end) break;
      const i64 column = begin + vector * kLanes + own, q = min_of(column, a.queries - 1);
      flex_products<kRows, kD, kPaddedD>(queries + vector * kD * kLanes, keys, products, count);
      flex_products<kRows, kE, kPaddedE>(grads + vector * kE * kLanes, values, weights, count);
      const Real logsumexp = (Real)a.logsumexp[first_row + q] * kLogOf2<Real>,
                 delta = (Real)a.delta[first_row + q];
#pragma nounroll
      for (i32 n = 0; n < count; ++n) {
        bool seen = column < end;
        if (masked) seen &= a.mask((i32)b, (i32)h, (i32)q, (i32)key + n, true);
        Real product = products[n * kLanes + own], grad = weights[n * kLanes + own];
        flex_gradients(a, product, grad, (i32)b, (i32)h, (i32)q, (i32)key + n, logsumexp, delta, seen);
        weights[n * kLanes + own] = grad;
      }
      flex_add<kRows, kD, kPaddedD>(sums + vector * kPaddedD * kLanes, keys, weights, count, (Real)1);
    }
  };
  flex_each_tile<1>(a, b, h, block, A::kBlockKeys, a.keys, 0, add_keys);
  for (i32 vector = sub_group_id(); vector < A::kVectors; vector += teams) {
    const i64 q = begin + vector * kLanes + own;
    if (q < end)
      flex_store<kD>(flex_row(a.grad_q, a.grad_q_strides, b, h, q), sums + vector * kPaddedD * kLanes,
                     (Real)1);
  }
}

template <class A>
XPU_FN void flex_backward_keys(const A& a) {
  using Real = typename A::Real;
  constexpr int kLanes = XPU_SUB_GROUP, kD = A::kD, kE = A::kE, kRows = A::kRows;
  constexpr int kPaddedD = flex_padded(kD, kRows), kPaddedE = flex_padded(kE, kRows);
  Real* const keys = flex_tile<Real, A::kVectors * kD * kLanes, FlexTile::keys>.data;
  Real* const values = flex_tile<Real, A::kVectors * kE * kLanes, FlexTile::values>.data;
  Real* const key_sums = flex_tile<Real, A::kVectors * kPaddedD * kLanes, FlexTile::sums>.data;
  Real* const value_sums = flex_tile<Real, A::kVectors * kPaddedE * kLanes, FlexTile::value_sums>.data;
  Real* const queries = flex_tile<Real, A::kTile * kPaddedD, FlexTile::queries>.data;
  Real* const grads = flex_tile<Real, A::kTile * kPaddedE, FlexTile::grads>.data;
  const i64 team = sub_group_id() * A::kTile * kLanes;
  Real* const products = flex_tile<Real, A::kTeams * A::kTile * kLanes, FlexTile::scores>.data + team;
  Real* const weights = flex_tile<Real, A::kTeams * A::kTile * kLanes, FlexTile::weights>.data + team;

  constexpr i64 kColumns = A::kVectors * kLanes,
                kTilesOfBlock = flex_padded(A::kBlockKeys, kColumns) / kColumns;
  const i64 tile = group_id(0), key_head = group_id(1), b = group_id(2), block = tile / kTilesOfBlock;
  const i64 begin = block * A::kBlockKeys + tile % kTilesOfBlock * kColumns;
  const i64 end = min_of(min_of(begin + kColumns, (block + 1) * A::kBlockKeys), a.keys);
  const i32 own = lane(), teams = sub_group_count();
  for (i32 vector = sub_group_id(); vector < A::kVectors; vector += teams) {
    const i64 k = min_of(begin + vector * kLanes + own, a.keys - 1);
    flex_columns<kD>(keys + vector * kD * kLanes, flex_row(a.k, a.k_strides, b, key_head, k));
    flex_columns<kE>(values + vector * kE * kLanes, flex_row(a.v, a.v_strides, b, key_head, k));
    for (i32 i = 0; i < kPaddedD; ++i) key_sums[(vector * kPaddedD + i) * kLanes + own] = 0;
    for (i32 i = 0; i < kPaddedE; ++i) value_sums[(vector * kPaddedE + i) * kLanes + own] = 0;
  }
  for (i64 h = key_head * a.shared; h < (key_head + 1) * a.shared; ++h) {
    const i64 first_row = (b * a.heads + h) * a.queries;
    const auto add_queries = [&](i64 query, i32 count, bool masked) __attribute__((always_inline)) {
      barrier();
      flex_stage<kD, kPaddedD>(queries, flex_row(a.q, a.q_strides, b, h, query), a.q_strides[2], count);
      flex_stage<kE, kPaddedE>(grads, flex_row(a.grad, a.grad_strides, b, h, query), a.grad_strides[2],
                               count);
      barrier();
      for (i32 vector = sub_group_id(); vector < A::kVectors; vector += teams) {
        if (begin + vector * kLanes >= end) break;
        const i64 column = begin + vector * kLanes + own, k = min_of(column, a.keys - 1);
        flex_products<kRows, kD, kPaddedD>(keys + vector * kD * kLanes, queries, products, count);
        flex_products<kRows, kE, kPaddedE>(values + vector * kE * kLanes, grads, weights, count);
#pragma nounroll
        for (i32 n = 0; n < count; ++n) {
          const i64 row = first_row + query + n;
          bool seen = column < end;
          if (masked) seen &= a.mask((i32)b, (i32)h, (i32)query + n, (i32)k, true);
          Real product = products[n * kLanes + own], grad = weights[n * kLanes + own];
          flex_gradients(a, product, grad, (i32)b, (i32)h, (i32)query + n, (i32)k,
                         (Real)a.logsumexp[row] * kLogOf2<Real>, (Real)a.delta[row], seen);
          products[n * kLanes + own] = product;
          weights[n * kLanes + own] = grad;
        }
        flex_add<kRows, kE, kPaddedE>(value_sums + vector * kPaddedE * kLanes, grads, products, count,
                                      (Real)1);
        flex_add<kRows, kD, kPaddedD>(key_sums + vector * kPaddedD * kLanes, queries, weights, count,
                                      (Real)1);
      }
    };
    flex_each_tile<1>(a, b, h, block, A::kBlockQueries, a.queries, 0, add_queries);
  }
  for (i32 vector = sub_group_id(); vector < A::kVectors; vector += teams) {
    const i64 k = begin + vector * kLanes + own;
    if (k < end) {
      flex_store<kD>(flex_row(a.grad_k, a.grad_k_strides, b, key_head, k),
                     key_sums + vector * kPaddedD * kLanes, (Real)1);
      flex_store<kE>(flex_row(a.grad_v, a.grad_v_strides, b, key_head, k),
                     value_sums + vector * kPaddedE * kLanes, (Real)1);
    }
  }
}

}  // namespace xpu
