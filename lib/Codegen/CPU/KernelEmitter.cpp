// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Arguments, sizes and roots of the kernel emitter.

#include "KernelEmitter.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace mlir::ad;
using namespace mlir::ad::cpu;

KernelEmitter::KernelEmitter(KernelOp kernel, FunctionOpInterface function, int64_t lanes,
                             const TileTable &tiles, bool dotProducts)
    : kernel(kernel), function(function), builder(function.getContext()), loc(kernel.getLoc()), tiles(tiles),
      dotProducts(dotProducts), vectorLanes(lanes) {}

LogicalResult KernelEmitter::emit() {
  builder.setInsertionPointToStart(&function.getFunctionBody().front());
  evaluator.caches.emplace_back();
  return failure(failed(bindArguments()) || failed(bindScalars()) || failed(emitRoots()));
}

// A size that the type of one operand leaves open is known when another operand has it.
static void refineShapes(linalg::GenericOp generic, DenseMap<Value, Buffer> &buffers) {
  SmallVector<int64_t> ranges = generic.getStaticLoopRanges();
  for (OpOperand *operand : generic.getDpsInputOperands()) {
    auto found = buffers.find(operand->get());
    if (found == buffers.end())
      continue;
    for (auto [axis, index] : llvm::enumerate(generic.getMatchingIndexingMap(operand).getResults()))
      if (auto loop = dyn_cast<AffineDimExpr>(index);
          loop && !ShapedType::isDynamic(ranges[loop.getPosition()]))
        found->second.shape[axis] = ranges[loop.getPosition()];
  }
}

// Arguments of the function: per tensor a pointer and its dynamic sizes, scalars as they are; then the same
// for each result; then the range.
LogicalResult KernelEmitter::bindArguments() {
  unsigned next = 0;
  auto buffer = [&](Type type) {
    auto tensor = cast<RankedTensorType>(type);
    Buffer result;
    result.pointer = function.getArgument(next++);
    result.element = tensor.getElementType();
    result.shape.assign(tensor.getShape().begin(), tensor.getShape().end());
    for (int64_t size : tensor.getShape())
      result.sizes.push_back(ShapedType::isDynamic(size) ? Value(function.getArgument(next++))
                                                         : indexConstant(size));
    return result;
  };
  for (BlockArgument argument : kernel.getBody().getArguments()) {
    if (isa<RankedTensorType>(argument.getType()))
      buffers[argument] = buffer(argument.getType());
    else
      scalars.map(argument, function.getArgument(next++));
  }
  for (Type type : kernel.getResultTypes())
    results.push_back(buffer(type));
  for (linalg::GenericOp generic : kernel.getBody().getOps<linalg::GenericOp>())
    refineShapes(generic, buffers);
  bindRange(function.getArguments().drop_front(next));
  return success();
}

void KernelEmitter::bindRange(ValueRange arguments) {
  if (arguments.empty()) // a function that computes sizes only
    return;
  if (work != Work::all)
    partialMemory = arguments.front();
  rangeBegin = arguments.drop_back().back();
  rangeEnd = arguments.back();
}

LogicalResult KernelEmitter::bindSizes() {
  builder.setInsertionPointToStart(&function.getFunctionBody().front());
  evaluator.caches.emplace_back();
  return failure(failed(bindArguments()) || failed(bindScalars()));
}

FailureOr<int64_t> KernelEmitter::emitSizesOfPartialReductions() {
  if (failed(bindSizes()))
    return failure();
  auto sums = partials.divisibleSums(kernel.getBody().front().getTerminator()->getOperands());
  if (sums.empty())
    return 0;
  func::ReturnOp::create(builder, loc, partials.emitPartialSizes(sums));
  return partials.threadsForPartials(sums);
}

LogicalResult KernelEmitter::emitNanoseconds() {
  if (failed(bindSizes()))
    return failure();
  func::ReturnOp::create(builder, loc, distribution.estimatedNanoseconds());
  return success();
}

// Scalars of the body (constants, sizes, index arithmetic) do not depend on the iteration: they come first.
LogicalResult KernelEmitter::bindScalars() {
  for (Operation &op : kernel.getBody().front().without_terminator()) {
    if (isa<linalg::GenericOp, linalg::FillOp, tensor::EmptyOp, tensor::InsertSliceOp, tensor::ExtractSliceOp,
            tensor::CastOp>(op))
      continue;
    if (auto dim = dyn_cast<tensor::DimOp>(op)) {
      std::optional<int64_t> axis = dim.getConstantIndex();
      if (!axis)
        return dim.emitOpError("asks for a size along an axis that is not a constant");
      int64_t rank = cast<RankedTensorType>(dim.getSource().getType()).getRank();
      if (*axis < 0 || *axis >= rank)
        return dim.emitOpError("asks for dimension ") << *axis << " of rank " << rank;
      scalars.map(dim.getResult(), sizeOf(dim.getSource(), *axis));
      continue;
    }
    if (auto read = dyn_cast<tensor::ExtractOp>(op)) {
      IRMapping none;
      FailureOr<Value> value = evaluator.extract(read, none, {});
      if (failed(value))
        return failure();
      scalars.map(read.getResult(), *value);
      continue;
    }
    if (llvm::any_of(op.getOperandTypes(), [](Type type) { return isa<RankedTensorType>(type); }) ||
        op.getNumRegions() != 0)
      return op.emitOpError("is not linalg on tensors; the CPU emitter cannot make code of it");
    builder.clone(op, scalars);
  }
  return success();
}

Value KernelEmitter::sizeOf(Value tensor, int64_t axis) {
  auto type = cast<RankedTensorType>(tensor.getType());
  if (!type.isDynamicDim(axis))
    return indexConstant(type.getDimSize(axis));
  if (auto it = buffers.find(tensor); it != buffers.end())
    return it->second.sizes[axis];
  Operation *op = tensor.getDefiningOp();
  if (auto empty = dyn_cast<tensor::EmptyOp>(op))
    return scalars.lookup(empty.getDynamicSize(axis));
  if (auto fill = dyn_cast<linalg::FillOp>(op))
    return sizeOf(fill.getOutputs()[0], axis);
  if (auto generic = dyn_cast<linalg::GenericOp>(op))
    return sizeOf(generic.getDpsInits()[cast<OpResult>(tensor).getResultNumber()], axis);
  if (auto insert = dyn_cast<tensor::InsertSliceOp>(op))
    return sizeOf(insert.getDest(), axis);
  if (auto slice = dyn_cast<tensor::ExtractSliceOp>(op))
    return scalars.lookup(cast<Value>(slice.getMixedSizes()[axis]));
  return sizeOf(cast<tensor::CastOp>(op).getSource(), axis);
}

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

bool cpu::dependsOn(Value root, function_ref<bool(linalg::GenericOp)> predicate) {
  return anyProducer(root, [&](Value value) {
    auto generic = value.getDefiningOp<linalg::GenericOp>();
    return generic && predicate(generic);
  });
}

bool cpu::reduces(linalg::GenericOp generic) { return generic.getNumReductionLoops() > 0; }

bool cpu::isPointwise(linalg::GenericOp generic) {
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
bool KernelEmitter::isFlat(Value root, function_ref<bool(linalg::GenericOp)> isOfKind) {
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
LogicalResult KernelEmitter::storeRoots(ValueRange roots, ArrayRef<Buffer> destinations,
                                        ArrayRef<Position> positions) {
  Scope scope(*this);
  SmallVector<std::pair<Buffer, SmallVector<Value>>> waiting;
  auto storeWaiting = [&] {
    for (auto &[destination, computed] : waiting)
      storeAll(destination, positions, computed);
    waiting.clear();
  };
  if (failed(spilling.evaluateSums(roots, positions)))
    return failure();
  bool wait = mayOverwriteArguments(kernel);
  for (auto [root, destination] : llvm::zip_equal(roots, destinations)) {
    auto computed = evaluator.evaluate(root, positions);
    if (failed(computed))
      return failure();
    waiting.push_back({destination, *computed});
    if (!wait)
      storeWaiting();
  }
  storeWaiting();
  return success();
}

void KernelEmitter::storeAll(const Buffer &destination, ArrayRef<Position> positions, ValueRange values) {
  if (interleavedColumns > 1)
    return shortRows.storeInterleaved(destination, positions, values);
  for (auto [position, value] : llvm::zip_equal(positions, values))
    store(destination, position, value);
}

Nest KernelEmitter::nestOver(const Buffer &buffer, ValueRange roots) {
  Nest nest;
  nest.shape = buffer.shape;
  nest.sizes = buffer.sizes;
  nest.roots.assign(roots.begin(), roots.end());
  return nest;
}

static int64_t operationsPerElement(KernelOp kernel) {
  int64_t count = 0;
  kernel.walk([&](linalg::GenericOp generic) { count += generic.getBlock()->getOperations().size() - 1; });
  return count;
}

// How many vectors a loop over all elements computes together. A chain of several elementary functions is
// longer than the reorder buffer of a processor, so that the next vector would wait for its end.
static int64_t vectorsTogether(KernelOp kernel, int64_t lanes) {
  int64_t functions = 0;
  kernel.walk([&](ElementaryOp) { ++functions; });
  return lanes > 1 && functions > 1 ? 4 : 1;
}

// A flat nest over few elements has no loops and no range: such a kernel can become a part of the host's
// loop, where its operands stay in registers. Returns the number of elements, 0 when there are too many.
static int64_t straightElements(KernelOp kernel, ArrayRef<int64_t> shape, int64_t lanes) {
  // With more operations, several vectors at once would not stay in registers.
  constexpr int64_t mostOps = 32, mostVectors = 4;
  int64_t most = lanes * (operationsPerElement(kernel) > mostOps ? 1 : mostVectors), count = 1;
  for (int64_t size : shape)
    if (ShapedType::isDynamic(size) || llvm::MulOverflow(count, size, count))
      return 0;
  return count <= most ? count : 0;
}

// Results that are computed over one iteration space share a nest, so that a result may overwrite an operand.
LogicalResult KernelEmitter::emitRoots() {
  ValueRange roots = kernel.getBody().front().getTerminator()->getOperands();
  if (work != Work::all) {
    auto sums = partials.divisibleSums(roots);
    partials.placePartialSums(sums, partialMemory);
    if (work == Work::partial)
      return partials.emitPartialReductions(sums);
  }
  if (roots.size() == 1) {
    if (std::optional<BlockTranspose::BlockAxes> axes = blockTranspose.transposedAxes(roots.front()))
      return blockTranspose.emitTranspose(roots.front(), *axes);
    if (std::optional<PackedOperand> packed = packing.packingOfCopy(roots.front())) {
      packing.emitPacking(*packed);
      return success();
    }
  }
  std::optional<unsigned> space = rowSpaceOf(roots);
  blockEmitter.recordDepth(roots);
  if (!space)
    return separateNests.emitSeparately(roots);
  Nest nest = nestOver(results[*space], roots);
  bool oneShape = llvm::all_of(results, [&](const Buffer &buffer) { return buffer.shape == nest.shape; });
  flat = oneShape && llvm::all_of(roots, [&](Value root) {
           return isFlat(root, isPointwise) || flatBroadcast.isFlatBroadcast(root, nest);
         });
  if (flat) {
    int64_t count = straightElements(kernel, nest.shape, vectorLanes);
    nest.vectors =
        count > 0 ? std::max<int64_t>(1, count / vectorLanes) : vectorsTogether(kernel, vectorLanes);
    if (count == 0)
      distribution.chooseFlatUnits(nest);
    distribution.declareUnits({{*space, nest.unitLoops}});
    distribution.flatten(nest);
  } else {
    bool lanesAreSummed = hoisting.sumsLanesAlong(roots, nest, nests.laneAxisOf(nest));
    bool hasRows = llvm::any_of(roots, [&](Value root) {
      return dependsOn(root, [&](linalg::GenericOp generic) { return reductions.usesLanes(generic); });
    });
    if (!oneShape || (hasRows && nests.laneAxisOf(nest) >= 0 && !lanesAreSummed))
      return rowEmitter.emitRows(roots, *space);
    nest.vectorize = !hoisting.sumsLanesAlong(roots, nest, nests.laneAxisOf(nest), /*ofShortRows=*/false);
    if (!lanesAreSummed && work != Work::merge)
      blockEmitter.chooseBlock(nest);
    shortRows.chooseShortRows(nest);
    distribution.chooseUnits(nest);
    distribution.declareUnits({{*space, nest.unitLoops}});
  }
  return emitNest(nest, [&](ArrayRef<Position> positions) { return storeRoots(roots, results, positions); });
}
