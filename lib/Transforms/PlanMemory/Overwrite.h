// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Which results of a kernel may lie in the place of an argument.

#ifndef ADJOINT_LIB_TRANSFORMS_PLANMEMORY_OVERWRITE_H
#define ADJOINT_LIB_TRANSFORMS_PLANMEMORY_OVERWRITE_H

#include "adjoint/Dialect/AD/IR/ADOps.h"
#include "mlir/IR/SymbolTable.h"

namespace mlir::ad {

/// Remembers what it has found out about kernels: keep one only as long as no kernel changes.
class OverwriteAnalysis {
public:
  explicit OverwriteAnalysis(SymbolTableCollection &symbols) : symbols(symbols) {}

  /// Whether the launched kernel may write result `result` over input `input`: when it writes an element, it
  /// does not need the old one any more.
  bool mayOverwrite(LaunchOp launch, unsigned input, unsigned result);

private:
  enum class Reads : uint8_t {
    nothing,   ///< sizes at most
    point,     ///< where the result is written
    row,       ///< there, and anywhere in the same row for values that belong to the whole row
    elsewhere, ///< anywhere
    inserted   ///< nothing: slices are inserted into it
  };
  struct Facts {
    SmallVector<Reads> arguments;
    bool rowsOnly = false; ///< all that is summed are rows, in lanes
  };
  const Facts &factsOf(KernelOp kernel);
  Reads readsOf(BlockArgument argument);

  SymbolTableCollection &symbols;
  DenseMap<Operation *, std::unique_ptr<Facts>> known;
};

} // namespace mlir::ad

#endif // ADJOINT_LIB_TRANSFORMS_PLANMEMORY_OVERWRITE_H
