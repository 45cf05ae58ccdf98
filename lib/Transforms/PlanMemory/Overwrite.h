// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Which results of a kernel may overwrite an argument.

#ifndef ADJOINT_LIB_TRANSFORMS_PLANMEMORY_OVERWRITE_H
#define ADJOINT_LIB_TRANSFORMS_PLANMEMORY_OVERWRITE_H

#include "adjoint/Dialect/AD/IR/ADOps.h"
#include "mlir/IR/SymbolTable.h"

namespace mlir::ad {

/// Caches its findings about kernels: valid as long as no kernel changes.
class OverwriteAnalysis {
public:
  explicit OverwriteAnalysis(SymbolTableCollection &symbols) : symbols(symbols) {}

  /// Whether the launched kernel may write result `result` over input `input`: when it writes an element, it
  /// does not need the old one any more.
  bool mayOverwrite(LaunchOp launch, unsigned input, unsigned result);

private:
  enum class Reads : uint8_t {
    nothing,   ///< sizes at most
    point,     ///< the element that is written
    row,       ///< that element, and the whole row for reductions over the row
    elsewhere, ///< any element
    inserted   ///< none: slices are inserted into it
  };
  struct Facts {
    SmallVector<Reads> arguments;
    bool rowsOnly = false; ///< all reductions are over rows, in lanes
  };
  const Facts &factsOf(KernelOp kernel);
  Reads readsOf(BlockArgument argument);

  SymbolTableCollection &symbols;
  DenseMap<Operation *, std::unique_ptr<Facts>> known;
};

} // namespace mlir::ad

#endif // ADJOINT_LIB_TRANSFORMS_PLANMEMORY_OVERWRITE_H
