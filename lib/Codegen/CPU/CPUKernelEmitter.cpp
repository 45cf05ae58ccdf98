// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// What a CPU kernel does, and which component does it.

#include "CPUKernelEmitter.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "llvm/Support/DebugLog.h"

#define DEBUG_TYPE "ad-emit-cpu"

using namespace mlir;
using namespace mlir::ad;
using namespace mlir::ad::cpu;

CPUKernelEmitter::CPUKernelEmitter(KernelOp kernel, FunctionOpInterface function, int64_t lanes,
                                   const TileTable &tiles, bool hasDotProducts)
    : CPUContext(kernel, function, lanes, tiles, hasDotProducts) {}

LogicalResult CPUKernelEmitter::emit(Work toEmit) {
  work = toEmit;
  return failure(failed(bindArguments()) || failed(emitOutputs()));
}

LogicalResult CPUKernelEmitter::bindArguments() {
  bindRange(kernelArguments.bindTensors());
  bindReshapedArguments();
  if (failed(kernelArguments.bindScalars()))
    return failure();
  bindSlicedArguments();
  paddedInputs.bind();
  return success();
}

// Whether contractions alone read the tensor, element by element.
static bool isContracted(Value tensor) {
  return llvm::all_of(tensor.getUses(), [](OpOperand &use) {
    auto generic = dyn_cast<linalg::GenericOp>(use.getOwner());
    return generic && isContraction(generic) && generic.isDpsInput(&use);
  });
}

// A slice of an argument is a part of its memory, which contractions read and pack like an argument. Pairs
// and groups of narrow elements are not found by the rows of the whole tensor.
void CPUKernelEmitter::bindSlicedArguments() {
  for (auto slice : kernel.getBody().getOps<tensor::ExtractSliceOp>()) {
    auto found = buffers.find(slice.getSource());
    Type element = slice.getType().getElementType();
    bool isWide = element.isF32() || element.isF64();
    bool keepsSteps = llvm::all_of(slice.getStaticStrides(), [](int64_t stride) { return stride == 1; });
    if (found == buffers.end() || !isWide || !keepsSteps || !isContracted(slice.getResult()))
      continue;
    const Buffer &whole = found->second;
    Position none(slice.getType().getRank(), {indexConstant(0), 0, nullptr});
    int64_t step;
    Value lanesOfFirst,
        first = memoryAccess.linearIndex(whole, maps.insideSlice(slice, none), step, lanesOfFirst);
    Buffer part{
        memoryAccess.pointerAt(whole, first), element, SmallVector<int64_t>(slice.getType().getShape()), {}};
    for (OpFoldResult size : slice.getMixedSizes())
      part.sizes.push_back(isa<Attribute>(size) ? indexConstant(*getConstantIntValue(size))
                                                : scalars.lookup(cast<Value>(size)));
    part.wholeShape.assign(whole.rowShape().begin(), whole.rowShape().end());
    part.wholeSizes.assign(whole.rowSizes().begin(), whole.rowSizes().end());
    buffers[slice.getResult()] = part;
  }
}

// Whether the operation copies its operand as it is, without some axes of one element.
static bool onlyDropsUnitAxes(linalg::GenericOp generic) {
  if (generic.getNumDpsInputs() != 1 || generic.getNumResults() != 1 || generic.getNumReductionLoops() > 0 ||
      generic.getBlock()->getTerminator()->getOperand(0) != generic.getBlock()->getArgument(0))
    return false;
  AffineMap map = generic.getMatchingIndexingMap(generic.getDpsInputOperand(0));
  auto type = cast<RankedTensorType>(generic.getResult(0).getType());
  auto from = dyn_cast<RankedTensorType>(generic.getDpsInputs()[0].getType());
  if (!from || !from.hasStaticShape() || !type.hasStaticShape() ||
      !generic.getMatchingIndexingMap(generic.getDpsInitOperand(0)).isIdentity())
    return false;
  unsigned next = 0;
  for (auto [expr, size] : llvm::zip_equal(map.getResults(), from.getShape()))
    if (expr == getAffineDimExpr(next, map.getContext()) && size == type.getDimSize(next))
      ++next;
    else if (size != 1 || expr != getAffineConstantExpr(0, map.getContext()))
      return false;
  return next == map.getNumDims();
}

// Such a copy of an argument is the argument, so that contractions pack it as one.
void CPUKernelEmitter::bindReshapedArguments() {
  for (linalg::GenericOp generic : kernel.getBody().getOps<linalg::GenericOp>()) {
    bool isStored = llvm::any_of(generic->getUsers(), [](Operation *user) { return isa<YieldOp>(user); });
    if (isStored || !onlyDropsUnitAxes(generic))
      continue;
    auto found = buffers.find(generic.getDpsInputs()[0]);
    if (found == buffers.end())
      continue;
    Buffer reshaped = found->second;
    reshaped.shape = generic.getStaticLoopRanges();
    reshaped.sizes.clear();
    for (int64_t size : reshaped.shape)
      reshaped.sizes.push_back(indexConstant(size));
    buffers[generic.getResult(0)] = reshaped;
  }
}

void CPUKernelEmitter::bindRange(ValueRange arguments) {
  if (arguments.empty()) // a function that computes sizes only
    return;
  if (work != Work::all)
    partialReductions.memory = partialScans.memory = arguments.front();
  distribution.unitsOfCall = {arguments.drop_back().back(), arguments.back()};
}

FailureOr<int64_t> CPUKernelEmitter::emitSizesOfPartialReductions() {
  if (failed(bindArguments()))
    return failure();
  ValueRange outputs = kernel.getBody().front().getTerminator()->getOperands();
  if (linalg::GenericOp scan = partialScans.dividedScan(outputs)) {
    func::ReturnOp::create(builder, loc, partialScans.emitSizes(scan));
    return partialScans.minThreads(scan);
  }
  auto divided = partialReductions.divisibleReductions(outputs);
  if (divided.empty())
    return 0;
  SmallVector<Value> sizes = partialReductions.emitPartialSizes(divided);
  int64_t threads =
      partialReductions.threadsForPartials(divided); // computes sizes of the nest, so before the return
  func::ReturnOp::create(builder, loc, sizes);
  return threads;
}

LogicalResult CPUKernelEmitter::emitNanoseconds() {
  if (failed(bindArguments()))
    return failure();
  func::ReturnOp::create(builder, loc, distribution.estimatedNanoseconds());
  return success();
}

static int64_t operationsPerElement(KernelOp kernel) {
  int64_t count = 0;
  kernel.walk([&](linalg::GenericOp generic) { count += generic.getBlock()->getOperations().size() - 1; });
  return count;
}

// The number of vectors that one iteration of a loop over all elements computes. A chain of several
// elementary functions is longer than the reorder buffer of a CPU, so that the next vector would not overlap
// with it.
static int64_t vectorUnroll(KernelOp kernel, int64_t lanes) {
  int64_t functions = 0;
  kernel.walk([&](ElementaryOp) { ++functions; });
  return lanes > 1 && functions > 1 ? 4 : 1;
}

// A flat nest over few elements has no loops and no range: such a kernel can become a part of the host's
// loop, where its operands stay in registers. Returns the number of elements, 0 when there are too many.
static int64_t straightElements(KernelOp kernel, ArrayRef<int64_t> shape, int64_t lanes) {
  // With more operations, several vectors at once would not stay in registers.
  constexpr int64_t maxOps = 32, maxVectors = 4;
  int64_t maxCount = lanes * (operationsPerElement(kernel) > maxOps ? 1 : maxVectors), count = 1;
  for (int64_t size : shape)
    if (ShapedType::isDynamic(size) || llvm::MulOverflow(count, size, count))
      return 0;
  return count <= maxCount ? count : 0;
}

// Results over one iteration space are stored by one nest, so that a result may overwrite an operand.
LogicalResult CPUKernelEmitter::emitOutputs() {
  ValueRange outputs = kernel.getBody().front().getTerminator()->getOperands();
  if (linalg::GenericOp scan = work == Work::all ? nullptr : partialScans.dividedScan(outputs))
    return work == Work::partial ? partialScans.emitTotals(scan) : partialScans.emitTiles(scan);
  if (work != Work::all) {
    auto divided = partialReductions.divisibleReductions(outputs);
    partialReductions.bindPartialResults(divided);
    if (work == Work::partial)
      return partialReductions.emitPartialReductions(divided);
  }
  if (outputs.size() == 1)
    if (std::optional<LogicalResult> emitted = emitMovement(outputs.front()))
      return *emitted;
  std::optional<unsigned> space = kernelOutputs.rowSpaceOf(outputs);
  blockShape.recordK(outputs);
  if (!space)
    return separateNests.emitSeparately(outputs);
  CPUNest nest = kernelOutputs.nestOver(results[*space], outputs);
  bool oneShape = llvm::all_of(results, [&](const Buffer &buffer) { return buffer.shape == nest.shape; });
  flat = oneShape && llvm::all_of(outputs, [&](Value output) {
           return kernelOutputs.isFlat(output, isPointwise) || flatBroadcast.isFlatBroadcast(output, nest);
         });
  LDBG() << "@" << kernel.getSymName() << (flat ? " runs over all elements" : " has a nest over its axes");
  return flat ? emitFlat(std::move(nest), *space) : emitOverAxes(std::move(nest), *space, oneShape);
}

// A kernel that only moves elements: a transposition, a copy into packed panels, a scatter. Nothing for
// others.
std::optional<LogicalResult> CPUKernelEmitter::emitMovement(Value output) {
  if (std::optional<BlockTranspose::BlockAxes> axes = blockTranspose.transposedAxes(output))
    return blockTranspose.emitTranspose(output, *axes);
  if (std::optional<PackedOperand> packed = operandPacking.packingOfCopy(output))
    return operandPacking.emitPacking(*packed);
  if (std::optional<OrderedWrite> write = work == Work::all ? matchOrderedWrite(output) : std::nullopt)
    return orderedWrites.emit(*write);
  return std::nullopt;
}

LogicalResult CPUKernelEmitter::emitStores(const CPUNest &nest) {
  return loopNests.emitNest(nest, [&](ArrayRef<Position> positions) {
    return kernelOutputs.storeOutputs(nest.outputs, results, positions);
  });
}

// One loop over all elements.
LogicalResult CPUKernelEmitter::emitFlat(CPUNest nest, unsigned space) {
  int64_t count = straightElements(kernel, nest.shape, vectorLanes);
  nest.vectors = count > 0 ? std::max<int64_t>(1, count / vectorLanes) : vectorUnroll(kernel, vectorLanes);
  if (count == 0)
    distribution.chooseFlatUnits(nest);
  distribution.declareUnits({{space, nest.unitLoops}});
  distribution.flatten(nest);
  return emitStores(nest);
}

// Loops over the axes of the results; rows that have values of their own, such as sums, are emitted one by
// one.
LogicalResult CPUKernelEmitter::emitOverAxes(CPUNest nest, unsigned space, bool oneShape) {
  ValueRange outputs = nest.outputs;
  bool lanesAreSummed = hoisting.sumsLanesAlong(outputs, nest, nest.laneAxis());
  bool hasRows = llvm::any_of(outputs, [&](Value output) {
    return dependsOn(output, [&](linalg::GenericOp generic) { return reductionLoops.usesLanes(generic); });
  });
  LDBG() << "its lanes " << (lanesAreSummed ? "are" : "are not") << " summed, it "
         << (hasRows ? "has" : "has no") << " reductions of rows";
  if (!oneShape || (hasRows && nest.laneAxis() >= 0 && !lanesAreSummed))
    return rowNests.emitRows(outputs, space);
  nest.vectorize = !hoisting.sumsLanesAlong(outputs, nest, nest.laneAxis(), /*ofShortRows=*/false);
  if (!lanesAreSummed && work != Work::merge)
    blockShape.chooseBlock(nest);
  shortRows.chooseShortRows(nest);
  distribution.chooseUnits(nest);
  distribution.declareUnits({{space, nest.unitLoops}});
  return emitStores(nest);
}
