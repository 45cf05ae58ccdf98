// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Stores of a kernel's results, and their common iteration spaces.

#include "../KernelEmitter.h"
#include "../Values/ExtractedTensors.h"
#include "adjoint/Codegen/Kernel/RowShape.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace mlir::ad;
using namespace mlir::ad::codegen;

static ArrayRef<int64_t> shapeOf(Value value) { return cast<RankedTensorType>(value.getType()).getShape(); }

// The tensors that an operation of the body reads whole, at a slice, or at computed indices.
static SmallVector<Value> tensorsRead(Operation *op) {
  if (auto generic = dyn_cast_or_null<linalg::GenericOp>(op)) {
    SmallVector<Value> read = extractedTensors(generic);
    llvm::copy_if(generic.getDpsInputs(), std::back_inserter(read),
                  [](Value input) { return isa<RankedTensorType>(input.getType()); });
    return read;
  }
  if (isa_and_nonnull<tensor::CastOp, tensor::ExtractSliceOp>(op))
    return {op->getOperand(0)};
  return {};
}

// Visits everything that `output` is computed from, once; stops when the callback is true.
static bool anyProducer(Value output, function_ref<bool(Value)> callback) {
  SmallVector<Value> pending = {output};
  llvm::SmallDenseSet<Value> seen;
  while (!pending.empty()) {
    Value value = pending.pop_back_val();
    if (callback(value))
      return true;
    for (Value input : tensorsRead(value.getDefiningOp()))
      if (seen.insert(input).second)
        pending.push_back(input);
  }
  return false;
}

bool codegen::dependsOn(Value output, function_ref<bool(linalg::GenericOp)> predicate) {
  return anyProducer(output, [&](Value value) {
    auto generic = value.getDefiningOp<linalg::GenericOp>();
    return generic && predicate(generic);
  });
}

bool codegen::reduces(linalg::GenericOp generic) { return generic.getNumReductionLoops() > 0; }

bool codegen::isPointwise(linalg::GenericOp generic) {
  auto isIdentity = [&](OpOperand &operand) {
    return !isa<RankedTensorType>(operand.get().getType()) ||
           generic.getMatchingIndexingMap(&operand).isIdentity();
  };
  return generic.getNumReductionLoops() == 0 && llvm::all_of(generic->getOpOperands(), isIdentity) &&
         llvm::none_of(*generic.getBlock(),
                       [](Operation &op) { return isa<linalg::IndexOp, tensor::ExtractOp>(op); });
}

Value codegen::convertedFrom(Value tensor) {
  Value source;
  while (auto generic = tensor.getDefiningOp<linalg::GenericOp>()) {
    if (generic.getNumDpsInputs() != 1 || generic.getNumResults() != 1 || !isPointwise(generic))
      break;
    auto convert = generic.getBlock()->getTerminator()->getOperand(0).getDefiningOp<ConvertOp>();
    if (!convert || convert.getInput() != generic.getBlock()->getArgument(0) ||
        !isa<RankedTensorType>(generic.getDpsInputs()[0].getType()))
      break;
    source = tensor = generic.getDpsInputs()[0];
  }
  return source;
}

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
  KernelEmitter::Scope scope(emitter);
  SmallVector<std::pair<Buffer, SmallVector<Value>>> waiting;
  auto storePending = [&] {
    for (auto &[destination, computed] : waiting)
      emitter.storeAll(destination, positions, computed);
    waiting.clear();
  };
  if (failed(emitter.prepareOutputs(outputs, positions)))
    return failure();
  bool wait = mayOverwriteArguments(kernel);
  for (auto [output, destination] : llvm::zip_equal(outputs, destinations)) {
    auto computed = emitter.evaluator.evaluate(output, positions);
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
  SmallVector<Value> values;
  SmallVector<Position> positions;
  for (const Position &row : rows)
    for (auto [output, buffer] : llvm::zip_equal(outputs, destinations)) {
      Position &position = positions.emplace_back(row);
      if (buffer.shape.size() > row.size())
        position.push_back({indexConstant(0), 0, nullptr});
      FailureOr<Value> value = emitter.evaluator.evaluateOne(output, position);
      if (failed(value))
        return failure();
      values.push_back(*value);
    }
  for (auto [i, position, value] : llvm::enumerate(positions, values))
    emitter.store(destinations[i % destinations.size()], position, value);
  return success();
}
// The elements of one result that are in the range.
LogicalResult KernelOutputs::emitRange(Value output, const Buffer &destination, const AxisRange &range) {
  if (auto insert = output.getDefiningOp<tensor::InsertSliceOp>())
    return emitter.insertEmitter.emitInsert(insert, destination, range);
  if (output.getDefiningOp<tensor::EmptyOp>())
    return success(); // later insertions write every element
  if (linalg::GenericOp scan = scanOf(output))
    return emitter.scans.emitScan(scan, emitter.scans.nestOverChains(scan), destination);
  Nest nest = emitter.kernelOutputs.nestOver(destination, output);
  nest.vectorize = !emitter.hoisting.sumsLanesAlong(output, nest, nest.laneAxis(), /*ofShortRows=*/false);
  nest.range = range;
  return emitter.emitNest(nest, [&](ArrayRef<Position> positions) {
    return emitter.kernelOutputs.storeOutputs(output, destination, positions);
  });
}

Value KernelOutputs::numberOf(OpFoldResult number) {
  if (auto attr = dyn_cast<Attribute>(number))
    return indexConstant(cast<IntegerAttr>(attr).getInt());
  return emitter.scalars.lookup(cast<Value>(number));
}
