// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Stores of a kernel's results, and their common iteration spaces.

#include "KernelOutputs.h"
#include "adjoint/Codegen/Kernel/RowShape.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace mlir::ad;
using namespace mlir::ad::codegen;

static ArrayRef<int64_t> shapeOf(Value value) { return cast<RankedTensorType>(value.getType()).getShape(); }

// Whether all operations that the value is computed by are of a kind whose elements can be counted over all
// axes: then all of it is one long vector.
bool KernelOutputs::isFlat(Value output, function_ref<bool(linalg::GenericOp)> isOfKind) {
  return !anyProducer(output, [&](Value value) {
    if (buffers.count(value) || value.getDefiningOp<linalg::FillOp>())
      return false;
    auto generic = value.getDefiningOp<linalg::GenericOp>();
    return !generic || !isOfKind(generic);
  });
}

// Whether a result may be in the buffer of an argument: one of its type that is read only where the result is
// written (OverwriteAnalysis), which the operand of a contraction is not.
static bool mayOverwriteArguments(KernelOp kernel) {
  return llvm::any_of(kernel.getBody().getArguments(), [&](BlockArgument argument) {
    return llvm::is_contained(kernel.getResultTypes(), argument.getType()) &&
           llvm::none_of(argument.getUses(), [](OpOperand &use) {
             auto generic = dyn_cast<linalg::GenericOp>(use.getOwner());
             return generic && generic.getNumReductionLoops() > 0 && generic.isDpsInput(&use) &&
                    !generic.getMatchingIndexingMap(&use).isIdentity();
           });
  });
}

// All values come before the first store, or each result is stored before the next is computed, for which
// registers are enough when the results are tiles of contractions.
LogicalResult KernelOutputs::storeOutputs(ValueRange outputs, ArrayRef<Buffer> destinations,
                                          ArrayRef<Position> positions) {
  Scope scope(context);
  SmallVector<std::pair<Buffer, SmallVector<Value>>> waiting;
  auto storePending = [&] {
    for (auto &[destination, computed] : waiting)
      stores.storeAll(destination, positions, computed);
    waiting.clear();
  };
  if (failed(values.prepare(outputs, positions)))
    return failure();
  bool wait = mayOverwriteArguments(kernel);
  for (auto [output, destination] : llvm::zip_equal(outputs, destinations)) {
    auto computed = values.evaluate(output, positions);
    if (failed(computed))
      return failure();
    waiting.push_back({destination, *computed});
    if (!wait)
      storePending();
  }
  storePending();
  return success();
}

Nest KernelOutputs::nestOver(const Buffer &buffer, ValueRange outputs) {
  Nest nest;
  nest.shape = buffer.shape;
  nest.sizes = buffer.sizes;
  nest.outputs.assign(outputs.begin(), outputs.end());
  return nest;
}

// The result whose shape is the iteration space, when every other one has that shape or one element per row.
std::optional<unsigned> KernelOutputs::rowSpaceOf(ValueRange outputs) {
  for (unsigned number = 0; number < outputs.size(); ++number) {
    Value space = outputs[number];
    auto fits = [&](Value output) {
      auto generic = output.getDefiningOp<linalg::GenericOp>();
      bool isValue = buffers.count(output) || output.getDefiningOp<linalg::FillOp>() ||
                     output.getDefiningOp<tensor::ExtractSliceOp>() ||
                     (generic && generic.getNumResults() == 1);
      return isValue && (shapeOf(output) == shapeOf(space) || isRowShape(shapeOf(output), shapeOf(space)));
    };
    if (llvm::all_of(outputs, fits))
      return number;
  }
  return std::nullopt;
}

RowOutputs KernelOutputs::splitByRow(ValueRange outputs, ArrayRef<int64_t> space) {
  RowOutputs split;
  for (auto [output, buffer] : llvm::zip_equal(outputs, results)) {
    bool full = ArrayRef<int64_t>(buffer.shape) == space;
    (full ? split.whole : split.perRow).push_back(output);
    (full ? split.wholeBuffers : split.perRowBuffers).push_back(buffer);
  }
  return split;
}

LogicalResult KernelOutputs::storePerRow(ArrayRef<Value> outputs, ArrayRef<Buffer> destinations,
                                         ArrayRef<Position> rows) {
  SmallVector<Value> computed;
  SmallVector<Position> positions;
  for (const Position &row : rows)
    for (auto [output, buffer] : llvm::zip_equal(outputs, destinations)) {
      Position &position = positions.emplace_back(row);
      if (buffer.shape.size() > row.size())
        position.push_back({indexConstant(0), 0, nullptr});
      FailureOr<Value> value = values.evaluateOne(output, position);
      if (failed(value))
        return failure();
      computed.push_back(*value);
    }
  for (auto [i, position, value] : llvm::enumerate(positions, computed))
    stores.store(destinations[i % destinations.size()], position, value);
  return success();
}
