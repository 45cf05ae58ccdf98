// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Values that the code of the current block, or of one around it, has computed: loop-invariant values and
// common subexpressions are found here.

#ifndef ADJOINT_LIB_CODEGEN_KERNEL_VALUES_KNOWNVALUES_H
#define ADJOINT_LIB_CODEGEN_KERNEL_VALUES_KNOWNVALUES_H

#include "../KernelTypes.h"

namespace mlir::ad::codegen {

class KnownValues {
public:
  /// Null if no code that dominates the current one has computed it.
  Value lookup(const Key &key) const {
    for (const auto &block : llvm::reverse(blocks))
      if (auto found = block.find(key); found != block.end())
        return found->second;
    return {};
  }
  void remember(const Key &key, Value value) { blocks.back()[key] = value; }

  /// Values that are remembered during the lifetime of this object are forgotten at its end.
  class Scope {
  public:
    explicit Scope(KnownValues &known) : known(known) { known.blocks.emplace_back(); }
    ~Scope() { known.blocks.pop_back(); }

  private:
    KnownValues &known;
  };

private:
  SmallVector<std::map<Key, Value>> blocks = {{}};
};

} // namespace mlir::ad::codegen

#endif // ADJOINT_LIB_CODEGEN_KERNEL_VALUES_KNOWNVALUES_H
