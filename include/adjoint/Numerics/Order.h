// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// The canonical orders in which reductions and contractions accumulate (docs/numerics.md), as templates over
// the type of the accumulator. `step(accumulator, index)` adds one element, and `join(left, right)` joins two
// partial results. Every chain starts with `identity`. Absent nodes of a tree are skipped, not filled with
// identities.
#ifndef ADJOINT_NUMERICS_ORDER_H
#define ADJOINT_NUMERICS_ORDER_H

#include <cstddef>
#include <cstdint>
#include <vector>

namespace mlir::ad::numerics {

inline constexpr int64_t canonicalLanes = 64;
inline constexpr int64_t canonicalChunk = 4096;
inline constexpr int64_t canonicalBlock = 512;
// Of running reductions: elements of a block, and blocks of a tile.
inline constexpr int64_t canonicalScanBlock = 128;
inline constexpr int64_t canonicalScanTile = 128;

/// The balanced tree over adjacent elements, with strides 1, 2, 4, …. An odd node at the end moves up
/// unchanged.
template <class T, class Join> T joinPairwise(std::vector<T> &parts, const T &identity, Join join) {
  if (parts.empty())
    return identity;
  for (size_t stride = 1; stride < parts.size(); stride *= 2)
    for (size_t left = 0; left + stride < parts.size(); left += 2 * stride)
      parts[left] = join(parts[left], parts[left + stride]);
  return parts.front();
}

/// One chunk of at most `chunk` elements. Element j of it goes to lane j % lanes. Each lane is a chain in
/// ascending index. The lanes are joined by halves (l with l + lanes/2, then l + lanes/4, …). Lanes without
/// elements are not joined.
template <class T, class Step, class Join>
T joinLanes(int64_t begin, int64_t end, const T &identity, Step step, Join join,
            int64_t lanes = canonicalLanes) {
  std::vector<T> lane(static_cast<size_t>(end - begin < lanes ? end - begin : lanes), identity);
  for (int64_t i = begin; i < end; ++i) {
    T &accumulator = lane[static_cast<size_t>((i - begin) % lanes)];
    accumulator = step(accumulator, i);
  }
  for (int64_t half = lanes / 2; half >= 1; half /= 2)
    for (int64_t l = 0; l < half && l + half < static_cast<int64_t>(lane.size()); ++l)
      lane[l] = join(lane[l], lane[l + half]);
  return lane.empty() ? identity : lane.front();
}

/// Elements 0 … count-1 along the last axis: chunks of strided lanes, then the balanced tree over the chunks.
template <class T, class Step, class Join>
T laneTree(int64_t count, const T &identity, Step step, Join join, int64_t lanes = canonicalLanes,
           int64_t chunk = canonicalChunk) {
  std::vector<T> parts;
  for (int64_t begin = 0; begin < count; begin += chunk) {
    int64_t end = count - begin < chunk ? count : begin + chunk;
    parts.push_back(joinLanes(begin, end, identity, step, join, lanes));
  }
  return joinPairwise(parts, identity, join);
}

/// Elements 0 … count-1 of any other reduction or contraction: chains over blocks, then the balanced tree.
template <class T, class Step, class Join>
T blockChain(int64_t count, const T &identity, Step step, Join join, int64_t block = canonicalBlock) {
  std::vector<T> parts;
  for (int64_t begin = 0; begin < count; begin += block) {
    T accumulator = identity;
    for (int64_t i = begin; i < count && i < begin + block; ++i)
      accumulator = step(accumulator, i);
    parts.push_back(accumulator);
  }
  return joinPairwise(parts, identity, join);
}

/// The running reduction of `values` in nested chains, whose lengths `lengths` has from the innermost on; the
/// last chain takes all that is left. Each block of the first length is a chain of its own from `identity`.
/// The totals of the blocks have a running reduction in the chains that remain, and each element after the
/// first block is joined to the running total of the blocks before its own.
template <class T, class Join>
std::vector<T> nestedChains(const std::vector<T> &values, const T &identity,
                            const std::vector<int64_t> &lengths, Join join) {
  size_t length = lengths.empty() ? values.size() : static_cast<size_t>(lengths.front());
  std::vector<T> running, totals;
  for (size_t i = 0; i < values.size(); ++i) {
    running.push_back(join(i % length == 0 ? identity : running.back(), values[i]));
    if ((i + 1) % length == 0)
      totals.push_back(running.back());
  }
  if (values.size() <= length)
    return running;
  std::vector<T> before = nestedChains(totals, identity, {lengths.begin() + 1, lengths.end()}, join);
  for (size_t i = length; i < values.size(); ++i)
    running[i] = join(before[i / length - 1], running[i]);
  return running;
}

} // namespace mlir::ad::numerics

#endif // ADJOINT_NUMERICS_ORDER_H
