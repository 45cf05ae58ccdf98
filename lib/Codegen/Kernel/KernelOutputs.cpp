// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Stores of a kernel's results, and the iteration spaces that they share.

#include "KernelEmitter.h"
#include "adjoint/Codegen/Kernel/RowShape.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace mlir::ad;
using namespace mlir::ad::codegen;

static ArrayRef<int64_t> shapeOf(Value value) { return cast<RankedTensorType>(value.getType()).getShape(); }

// The tensors that an operation of the body reads whole or at a slice.
static SmallVector<Value> tensorsRead(Operation *op) {
  if (auto generic = dyn_cast_or_null<linalg::GenericOp>(op))
    return llvm::filter_to_vector(generic.getDpsInputs(),
                                  [](Value input) { return isa<RankedTensorType>(input.getType()); });
  if (isa_and_nonnull<tensor::CastOp, tensor::ExtractSliceOp>(op))
    return {op->getOperand(0)};
  return {};
}

// Visits everything that `root` is computed from, once; stops when the callback is true.
static bool anyProducer(Value root, function_ref<bool(Value)> callback) {
  SmallVector<Value> pending = {root};
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

bool codegen::dependsOn(Value root, function_ref<bool(linalg::GenericOp)> predicate) {
  return anyProducer(root, [&](Value value) {
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

// Whether all operations that the value is computed by are of a kind whose elements can be counted over all
// axes: then all of it is one long vector.
bool KernelOutputs::isFlat(Value root, function_ref<bool(linalg::GenericOp)> isOfKind) {
  return !anyProducer(root, [&](Value value) {
    if (buffers.count(value) || value.getDefiningOp<linalg::FillOp>())
      return false;
    auto generic = value.getDefiningOp<linalg::GenericOp>();
    return !generic || !isOfKind(generic);
  });
}

// Whether a result may lie in the place of an argument: one of its type that is read only where the result is
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
LogicalResult KernelOutputs::storeRoots(ValueRange roots, ArrayRef<Buffer> destinations,
                                        ArrayRef<Position> positions) {
  KernelEmitter::Scope scope(emitter);
  SmallVector<std::pair<Buffer, SmallVector<Value>>> waiting;
  auto storeWaiting = [&] {
    for (auto &[destination, computed] : waiting)
      emitter.storeAll(destination, positions, computed);
    waiting.clear();
  };
  if (failed(emitter.prepareRoots(roots, positions)))
    return failure();
  bool wait = mayOverwriteArguments(kernel);
  for (auto [root, destination] : llvm::zip_equal(roots, destinations)) {
    auto computed = emitter.evaluator.evaluate(root, positions);
    if (failed(computed))
      return failure();
    waiting.push_back({destination, *computed});
    if (!wait)
      storeWaiting();
  }
  storeWaiting();
  return success();
}

Nest KernelOutputs::nestOver(const Buffer &buffer, ValueRange roots) {
  Nest nest;
  nest.shape = buffer.shape;
  nest.sizes = buffer.sizes;
  nest.roots.assign(roots.begin(), roots.end());
  return nest;
}

// The result whose shape is the iteration space, when every other one has that shape or one element per row.
std::optional<unsigned> KernelOutputs::rowSpaceOf(ValueRange roots) {
  for (unsigned number = 0; number < roots.size(); ++number) {
    Value space = roots[number];
    auto fits = [&](Value root) {
      auto generic = root.getDefiningOp<linalg::GenericOp>();
      bool isValue = buffers.count(root) || root.getDefiningOp<linalg::FillOp>() ||
                     root.getDefiningOp<tensor::ExtractSliceOp>() ||
                     (generic && generic.getNumResults() == 1);
      return isValue && (shapeOf(root) == shapeOf(space) || isRowShape(shapeOf(root), shapeOf(space)));
    };
    if (llvm::all_of(roots, fits))
      return number;
  }
  return std::nullopt;
}

RowRoots KernelOutputs::splitByRow(ValueRange roots, ArrayRef<int64_t> space) {
  RowRoots split;
  for (auto [root, buffer] : llvm::zip_equal(roots, results)) {
    bool full = ArrayRef<int64_t>(buffer.shape) == space;
    (full ? split.whole : split.perRow).push_back(root);
    (full ? split.wholeBuffers : split.perRowBuffers).push_back(buffer);
  }
  return split;
}

LogicalResult KernelOutputs::storePerRow(ArrayRef<Value> roots, ArrayRef<Buffer> destinations,
                                         ArrayRef<Position> rows) {
  SmallVector<Value> values;
  SmallVector<Position> places;
  for (const Position &row : rows)
    for (auto [root, buffer] : llvm::zip_equal(roots, destinations)) {
      Position &place = places.emplace_back(row);
      if (buffer.shape.size() > row.size())
        place.push_back({indexConstant(0), 0, nullptr});
      FailureOr<Value> value = emitter.evaluator.evaluateOne(root, place);
      if (failed(value))
        return failure();
      values.push_back(*value);
    }
  for (auto [i, place, value] : llvm::enumerate(places, values))
    emitter.store(destinations[i % destinations.size()], place, value);
  return success();
}
// The elements of one result that lie in the range.
LogicalResult KernelOutputs::emitRange(Value root, const Buffer &destination, const AxisRange &range) {
  if (auto insert = root.getDefiningOp<tensor::InsertSliceOp>())
    return emitter.insertEmitter.emitInsert(insert, destination, range);
  if (root.getDefiningOp<tensor::EmptyOp>())
    return success(); // every element is written by what follows
  if (linalg::GenericOp scan = scanOf(root))
    return emitter.scans.emitScan(scan, emitter.scans.nestOverLines(scan), destination);
  Nest nest = emitter.outputs.nestOver(destination, root);
  nest.vectorize = !emitter.hoisting.sumsLanesAlong(root, nest, nest.laneAxis(), /*ofShortRows=*/false);
  nest.range = range;
  return emitter.emitNest(nest, [&](ArrayRef<Position> positions) {
    return emitter.outputs.storeRoots(root, destination, positions);
  });
}

Value KernelOutputs::numberOf(OpFoldResult number) {
  if (auto attr = dyn_cast<Attribute>(number))
    return indexConstant(cast<IntegerAttr>(attr).getInt());
  return emitter.scalars.lookup(cast<Value>(number));
}
