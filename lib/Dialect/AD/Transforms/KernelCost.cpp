// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// What a kernel in linalg takes: bytes of its tensors, and scalar operations of its loops.

#include "adjoint/Dialect/AD/Transforms/KernelClass.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/Support/CheckedArithmetic.h"

using namespace mlir;
using namespace mlir::ad;

namespace {
/// Numbers that are unknown once one of them is unknown or too large.
using Count = std::optional<int64_t>;

Count times(Count left, Count right) {
  return left && right ? llvm::checkedMul(*left, *right) : std::nullopt;
}

Count plus(Count left, Count right) { return left && right ? llvm::checkedAdd(*left, *right) : std::nullopt; }

Count product(ArrayRef<int64_t> sizes) {
  Count result = 1;
  for (int64_t size : sizes)
    result = ShapedType::isDynamic(size) ? std::nullopt : times(result, size);
  return result;
}

Count elementsOf(Value value) { return product(cast<RankedTensorType>(value.getType()).getShape()); }

Count bytesOf(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor)
    return type.isIntOrFloat() ? Count(llvm::divideCeil(type.getIntOrFloatBitWidth(), 8)) : Count(8);
  return times(product(tensor.getShape()), bytesOf(tensor.getElementType()));
}

/// How often the elements of each value are computed, from the results of the kernel to its arguments.
class Evaluations {
public:
  Evaluations(Block &body, bool recomputes) : recomputes(recomputes) {
    for (Value output : body.getTerminator()->getOperands())
      if (isa<RankedTensorType>(output.getType()))
        add(output, elementsOf(output));
  }

  /// Scalar operations of the operation. Users come before it.
  Count visit(Operation &op) {
    if (auto generic = dyn_cast<linalg::GenericOp>(op))
      return visitGeneric(generic);
    for (Value operand : op.getOperands())
      if (isa<RankedTensorType>(operand.getType()))
        add(operand, timesComputed(op.getResult(0)));
    return 0;
  }

private:
  void add(Value value, Count count) {
    auto [known, isNew] = reads.try_emplace(value, count);
    if (!isNew)
      known->second = plus(known->second, count);
  }

  Count timesComputed(Value value) {
    if (!isa<RankedTensorType>(value.getType()))
      return 1;
    if (!recomputes)
      return elementsOf(value);
    auto found = reads.find(value);
    return found == reads.end() ? Count(0) : found->second;
  }

  Count visitGeneric(linalg::GenericOp generic) {
    SmallVector<int64_t> ranges = generic.getStaticLoopRanges(), reduced;
    for (auto [size, kind] : llvm::zip_equal(ranges, generic.getIteratorTypesArray()))
      if (kind == utils::IteratorType::reduction)
        reduced.push_back(size);
    // All results are computed together, as often as the one that is read most.
    Count computed = 0;
    for (Value result : generic.getResults()) {
      Count count = timesComputed(result);
      computed = computed && count ? Count(std::max(*computed, *count)) : std::nullopt;
    }
    Count steps = times(computed, product(reduced));
    for (OpOperand *input : generic.getDpsInputOperands())
      if (isa<RankedTensorType>(input->get().getType()))
        add(input->get(), steps);
    return times(steps, static_cast<int64_t>(llvm::range_size(generic.getBody()->without_terminator())));
  }

  const bool recomputes;
  llvm::DenseMap<Value, Count> reads;
};
} // namespace

std::optional<KernelCost> ad::costOfKernel(KernelOp kernel, bool recomputes) {
  Block &body = kernel.getBody().front();
  Count bytes = 0, operations = 0;
  for (Type type : llvm::concat<const Type>(kernel.getArgumentTypes(), kernel.getResultTypes()))
    bytes = plus(bytes, bytesOf(type));
  Evaluations evaluations(body, recomputes);
  for (Operation &op : llvm::reverse(body.without_terminator()))
    if (op.getNumResults() > 0)
      operations = plus(operations, evaluations.visit(op));
  if (!bytes || !operations)
    return std::nullopt;
  return KernelCost{*bytes, *operations};
}
