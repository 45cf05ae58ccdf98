// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// An order of summation is a tree of levels, from the elements to the total (OrderAttr, docs/numerics.md).

#ifndef ADJOINT_DIALECT_AD_IR_ORDERLEVEL_H
#define ADJOINT_DIALECT_AD_IR_ORDERLEVEL_H

#include "llvm/ADT/Hashing.h"

#include <cstdint>
#include <optional>

namespace mlir::ad {

/// How the nodes of a level become one node of the next. The first level joins elements.
enum class OrderJoin {
  step,        ///< neighbours, in the order that an instruction has
  chain,       ///< neighbours, in ascending order from the identity
  interleaved, ///< the same for elements that are as far apart as the next level has nodes: a lane
  halving,     ///< a tree that joins node l with node l + half of them, then a quarter
  pairwise     ///< the balanced tree that joins neighbours
};

/// One level of an order.
struct OrderLevel {
  OrderJoin join;
  std::optional<int64_t> count; ///< of joined nodes; all that there are if it is open

  bool operator==(const OrderLevel &other) const { return join == other.join && count == other.count; }
};

inline llvm::hash_code hash_value(const OrderLevel &level) {
  return llvm::hash_combine(static_cast<int>(level.join), level.count.has_value(), level.count.value_or(0));
}

} // namespace mlir::ad

#endif // ADJOINT_DIALECT_AD_IR_ORDERLEVEL_H
