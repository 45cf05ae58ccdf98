// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Texts about operations that ran.
#include "adjoint/Runner/Trace/LoopPosition.h"
#include "adjoint/Support/LocationText.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;

static std::string joinNumbers(llvm::ArrayRef<int64_t> numbers) {
  return llvm::join(llvm::map_range(numbers, [](int64_t number) { return std::to_string(number); }), ",");
}

std::string mlir::ad::runner::iterationText(llvm::ArrayRef<int64_t> iterations) {
  return joinNumbers(iterations);
}

std::string mlir::ad::runner::executionText(Operation *op, llvm::ArrayRef<int64_t> iterations) {
  std::string text = op->getName().getStringRef().str() + " at " + locationText(op->getLoc());
  if (auto function = op->getParentOfType<func::FuncOp>())
    text += " in @" + function.getSymName().str();
  return iterations.empty() ? text : text + ", iteration " + joinNumbers(iterations);
}

std::string mlir::ad::runner::elementText(int64_t element, llvm::ArrayRef<int64_t> shape) {
  llvm::SmallVector<int64_t, 4> index(shape.size());
  for (size_t axis = shape.size(); axis-- > 0; element /= shape[axis])
    index[axis] = element % shape[axis];
  return "[" + joinNumbers(index) + "]";
}
