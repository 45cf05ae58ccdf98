// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

#include "../../Kernel/KernelTypes.h"
#include "PartialSizes.h"
#include "adjoint/Dialect/AD/Transforms/LinalgKernels.h"

using namespace mlir;
using namespace mlir::ad;
using namespace mlir::ad::codegen;
using namespace mlir::ad::device;

// Elements of a leaf where the order is free.
static constexpr int64_t kSelectionLeaf = 512;
// A kernel is divided only if each thread then reads so many elements less: reading them is slower than a
// second launch.
static constexpr int64_t kMinSavedElements = 256;

static ArrayRef<int64_t> shapeOf(Value value) { return cast<RankedTensorType>(value.getType()).getShape(); }

static SmallVector<int64_t> longAxes(Value value) {
  return llvm::filter_to_vector(shapeOf(value), [](int64_t size) { return size != 1; });
}

int64_t device::leafLength(KernelOp kernel, linalg::GenericOp reduction, const Division &division) {
  if (division.tiles && division.tiles->chain != 0)
    return division.tiles->chain;
  return reduction.getNumResults() == 1 ? kernel.getOrderAttr().getPartLength() : kSelectionLeaf;
}

int64_t device::maxUndividedLength(KernelOp kernel, linalg::GenericOp reduction, const Division &division) {
  int64_t leaf = leafLength(kernel, reduction, division);
  if (division.tiles)
    return leaf;
  return std::max(leaf * division.parallelBlocks, leaf + kMinSavedElements);
}

//===- Selections ---------------------------------------------------------===//

static bool isStrict(arith::CmpIPredicate predicate) {
  using Predicate = arith::CmpIPredicate;
  return predicate == Predicate::slt || predicate == Predicate::sgt || predicate == Predicate::ult ||
         predicate == Predicate::ugt;
}

static bool isEquality(arith::CmpIPredicate predicate) {
  return predicate == arith::CmpIPredicate::eq || predicate == arith::CmpIPredicate::ne;
}

static bool isNumber(Type type) { return type.isIntOrFloat(); }

// A later element replaces an earlier one only if its key is better than the key in the first accumulator.
// Keys are integers, which have no NaN.
std::optional<Selection> device::matchSelection(linalg::GenericOp reduction) {
  if (matchReduction(reduction).form != ReductionForm::selection)
    return std::nullopt;
  Selection selection;
  auto accumulators = reduction.getRegionOutputArgs();
  for (Value yielded : reduction.getBlock()->getTerminator()->getOperands())
    selection.choices.push_back(yielded.getDefiningOp());
  auto first = cast<arith::SelectOp>(selection.choices.front());
  auto comparison = first.getCondition().getDefiningOp<arith::CmpIOp>();
  if (!comparison || isEquality(comparison.getPredicate()))
    return std::nullopt;
  bool replacesIfTrue = first.getFalseValue() == accumulators.front();
  Value key = replacesIfTrue ? first.getTrueValue() : first.getFalseValue();
  bool comparesKeys = llvm::is_contained(comparison->getOperands(), key) &&
                      llvm::is_contained(comparison->getOperands(), Value(accumulators.front()));
  bool keepsFirst = isStrict(comparison.getPredicate()) == replacesIfTrue;
  // No other operation may read the accumulators.
  bool onlySelects = llvm::all_of(llvm::enumerate(accumulators), [&](auto each) {
    return llvm::all_of(each.value().getUsers(), [&](Operation *user) {
      return user == selection.choices[each.index()] || (each.index() == 0 && user == comparison);
    });
  });
  AffineMap map = reduction.getMatchingIndexingMap(reduction.getDpsInitOperand(0));
  bool oneMap = llvm::all_of(reduction.getDpsInitsMutable(), [&](OpOperand &init) {
    return reduction.getMatchingIndexingMap(&init) == map &&
           isNumber(getElementTypeOrSelf(init.get().getType()));
  });
  if (key == accumulators.front() || !comparesKeys || !keepsFirst || !onlySelects || !oneMap)
    return std::nullopt;
  selection.comparison = comparison;
  return selection;
}

SmallVector<Value> device::joinSelections(OpBuilder &builder, Location loc, linalg::GenericOp reduction,
                                          ValueRange left, ValueRange right) {
  Selection selection = *matchSelection(reduction);
  auto accumulators = reduction.getRegionOutputArgs();
  auto comparison = cast<arith::CmpIOp>(selection.comparison);
  auto keyOf = [&](Value operand) { return operand == accumulators.front() ? left[0] : right[0]; };
  Value condition = arith::CmpIOp::create(builder, loc, comparison.getPredicate(), keyOf(comparison.getLhs()),
                                          keyOf(comparison.getRhs()));
  SmallVector<Value> joined;
  for (auto [i, choice] : llvm::enumerate(selection.choices)) {
    bool keepsIfTrue = cast<arith::SelectOp>(choice).getTrueValue() == accumulators[i];
    joined.push_back(arith::SelectOp::create(builder, loc, condition, keepsIfTrue ? left[i] : right[i],
                                             keepsIfTrue ? right[i] : left[i]));
  }
  return joined;
}

//===- Kernels ------------------------------------------------------------===//

// Whether parts of the reduction can be joined, and its operands are no reductions themselves.
static bool isDivisible(KernelOp kernel, linalg::GenericOp reduction) {
  ReductionStructure structure = matchReduction(reduction);
  bool joins = structure.form == ReductionForm::joined && kernel.getOrderAttr() &&
               isNumber(getElementTypeOrSelf(reduction.getResult(0).getType()));
  return (joins || matchSelection(reduction)) && llvm::none_of(reduction.getDpsInputs(), [](Value input) {
           return isa<RankedTensorType>(input.getType()) && dependsOn(input, reduces);
         });
}

SmallVector<linalg::GenericOp> device::divisibleReductions(KernelOp kernel) {
  auto reductions = llvm::filter_to_vector(kernel.getBody().getOps<linalg::GenericOp>(), reduces);
  ValueRange outputs = kernel.getBody().front().getTerminator()->getOperands();
  bool inserts = !kernel.getBody().getOps<tensor::InsertSliceOp>().empty();
  auto isOfOutputs = [&](linalg::GenericOp reduction) {
    return isDivisible(kernel, reduction) && longAxes(reduction.getResult(0)) == longAxes(outputs.front());
  };
  bool oneShape =
      llvm::all_of(outputs, [&](Value output) { return shapeOf(output) == shapeOf(outputs.front()); });
  return !inserts && oneShape && llvm::all_of(reductions, isOfOutputs) ? reductions
                                                                       : SmallVector<linalg::GenericOp>();
}

static bool usesLanes(KernelOp kernel, linalg::GenericOp reduction) {
  return reduction.getNumResults() == 1 && kernel.getOrderAttr().hasLanes();
}

// In a thread block each group of threads sums a chunk. Other reductions are the work of one thread, or of
// the threads of a warp or a group.
static void describeUndivided(KernelOp kernel, bool hasBlockPerRow, Division &division) {
  bool lanes = llvm::any_of(division.reductions, [&](auto each) { return usesLanes(kernel, each); });
  division.threadsPerResult = lanes ? kWarpThreads : 1;
  if (!hasBlockPerRow)
    return;
  division.threadsPerResult = kBlockThreads;
  division.parallelBlocks = kBlockThreads / (kWarpThreads / 2); // groups of half a warp
}

std::optional<Division> device::matchDivision(KernelOp kernel, bool hasBlockPerRow) {
  Division division;
  division.reductions = divisibleReductions(kernel);
  if (division.reductions.empty())
    return std::nullopt;
  describeUndivided(kernel, hasBlockPerRow, division);
  bool staticLengths = true, isLong = false;
  for (linalg::GenericOp reduction : division.reductions) {
    int64_t total = reducedElements(reduction);
    staticLengths &= !ShapedType::isDynamic(total);
    isLong |= ShapedType::isDynamic(total) || total > maxUndividedLength(kernel, reduction, division);
  }
  ArrayRef<int64_t> shape = shapeOf(division.reductions.front().getResult(0));
  bool staticResults = !ShapedType::isDynamicShape(shape);
  int64_t results = staticResults ? ShapedType::getNumElements(shape) : ShapedType::kDynamic;
  division.joinsByThreads = staticResults && results >= kManyResults;
  if (!isLong || (staticResults && !areFewThreads(results * division.threadsPerResult)))
    return std::nullopt;
  division.always = staticLengths && staticResults;
  return division;
}
