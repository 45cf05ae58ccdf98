// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

#include "adjoint/Dialect/AD/Transforms/OrderedWrite.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/SmallBitVector.h"

using namespace mlir;
using namespace mlir::ad;

// Whether the operation has one result, whose axes are the first loops, and all others are reduced.
static bool hasChainForm(linalg::GenericOp generic) {
  if (generic.getNumResults() != 1 || generic.getNumReductionLoops() == 0)
    return false;
  AffineMap map = generic.getMatchingIndexingMap(generic.getDpsInitOperand(0));
  AffineMap axes = AffineMap::getMultiDimIdentityMap(generic.getNumLoops(), generic.getContext())
                       .getMajorSubMap(generic.getNumParallelLoops());
  return map == axes;
}

static void addLoops(llvm::SmallBitVector &loops, AffineMap map) {
  for (unsigned loop = 0; loop < loops.size(); ++loop)
    if (map.isFunctionOfDim(loop))
      loops.set(loop);
}

namespace {
/// What a value of the body of an operation depends on.
struct Dependence {
  llvm::SmallBitVector loops;
  bool onAccumulator = false;
};
} // namespace

static Dependence dependenceOf(linalg::GenericOp generic, Value value) {
  Block *body = generic.getBlock();
  Dependence found{llvm::SmallBitVector(generic.getNumLoops())};
  SmallVector<Value> pending = {value};
  llvm::SmallPtrSet<const void *, 16> seen;
  while (!pending.empty()) {
    Value next = pending.pop_back_val();
    if (!seen.insert(next.getAsOpaquePointer()).second)
      continue;
    if (auto argument = dyn_cast<BlockArgument>(next)) {
      if (argument.getOwner() != body)
        continue;
      OpOperand *operand = generic.getMatchingOpOperand(argument);
      if (generic.isDpsInit(operand))
        found.onAccumulator = true;
      else
        addLoops(found.loops, generic.getMatchingIndexingMap(operand));
      continue;
    }
    Operation *op = next.getDefiningOp();
    if (op->getBlock() != body)
      continue;
    if (auto index = dyn_cast<linalg::IndexOp>(op))
      found.loops.set(index.getDim());
    llvm::append_range(pending, op->getOperands());
  }
  return found;
}

namespace {
class Matcher {
public:
  explicit Matcher(linalg::GenericOp generic) : body(generic.getBlock()) {
    write.generic = generic;
    write.rank = generic.getNumParallelLoops();
  }

  std::optional<OrderedWrite> match() {
    if (!hasChainForm(write.generic))
      return std::nullopt;
    auto choice = body->getTerminator()->getOperand(0).getDefiningOp<arith::SelectOp>();
    if (!choice || choice.getFalseValue() != write.accumulator() || !isHit(choice.getCondition()))
      return std::nullopt;
    write.updated = choice.getTrueValue();
    if (write.searched.empty() || !isSearchedAlone())
      return std::nullopt;
    sortAxes();
    placeLoops();
    return write;
  }

private:
  std::optional<unsigned> axisOf(Value value) {
    auto index = value.getDefiningOp<linalg::IndexOp>();
    if (!index || index.getDim() >= write.rank)
      return std::nullopt;
    return index.getDim();
  }

  /// Whether the condition compares an index with each of some axes.
  bool isHit(Value condition) {
    if (auto both = condition.getDefiningOp<arith::AndIOp>())
      return isHit(both.getLhs()) && isHit(both.getRhs());
    auto compared = condition.getDefiningOp<arith::CmpIOp>();
    if (!compared || compared.getPredicate() != arith::CmpIPredicate::eq)
      return false;
    Value element = compared.getRhs(), index = compared.getLhs();
    if (!axisOf(element))
      std::swap(element, index);
    std::optional<unsigned> axis = axisOf(element);
    if (!axis || llvm::is_contained(write.searched, *axis))
      return false;
    write.searched.push_back(*axis);
    write.indices.push_back(index);
    return true;
  }

  llvm::SmallBitVector loopsOf(Value value) { return dependenceOf(write.generic, value).loops; }

  /// Whether the searched axes are in the condition alone, so that an iteration need not know the element.
  bool isSearchedAlone() {
    llvm::SmallBitVector used = loopsOf(write.updated);
    for (Value index : write.indices)
      used |= loopsOf(index);
    return llvm::none_of(write.searched, [&](unsigned axis) { return used[axis]; });
  }

  void sortAxes() {
    SmallVector<std::pair<unsigned, Value>> pairs;
    for (auto [axis, index] : llvm::zip_equal(write.searched, write.indices))
      pairs.emplace_back(axis, index);
    llvm::sort(pairs, llvm::less_first());
    for (auto [pair, axis, index] : llvm::zip_equal(pairs, write.searched, write.indices))
      std::tie(axis, index) = pair;
  }

  void placeLoops() {
    llvm::SmallBitVector used(write.generic.getNumLoops());
    for (Value index : write.indices)
      used |= loopsOf(index);
    for (unsigned axis = 0; axis < write.rank; ++axis)
      if (!llvm::is_contained(write.searched, axis))
        (used[axis] ? write.outer : write.inner).push_back(axis);
  }

  OrderedWrite write;
  Block *body;
};
} // namespace

std::optional<OrderedWrite> ad::matchOrderedWrite(Value output) {
  auto generic = output.getDefiningOp<linalg::GenericOp>();
  return generic ? Matcher(generic).match() : std::nullopt;
}

// The bound of the comparison of the iteration's number with it; null if it is another one.
static Value boundOf(linalg::GenericOp generic, Value condition, arith::CmpIPredicate predicate) {
  auto compared = condition.getDefiningOp<arith::CmpIOp>();
  auto index = compared ? compared.getLhs().getDefiningOp<linalg::IndexOp>() : linalg::IndexOp();
  bool isIteration = index && index.getDim() == generic.getNumLoops() - 1;
  return isIteration && compared.getPredicate() == predicate ? compared.getRhs() : Value();
}

BlockArgument UpdateRuns::begins() const {
  Value read = begin;
  if (auto cast = read.getDefiningOp<arith::IndexCastOp>())
    read = cast.getIn();
  auto extract = read.getDefiningOp<tensor::ExtractOp>();
  return extract ? dyn_cast<BlockArgument>(extract.getTensor()) : BlockArgument();
}

std::optional<UpdateRuns> ad::matchUpdateRuns(Value output) {
  auto generic = output.getDefiningOp<linalg::GenericOp>();
  if (!generic || !hasChainForm(generic) || generic.getNumReductionLoops() != 1)
    return std::nullopt;
  UpdateRuns runs{generic, generic.getNumParallelLoops(), {}, {}, {}, {}};
  auto choice = generic.getBlock()->getTerminator()->getOperand(0).getDefiningOp<arith::SelectOp>();
  auto both = choice ? choice.getCondition().getDefiningOp<arith::AndIOp>() : arith::AndIOp();
  if (!both || choice.getFalseValue() != runs.accumulator())
    return std::nullopt;
  runs.updated = choice.getTrueValue();
  runs.begin = boundOf(generic, both.getLhs(), arith::CmpIPredicate::sge);
  runs.end = boundOf(generic, both.getRhs(), arith::CmpIPredicate::slt);
  if (!runs.begin || !runs.end)
    return std::nullopt;
  for (Value bound : {runs.begin, runs.end}) {
    Dependence of = dependenceOf(generic, bound);
    if (of.onAccumulator || of.loops[runs.rank])
      return std::nullopt;
    for (unsigned axis : of.loops.set_bits())
      if (!llvm::is_contained(runs.searched, axis))
        runs.searched.push_back(axis);
  }
  return runs;
}
