// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// What a program has that cannot be imported. Everything is collected first, so that one error lists all of
// it.

#ifndef ADJOINT_LIB_CONVERSION_IMPORTLINALG_REFUSALS_H
#define ADJOINT_LIB_CONVERSION_IMPORTLINALG_REFUSALS_H

#include "mlir/IR/Operation.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/Support/raw_ostream.h"

namespace mlir::ad {
/// An attribute or type as text of a message.
template <typename T> std::string printed(T value) {
  std::string text;
  llvm::raw_string_ostream(text) << value;
  return text;
}

class Refusals {
public:
  /// Remembers the reason why `op` is refused, the first one for each place, and fails.
  LogicalResult add(Operation *op, const Twine &reason) {
    reasons.insert(
        {LocationAttr(op->getLoc()), "'" + op->getName().getStringRef().str() + "' op " + reason.str()});
    return failure();
  }
  /// Scalar code that `ad` does not have.
  LogicalResult addScalarCode(Operation *op) {
    return add(op, "has no equivalent on tensors; write its value with other operations of arith and math");
  }
  /// Refuses an operation with values that are not imported.
  LogicalResult verifyTypes(Operation *op);
  /// Refuses an operation in a form that no target runs.
  LogicalResult verifyForm(Operation *op);
  bool empty() const { return reasons.empty(); }
  /// One error, with a note for each further place. There is one at least.
  void report() const;

private:
  llvm::MapVector<Attribute, std::string> reasons;
};
} // namespace mlir::ad

#endif // ADJOINT_LIB_CONVERSION_IMPORTLINALG_REFUSALS_H
