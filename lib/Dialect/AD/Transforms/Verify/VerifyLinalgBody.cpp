// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// The linalg that a kernel may hold: element by element or in one of the forms of reductions, with scalar
// code that gives the same bits on every target.

#include "VerifyAccess.h"
#include "adjoint/Dialect/AD/IR/ADOps.h"
#include "adjoint/Dialect/AD/Transforms/LinalgKernels.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::ad;

//===- Scalar code -===//

// Arithmetic in these types differs between targets.
static bool isNarrow(Type type) {
  auto element = dyn_cast<FloatType>(getElementTypeOrSelf(type));
  return element && !element.isF64() && !element.isF32() && !element.isF16();
}

// No target has registers of more bits, and constants are folded in 64.
static constexpr unsigned kMaxIntegerBits = 64;

static LogicalResult verifyIntegers(Operation *op) {
  for (Type type : llvm::concat<const Type>(op->getOperandTypes(), op->getResultTypes())) {
    auto integer = dyn_cast<IntegerType>(getElementTypeOrSelf(type));
    if (integer && integer.getWidth() > kMaxIntegerBits)
      return op->emitOpError("expected integers of at most ")
             << kMaxIntegerBits << " bits in a kernel, but computes in " << integer;
  }
  return success();
}

// Operations that only move a value, and operations that all targets round in the same way.
static bool mayTouchNarrow(Operation *op) {
  if (isa<arith::ExtFOp, arith::TruncFOp>(op))
    return llvm::all_of(llvm::concat<const Type>(op->getOperandTypes(), op->getResultTypes()),
                        [](Type type) { return !isNarrow(type) || type.isBF16(); });
  return isa<arith::ConstantOp, arith::SelectOp, arith::BitcastOp, tensor::ExtractOp>(op) ||
         isa_and_nonnull<ADDialect>(op->getDialect());
}

static bool isKnownScalarOp(Operation *op) {
  if (isa_and_nonnull<arith::ArithDialect>(op->getDialect()))
    return !isa<arith::ScalingExtFOp, arith::ScalingTruncFOp>(op);
  return isa<ElementaryOp, ConvertOp, linalg::IndexOp, tensor::ExtractOp, math::FmaOp, math::SqrtOp,
             math::AbsFOp, math::AbsIOp, math::FloorOp, math::CeilOp, math::RoundEvenOp, math::CopySignOp>(
      op);
}

static LogicalResult verifyScalarOp(Operation *op) {
  if (failed(verifyIntegers(op)))
    return failure();
  if (op->hasTrait<OpTrait::IsTerminator>())
    return success();
  if (op->getNumRegions() != 0 || op->getNumResults() != 1 || !isKnownScalarOp(op))
    return op->emitOpError(
        "expected scalar code of arith, of fma, sqrt, absf, absi, floor, ceil, roundeven and "
        "copysign of math, of ad.elementary and ad.convert, linalg.index or tensor.extract "
        "in the body of a linalg.generic");
  if (isa<arith::MaxNumFOp, arith::MinNumFOp>(op))
    return op->emitOpError("gives either zero of -0 and +0; expected arith.maximumf or arith.minimumf");
  for (Type type : llvm::concat<const Type>(op->getOperandTypes(), op->getResultTypes()))
    if (isNarrow(type) && !mayTouchNarrow(op))
      return op->emitOpError("expected f16, f32 or f64, but computes in ")
             << type << ", which CPUs round in different ways; widen with ad.convert";
  auto fused = dyn_cast<math::FmaOp>(op);
  if (fused && fused.getType().isF16())
    return op->emitOpError("expected f32 or f64, but multiplies and adds in f16, which CPUs round in "
                           "different ways; widen with ad.convert");
  return success();
}

//===- What results are written -===//

// Every element once: by all parallel loops, and by no other.
static LogicalResult verifyResultMap(linalg::GenericOp generic, unsigned number, bool scans) {
  OpOperand *init = generic.getDpsInitOperand(number);
  AffineMap map = generic.getMatchingIndexingMap(init);
  auto type = cast<RankedTensorType>(init->get().getType());
  SmallVector<utils::IteratorType> iterators = generic.getIteratorTypesArray();
  for (auto [loop, iterator] : llvm::enumerate(iterators)) {
    bool isParallel = iterator == utils::IteratorType::parallel, isUsed = map.isFunctionOfDim(loop);
    if (isParallel && !isUsed)
      return generic.emitOpError("expected every parallel loop in the map of result ")
             << number << ", but d" << loop << " is missing, so that elements are written more than once";
    if (!isParallel && isUsed && !(scans && number == 0))
      return generic.emitOpError("expected parallel loops in the map of result ")
             << number << ", but d" << loop << " is a reduction loop";
  }
  for (auto [axis, expr] : llvm::enumerate(map.getResults()))
    if (isa<AffineConstantExpr>(expr) && type.getDimSize(axis) != 1)
      return generic.emitOpError("expected size 1 where the map of result ")
             << number << " is constant, but axis " << axis << " of " << type
             << " has elements that are not written";
  return success();
}

static LogicalResult verifyResults(linalg::GenericOp generic, bool scans) {
  for (unsigned number = 0; number < generic.getNumResults(); ++number)
    if (failed(verifyResultMap(generic, number, scans)))
      return failure();
  AffineMap first = generic.getIndexingMapMatchingResult(generic->getOpResult(0));
  for (OpResult result : generic->getResults())
    if (!scans && generic.getIndexingMapMatchingResult(result) != first)
      return generic.emitOpError("expected one map for all results, but that of result ")
             << result.getResultNumber() << " is another one; write an operation for each";
  // Packed panels are written by the code that packs a matrix.
  bool copies = generic.getNumResults() == 1 && generic.getNumDpsInputs() == 1 &&
                generic.getNumLoops() == 2 && isa<BlockArgument>(generic.getDpsInputs()[0]) &&
                generic.getMatchingIndexingMap(generic.getDpsInputOperand(0)).isIdentity() &&
                generic.getBlock()->getTerminator()->getOperand(0) == generic.getBlock()->getArgument(0);
  bool divides =
      llvm::any_of(first.getResults(), [](AffineExpr expr) { return isa<AffineBinaryOpExpr>(expr); });
  if (divides && !copies)
    return generic.emitOpError("expected a copy of a matrix where the map of the result divides loops");
  return success();
}

//===- Reductions -===//

int64_t ad::reducedElements(linalg::GenericOp generic) {
  SmallVector<unsigned> reduced;
  generic.getReductionDims(reduced);
  SmallVector<int64_t> ranges = generic.getStaticLoopRanges();
  int64_t size = 1;
  for (unsigned loop : reduced)
    if (ShapedType::isDynamic(ranges[loop]) || llvm::MulOverflow(size, ranges[loop], size))
      return ShapedType::kDynamic;
  return size;
}

// One chain has no partial results: the order has to leave all elements in one block.
static LogicalResult verifyChain(linalg::GenericOp generic, const ReductionStructure &structure,
                                 OrderAttr order) {
  if (!order)
    return success();
  int64_t size = reducedElements(generic);
  if (!order.hasLanes() && !ShapedType::isDynamic(size) && size <= order.getPartLength())
    return success();
  InFlightDiagnostic refusal =
      generic.emitOpError("expected a reduction whose partial results can be joined, "
                          "since the order ");
  refusal << order << " joins ";
  if (order.hasLanes())
    refusal << "lanes";
  else if (ShapedType::isDynamic(size))
    refusal << "blocks of an unknown number of elements";
  else
    refusal << "blocks of " << size << " elements";
  return refusal << ", but " << structure.reason << "; write blocks as long as the axis, or no order";
}

// Under nested chains the blocks of the steps are joined; under every other order the steps are one chain.
static LogicalResult verifyScan(linalg::GenericOp generic, const ReductionStructure &structure,
                                OrderAttr order) {
  if (order && order.hasNestedChains() && !structure.combiner)
    return generic.emitOpError("expected a running reduction whose partial results can be joined, since the "
                               "order ")
           << order << " joins blocks, but " << structure.reason << "; write no order";
  bool isRead =
      llvm::any_of(generic->getResult(0).getUsers(), [](Operation *user) { return !isa<YieldOp>(user); });
  if (!isRead && generic->getResult(1).use_empty())
    return success();
  return generic.emitOpError(
      "expected the steps of a running reduction to be a result of the kernel and nothing "
      "else to be read of it; write an operation for each");
}

static LogicalResult verifyReduction(linalg::GenericOp generic, OrderAttr order) {
  ReductionStructure structure = matchReduction(generic);
  if (structure.form == ReductionForm::scan)
    return verifyScan(generic, structure, order);
  if (order && order.hasNestedChains())
    return generic.emitOpError("expected a running reduction, since the kernel has the order ") << order;
  return structure.form == ReductionForm::chain ? verifyChain(generic, structure, order) : success();
}

// Results that start from the elements of `outs` read them: the elements must be written before.
static LogicalResult verifyStart(linalg::GenericOp generic, bool scans) {
  for (auto [number, init] : llvm::enumerate(generic.getDpsInitsMutable())) {
    bool starts = generic.getNumReductionLoops() > 0 && !(scans && number == 0);
    bool isRead = starts || !generic.getMatchingBlockArgument(&init).use_empty();
    if (isRead && init.get().getDefiningOp<tensor::EmptyOp>())
      return generic.emitOpError(
                 "expected outs that have been written, but reads the tensor.empty of result ")
             << number << "; fill it first";
  }
  return success();
}

//===- The whole body -===//

static LogicalResult verifyGeneric(linalg::GenericOp generic, OrderAttr order) {
  if (!generic.hasPureTensorSemantics() || generic.getNumResults() == 0)
    return generic.emitOpError("expected tensors as operands and at least one result");
  for (OpOperand &operand : generic->getOpOperands())
    if (isa<ShapedType>(operand.get().getType()) && !isa<RankedTensorType>(operand.get().getType()))
      return generic.emitOpError("expected ranked tensors, but operand ")
             << operand.getOperandNumber() << " is " << operand.get().getType();
  bool reduces = generic.getNumReductionLoops() > 0;
  bool scans = reduces && matchReduction(generic).form == ReductionForm::scan;
  if (failed(verifyAccess(generic)) || failed(verifyResults(generic, scans)))
    return failure();
  for (Operation &op : *generic.getBlock())
    if (failed(verifyScalarOp(&op)))
      return failure();
  if (failed(verifyStart(generic, scans)))
    return failure();
  return reduces ? verifyReduction(generic, order) : success();
}

// Emitters walk from results to operands.
static LogicalResult verifyDepth(Block &body) {
  llvm::DenseMap<Operation *, unsigned> depths;
  for (Operation &op : body) {
    unsigned depth = 0;
    for (Value operand : op.getOperands())
      if (Operation *producer = operand.getDefiningOp())
        depth = std::max(depth, depths.lookup(producer) + 1);
    depths[&op] = depth;
    if (depth > kMaxKernelDepth)
      return op.emitOpError("expected a kernel whose operations depend on each other in chains of at most ")
             << kMaxKernelDepth << ", but this one is the end of a longer chain; divide the kernel";
  }
  return success();
}

// Memory holds numbers: `index` is as wide as the target says.
static LogicalResult verifyElements(Operation *op, TypeRange types) {
  for (Type type : types)
    if (auto tensor = dyn_cast<RankedTensorType>(type); tensor && !tensor.getElementType().isIntOrFloat())
      return op->emitOpError("expected tensors of integers or floats in a kernel, but got ")
             << type << "; cast indices to i64";
  return success();
}

LogicalResult ad::verifyLinalgBody(Operation *fusionOrKernel) {
  auto kernel = dyn_cast<KernelOp>(fusionOrKernel);
  OrderAttr order = kernel ? kernel.getOrderAttr() : cast<FusionOp>(fusionOrKernel).getOrderAttr();
  Block &body = fusionOrKernel->getRegion(0).front();
  bool failedAny =
      failed(verifyDepth(body)) || failed(verifyElements(fusionOrKernel, body.getArgumentTypes()));
  for (Operation &op : body) {
    if (failed(verifyElements(&op, op.getResultTypes())) || failed(verifyIntegers(&op))) {
      failedAny = true;
    } else if (auto generic = dyn_cast<linalg::GenericOp>(op)) {
      failedAny |= failed(verifyGeneric(generic, order));
    } else if (auto slice = dyn_cast<tensor::ExtractSliceOp>(op);
               slice && slice.getSourceType().getRank() != slice.getType().getRank()) {
      op.emitOpError("expected a slice with all axes of its source, but drops some; "
                     "drop them in the map of the operation that reads it");
      failedAny = true;
    } else if (isa<linalg::LinalgOp>(op) && !isa<linalg::FillOp>(op)) {
      op.emitOpError(
          "expected linalg.generic or linalg.fill in a kernel; run --linalg-generalize-named-ops first");
      failedAny = true;
    }
  }
  return failure(failedAny);
}
