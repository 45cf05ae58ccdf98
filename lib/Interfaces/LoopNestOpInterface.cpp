// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Accesses, sizes and verifiers of loop nests and ordered writes.

#include "adjoint/Interfaces/LoopNestOpInterface.h"
#include "adjoint/Interfaces/OrderedWriteOpInterface.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace mlir::ad;

//===- Accesses -===//

bool ElementAccess::isPlain() const {
  return outOfRange == OutOfRange::error && indexOperands.empty() &&
         llvm::all_of(map.getResults(), llvm::IsaPred<AffineDimExpr, AffineConstantExpr>);
}

unsigned ad::tensorNumber(Operation *op, unsigned operand) {
  return llvm::count_if(op->getOperands().take_front(operand).getTypes(), llvm::IsaPred<RankedTensorType>);
}

// Quotients and remainders by positive constants, products by constants: what affine maps mean on every
// target.
static bool isKnown(AffineExpr expr) {
  auto pair = dyn_cast<AffineBinaryOpExpr>(expr);
  if (!pair)
    return true;
  auto right = dyn_cast<AffineConstantExpr>(pair.getRHS());
  bool isSum = expr.getKind() == AffineExprKind::Add, isProduct = expr.getKind() == AffineExprKind::Mul;
  return isKnown(pair.getLHS()) && isKnown(pair.getRHS()) &&
         (isSum || (right && (isProduct || right.getValue() > 0)));
}

static LogicalResult verifyIndexOperand(Operation *op, const Twine &what, unsigned operand,
                                        ArrayRef<ElementAccess> accesses) {
  if (operand >= op->getNumOperands())
    return op->emitOpError("expected an operand that holds an index of ")
           << what << ", but there is no operand " << operand;
  Type type = op->getOperand(operand).getType(), element = getElementTypeOrSelf(type);
  if (!element.isIndex() && !element.isSignlessInteger() && !element.isSignedInteger())
    return op->emitOpError("expected integers as indices of ")
           << what << ", but operand " << operand << " is " << type;
  if (!element.isIndex() && element.getIntOrFloatBitWidth() > 64)
    return op->emitOpError("expected indices of at most 64 bits, but operand ") << operand << " is " << type;
  if (isa<RankedTensorType>(type) && !accesses[tensorNumber(op, operand)].indexOperands.empty())
    return op->emitOpError("expected indices of ")
           << what << " at positions that follow from the loops, but operand " << operand
           << " is read at indices that another operand holds";
  return success();
}

LogicalResult ad::verifyElementAccess(Operation *op, const Twine &what, Type tensor,
                                      const ElementAccess &access, unsigned loops,
                                      ArrayRef<ElementAccess> accesses) {
  auto type = cast<RankedTensorType>(tensor);
  AffineMap map = access.map;
  if (!map || map.getNumDims() != loops || map.getNumSymbols() != access.indexOperands.size() ||
      map.getNumResults() != type.getRank())
    return op->emitOpError("expected an access from ")
           << loops << " loops and " << access.indexOperands.size() << " indices to " << type.getRank()
           << " axes of " << what << ", but got "
           << AffineMapAttr::get(map ? map : AffineMap::get(op->getContext()));
  if (!llvm::all_of(map.getResults(), isKnown))
    return op->emitOpError(
               "expected sums, multiples, and quotients and remainders by positive constants in the "
               "access of ")
           << what << ", but got " << AffineMapAttr::get(map);
  for (unsigned axis : access.wholeAxes)
    if (axis >= map.getNumResults() || !isa<AffineDimExpr>(map.getResult(axis)))
      return op->emitOpError("expected one loop as the index of axis ")
             << axis << " of " << what << ", which it names as one that a loop runs over, but got "
             << AffineMapAttr::get(map);
  bool isPadded = access.outOfRange == OutOfRange::value;
  if (isPadded != bool(access.padding) || (isPadded && access.padding.getType() != type.getElementType()))
    return op->emitOpError("expected a value of type ")
           << type.getElementType() << " outside of " << what
           << " if its access has the mode `value`, and none else";
  for (unsigned operand : access.indexOperands)
    if (failed(verifyIndexOperand(op, what, operand, accesses)))
      return failure();
  return success();
}

static LogicalResult verifyAccesses(Operation *op, unsigned loops, ArrayRef<ElementAccess> accesses) {
  SmallVector<OpOperand *> tensors;
  for (OpOperand &operand : op->getOpOperands()) {
    if (isa<ShapedType>(operand.get().getType()) && !isa<RankedTensorType>(operand.get().getType()))
      return op->emitOpError("expected ranked tensors and scalars, but operand ")
             << operand.getOperandNumber() << " is " << operand.get().getType();
    if (isa<RankedTensorType>(operand.get().getType()))
      tensors.push_back(&operand);
  }
  if (tensors.size() != accesses.size())
    return op->emitOpError("expected an access for each of ")
           << tensors.size() << " tensors, but got " << accesses.size();
  for (auto [operand, access] : llvm::zip_equal(tensors, accesses))
    if (failed(verifyElementAccess(op, "operand " + Twine(operand->getOperandNumber()),
                                   operand->get().getType(), access, loops, accesses)))
      return failure();
  return success();
}

//===- Loop nests -===//

bool ad::reduces(LoopNestOpInterface nest) {
  return llvm::is_contained(nest.getLoops(), utils::IteratorType::reduction);
}

SmallVector<LoopAxis> ad::axesOfLoop(LoopNestOpInterface nest, unsigned loop) {
  SmallVector<LoopAxis> axes;
  SmallVector<ElementAccess> accesses = nest.getAccesses();
  unsigned number = 0;
  for (Value operand : nest->getOperands()) {
    if (!isa<RankedTensorType>(operand.getType()))
      continue;
    const ElementAccess &access = accesses[number++];
    for (auto [axis, index] : llvm::enumerate(access.map.getResults()))
      if (access.isWholeAxis(axis) && cast<AffineDimExpr>(index).getPosition() == loop)
        axes.push_back({operand, static_cast<int64_t>(axis)});
  }
  return axes;
}

static OpFoldResult sizeAlong(Operation *op, OpBuilder &builder, Value tensor, int64_t axis) {
  auto type = cast<RankedTensorType>(tensor.getType());
  if (!type.isDynamicDim(axis))
    return builder.getIndexAttr(type.getDimSize(axis));
  return tensor::DimOp::create(builder, op->getLoc(), tensor, axis).getResult();
}

SmallVector<OpFoldResult> ad::defaultLoopSizes(Operation *op, OpBuilder &builder) {
  auto nest = cast<LoopNestOpInterface>(op);
  SmallVector<OpFoldResult> sizes(nest.getLoops().size());
  for (auto [result, map] : llvm::zip_equal(op->getResults(), nest.getResultMaps()))
    for (auto [axis, index] : llvm::enumerate(map.getResults()))
      if (auto type = cast<RankedTensorType>(result.getType()); !type.isDynamicDim(axis))
        sizes[cast<AffineDimExpr>(index).getPosition()] = builder.getIndexAttr(type.getDimSize(axis));
  for (auto [loop, size] : llvm::enumerate(sizes)) {
    SmallVector<LoopAxis> axes = axesOfLoop(nest, loop);
    if (!size && !axes.empty())
      size = sizeAlong(op, builder, axes.front().tensor, axes.front().axis);
  }
  return sizes;
}

LogicalResult ad::verifyLoopSizes(Operation *op, ArrayRef<OpFoldResult> sizes, size_t loops,
                                  ArrayRef<AffineMap> resultMaps) {
  if (sizes.size() != loops)
    return op->emitOpError("expected a size for each of ")
           << loops << " loops, but its getLoopSizes says " << sizes.size();
  for (auto [loop, size] : llvm::enumerate(sizes)) {
    if (!size)
      return op->emitOpError("has a loop d")
             << loop << " whose size nothing gives; its getLoopSizes must say it";
    auto constant = dyn_cast<Attribute>(size);
    if (constant && cast<IntegerAttr>(constant).getValue().isNegative())
      return op->emitOpError("expected sizes of loops from 0 on, but d")
             << loop << " has " << cast<IntegerAttr>(constant).getInt();
  }
  for (auto [result, map] : llvm::zip(op->getResults(), resultMaps))
    for (auto [axis, index] : llvm::enumerate(map.getResults())) {
      unsigned loop = cast<AffineDimExpr>(index).getPosition();
      int64_t expected = cast<RankedTensorType>(result.getType()).getDimSize(axis);
      std::optional<int64_t> known = getConstantIntValue(sizes[loop]);
      if (known && !ShapedType::isDynamic(expected) && *known != expected)
        return op->emitOpError("expected ")
               << expected << " iterations of loop d" << loop << ", the size of axis " << axis
               << " of result " << result.getResultNumber() << ", but got " << *known;
    }
  return success();
}

SmallVector<OpFoldResult> ad::sizesOfResult(LoopNestOpInterface nest, OpBuilder &builder, unsigned result) {
  SmallVector<OpFoldResult> loops = nest.getLoopSizes(builder);
  return llvm::map_to_vector(nest.getResultMaps()[result].getResults(), [&](AffineExpr index) {
    return loops[cast<AffineDimExpr>(index).getPosition()];
  });
}

// Each index is another parallel loop, and all parallel loops occur: every element is written once.
static LogicalResult verifyResultMap(LoopNestOpInterface nest, OpResult result, AffineMap map) {
  auto type = dyn_cast<RankedTensorType>(result.getType());
  SmallVector<utils::IteratorType> loops = nest.getLoops();
  llvm::SmallBitVector written(loops.size());
  bool isRight = type && map && map.getNumDims() == loops.size() && map.getNumSymbols() == 0 &&
                 map.getNumResults() == type.getRank();
  for (AffineExpr index : isRight ? map.getResults() : ArrayRef<AffineExpr>()) {
    auto dim = dyn_cast<AffineDimExpr>(index);
    isRight &=
        dim && !written[dim.getPosition()] && loops[dim.getPosition()] == utils::IteratorType::parallel;
    if (dim)
      written.set(dim.getPosition());
  }
  if (isRight && written.count() == static_cast<size_t>(llvm::count(loops, utils::IteratorType::parallel)))
    return success();
  return nest->emitOpError("expected each parallel loop as one index of result ")
         << result.getResultNumber() << ", a ranked tensor, and no other index";
}

// The static sizes of a loop, of results and of operands along axes that it runs over alone.
static LogicalResult verifyStaticSizes(LoopNestOpInterface nest) {
  SmallVector<int64_t> sizes(nest.getLoops().size(), ShapedType::kDynamic);
  for (auto [result, map] : llvm::zip_equal(nest->getResults(), nest.getResultMaps()))
    for (auto [axis, index] : llvm::enumerate(map.getResults()))
      if (int64_t size = cast<RankedTensorType>(result.getType()).getDimSize(axis);
          !ShapedType::isDynamic(size)) {
        unsigned loop = cast<AffineDimExpr>(index).getPosition();
        if (!ShapedType::isDynamic(sizes[loop]) && sizes[loop] != size)
          return nest->emitOpError("expected one size of loop d")
                 << loop << ", but results have " << sizes[loop] << " and " << size << " elements along it";
        sizes[loop] = size;
      }
  for (auto [loop, size] : llvm::enumerate(sizes))
    for (auto [tensor, axis] : axesOfLoop(nest, loop)) {
      int64_t found = cast<RankedTensorType>(tensor.getType()).getDimSize(axis);
      if (ShapedType::isDynamic(found))
        continue;
      if (!ShapedType::isDynamic(size) && size != found)
        return nest->emitOpError("expected one size of loop d")
               << loop << ", but axis " << axis << " of an operand has " << found << " elements and not "
               << size;
      size = found;
    }
  return success();
}

LogicalResult ad::verifyLoopNest(Operation *op) {
  auto nest = cast<LoopNestOpInterface>(op);
  SmallVector<AffineMap> results = nest.getResultMaps();
  if (results.size() != op->getNumResults() || results.empty())
    return op->emitOpError("expected a map for each of its results, at least one");
  for (auto [result, map] : llvm::zip_equal(op->getResults(), results))
    if (failed(verifyResultMap(nest, result, map)))
      return failure();
  SmallVector<ElementAccess> accesses = nest.getAccesses();
  if (llvm::any_of(accesses,
                   [](const ElementAccess &access) { return access.outOfRange == OutOfRange::drop; }))
    return op->emitOpError(
        "expected reads outside of a tensor to be an error, the nearest element or a value");
  if (failed(verifyAccesses(op, nest.getLoops().size(), accesses)))
    return failure();
  return verifyStaticSizes(nest);
}

//===- Ordered writes -===//

SmallVector<OpFoldResult> ad::defaultWriteSizes(Operation *op, OpBuilder &builder) {
  auto write = cast<OrderedWriteOpInterface>(op);
  SmallVector<OpFoldResult> sizes(write.getLoopCount());
  SmallVector<ElementAccess> accesses = write.getAccesses();
  for (OpOperand &operand : op->getOpOperands()) {
    if (!isa<RankedTensorType>(operand.get().getType()) ||
        operand.getOperandNumber() == write.getDestination())
      continue;
    const ElementAccess &access = accesses[tensorNumber(op, operand.getOperandNumber())];
    for (auto [axis, index] : llvm::enumerate(access.map.getResults()))
      if (access.isWholeAxis(axis) && !sizes[cast<AffineDimExpr>(index).getPosition()])
        sizes[cast<AffineDimExpr>(index).getPosition()] = sizeAlong(op, builder, operand.get(), axis);
  }
  return sizes;
}

LogicalResult ad::verifyOrderedWrite(Operation *op) {
  auto write = cast<OrderedWriteOpInterface>(op);
  unsigned destination = write.getDestination();
  if (destination >= op->getNumOperands() || !isa<RankedTensorType>(op->getOperand(destination).getType()) ||
      op->getNumResults() != 1 || op->getResult(0).getType() != op->getOperand(destination).getType())
    return op->emitOpError("expected one result, of the type of its destination, a ranked tensor");
  SmallVector<ElementAccess> accesses = write.getAccesses();
  for (OpOperand &operand : op->getOpOperands()) {
    unsigned number = tensorNumber(op, operand.getOperandNumber());
    if (!isa<RankedTensorType>(operand.get().getType()) || number >= accesses.size())
      continue;
    bool isDestination = operand.getOperandNumber() == destination;
    OutOfRange refused = isDestination ? OutOfRange::value : OutOfRange::drop;
    if (accesses[number].outOfRange == refused)
      return op->emitOpError(
          isDestination
              ? "expected writes outside of the destination to be an error, to be dropped, or to "
                "go to the nearest element"
              : "expected reads outside of a tensor to be an error, the nearest element or a value");
    if (isDestination && llvm::is_contained(accesses[number].indexOperands, destination))
      return op->emitOpError("expected indices that another operand than the destination holds");
  }
  return verifyAccesses(op, write.getLoopCount(), accesses);
}
