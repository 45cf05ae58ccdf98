// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// The pool of a tensor. Tensors whose dynamic sizes have the same origins differ in size by a constant
// factor, so that one layout serves all sizes.

#ifndef ADJOINT_LIB_TRANSFORMS_PLANMEMORY_POOLS_H
#define ADJOINT_LIB_TRANSFORMS_PLANMEMORY_POOLS_H

#include "adjoint/Dialect/AD/IR/ADOps.h"
#include "adjoint/Dialect/AD/IR/Sizes.h"
#include <map>

namespace mlir::ad {

/// Whether a tensor of the type fits into the address space; dynamic sizes always fit.
bool fitsInMemory(RankedTensorType type);

class PoolAnalysis {
public:
  /// The pool of the value: 0 if its shape is static.
  int64_t poolOf(Value tensor);
  /// Whether both have the same number of bytes, whatever the dynamic sizes are.
  bool haveSameSize(Value a, Value b);
  int64_t count() const { return pools.size() + 1; }

private:
  /// The origin of a size: a number, an index value, or an axis of a tensor whose size is not known further.
  struct Origin {
    Value value;
    int64_t number = 0; ///< the axis; the number itself when there is no value
    bool operator==(const Origin &other) const { return value == other.value && number == other.number; }
    bool operator<(const Origin &other) const {
      return std::make_pair(value.getAsOpaquePointer(), number) <
             std::make_pair(other.value.getAsOpaquePointer(), other.number);
    }
  };
  Origin originOf(Value tensor, int64_t axis);
  void addFactors(const Origin &size, std::vector<Origin> &factors);
  std::optional<Origin> step(const Origin &origin);

  std::map<Origin, Origin> known;
  std::map<std::vector<Origin>, int64_t> pools;
};

} // namespace mlir::ad

#endif // ADJOINT_LIB_TRANSFORMS_PLANMEMORY_POOLS_H
