// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// linalg.generic: its body becomes operations on tensors over all loops, a reduction the contraction,
// convolution, pooling or reduction that it is, and the result is moved to where its index map says.

#include "Importer.h"
#include "LoopNest.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace mlir::ad;

//===- Loops -===//

OpFoldResult ad::sizeOfAxis(TensorCode code, Value tensor, int64_t axis) {
  while (true) {
    auto result = dyn_cast<OpResult>(tensor);
    auto destination =
        result ? dyn_cast<DestinationStyleOpInterface>(result.getOwner()) : DestinationStyleOpInterface();
    if (!destination)
      break;
    tensor = destination.getTiedOpOperand(result)->get();
  }
  if (auto empty = tensor.getDefiningOp<tensor::EmptyOp>())
    return empty.getMixedSizes()[axis];
  return sizeByType(code.builder, code.loc, tensor, axis);
}

static std::optional<unsigned> axisOfLoop(AffineMap map, unsigned loop) {
  for (auto [axis, expr] : llvm::enumerate(map.getResults()))
    if (auto dimension = dyn_cast<AffineDimExpr>(expr); dimension && dimension.getPosition() == loop)
      return axis;
  return std::nullopt;
}

// A static one, if an operand has one.
static OpFoldResult sizeOfLoop(TensorCode code, linalg::GenericOp op, unsigned loop) {
  std::optional<std::pair<Value, unsigned>> open;
  for (OpOperand &operand : op->getOpOperands()) {
    std::optional<unsigned> axis = axisOfLoop(op.getMatchingIndexingMap(&operand), loop);
    if (!axis)
      continue;
    if (!TensorCode::typeOf(operand.get()).isDynamicDim(*axis))
      return code.builder.getIndexAttr(TensorCode::typeOf(operand.get()).getDimSize(*axis));
    if (!open)
      open = {operand.get(), *axis};
  }
  assert(open && "linalg verifies that its maps give the size of each loop");
  return sizeOfAxis(code, open->first, open->second);
}

// The operand with the static sizes of the loops that run over its axes.
static Value withSizesOf(TensorCode code, Value operand, AffineMap map, ArrayRef<OpFoldResult> sizes) {
  auto type = dyn_cast<RankedTensorType>(operand.getType());
  if (!type)
    return operand;
  SmallVector<int64_t> shape(type.getShape());
  for (auto [size, expr] : llvm::zip_equal(shape, map.getResults()))
    if (auto loop = dyn_cast<AffineDimExpr>(expr); loop && ShapedType::isDynamic(size))
      size = getConstantIntValue(sizes[loop.getPosition()]).value_or(ShapedType::kDynamic);
  return code.withType(operand, type.clone(shape));
}

LoopNest::LoopNest(TensorCode code, linalg::GenericOp op)
    : op(op), body(op.getBody()), inputs(op.getNumDpsInputs()), maps(op.getIndexingMapsArray()) {
  for (auto [loop, kind] : llvm::enumerate(op.getIteratorTypesArray())) {
    sizes.push_back(sizeOfLoop(code, op, loop));
    (kind == utils::IteratorType::parallel ? parallel : reduction).push_back(loop);
  }
  for (auto [operand, map] : llvm::zip_equal(op->getOperands(), maps))
    operands.push_back(withSizesOf(code, operand, map, sizes));
}

//===- Results -===//

// Each parallel loop is one axis of the result; other axes have one element.
static LogicalResult verifyResultMap(const LoopNest &nest, AffineMap map, RankedTensorType type,
                                     Refusals &refusals) {
  SmallVector<unsigned> loops;
  for (auto [axis, expr] : llvm::enumerate(map.getResults())) {
    if (auto loop = dyn_cast<AffineDimExpr>(expr))
      loops.push_back(loop.getPosition());
    else if (!isa<AffineConstantExpr>(expr) || type.getDimSize(axis) != 1)
      return refusals.add(nest.op, "writes at " + printed(expr) +
                                       "; expected a result with an axis for each parallel loop");
  }
  llvm::sort(loops);
  if (ArrayRef(loops) == ArrayRef(nest.parallel))
    return success();
  return refusals.add(nest.op, "has the result map " + printed(map) +
                                   "; expected one with each parallel loop once, and no reduction loop");
}

Value ad::moveToResult(TensorCode code, const LoopNest &nest, Value aligned, AffineMap map) {
  Value spread = spreadOverLoops(code, aligned, nest.parallel, nest.sizes);
  SmallVector<int64_t> permutation;
  SmallVector<OpFoldResult> sizes;
  for (AffineExpr expr : map.getResults()) {
    auto loop = dyn_cast<AffineDimExpr>(expr);
    sizes.push_back(loop ? nest.sizes[loop.getPosition()] : OpFoldResult(code.builder.getIndexAttr(1)));
    if (loop)
      permutation.push_back(llvm::find(nest.parallel, loop.getPosition()) - nest.parallel.begin());
  }
  Value moved = code.transpose(spread, permutation);
  return permutation.size() == sizes.size() ? moved : code.reshape(moved, sizes);
}

//===- Reductions -===//

namespace {
/// One result of a nest with reduction loops.
class ReductionImporter {
public:
  ReductionImporter(TensorCode code, const LoopNest &nest, BodyRaiser &raiser, const Combination &combination,
                    Value init)
      : code(code), nest(nest), raiser(raiser), kind(combination.kind), terms(combination.terms), init(init) {
  }

  /// All terms, reduced; aligned.
  FailureOr<Value> reduceTerms();
  /// That, in the axes of the result, combined with the init.
  Value combineWithInit(Value reduced);

private:
  FailureOr<Value> reduceAsWhole(const Combination::Term &term);
  FailureOr<Value> sumProducts(Value lhs, Value rhs);
  FailureOr<Value> reduceElements(Value elements);
  FailureOr<Value> raiseTerm(const Combination::Term &term);
  Type element() const { return TensorCode::elementOf(init); }
  /// Several values are combined at the end, which are rounded once.
  bool isWidened() const {
    return isAccumulatedWider(kind, element()) && (terms.size() > 1 || !isNeutral(kind, init));
  }
  Type accumulator() const { return isWidened() ? code.builder.getF32Type() : element(); }

  TensorCode code;
  const LoopNest &nest;
  BodyRaiser &raiser;
  CombinerKind kind;
  ArrayRef<Combination::Term> terms;
  Value init;
};
} // namespace

// A number before it was extended to the type in which `ad` accumulates it anyway.
static Value beforeExtension(Value value) {
  auto extends = value.getDefiningOp();
  if (!isa_and_nonnull<arith::ExtFOp, arith::ExtSIOp>(extends))
    return value;
  Type from = extends->getOperand(0).getType(), to = value.getType();
  bool isFloat =
      isa<FloatType>(from) && importedElement(from) && from.getIntOrFloatBitWidth() < 32 && to.isF32();
  return isFloat || (from.isInteger(8) && to.isInteger(32)) ? extends->getOperand(0) : value;
}

FailureOr<Value> ReductionImporter::sumProducts(Value lhs, Value rhs) {
  Value left = beforeExtension(lhs), right = beforeExtension(rhs);
  if (left.getType() == right.getType()) {
    lhs = left;
    rhs = right;
  }
  auto leftArgument = dyn_cast<BlockArgument>(lhs), rightArgument = dyn_cast<BlockArgument>(rhs);
  bool areArguments = leftArgument && rightArgument && leftArgument.getOwner() == nest.body &&
                      rightArgument.getOwner() == nest.body;
  for (bool isSwapped : {false, true})
    if (areArguments)
      if (Value made = convolve(code, nest, isSwapped ? rightArgument : leftArgument,
                                isSwapped ? leftArgument : rightArgument, accumulator()))
        return made;
  FailureOr<SmallVector<Value>> factors = raiser.raise({lhs, rhs});
  if (failed(factors))
    return failure();
  return contract(code, nest, (*factors)[0], (*factors)[1], accumulator());
}

FailureOr<Value> ReductionImporter::raiseTerm(const Combination::Term &term) {
  FailureOr<Value> value = raiser.raise(term.value);
  if (failed(value) || !term.factor)
    return value;
  FailureOr<Value> factor = raiser.raise(term.factor);
  return failed(factor) ? factor : FailureOr<Value>(code.mul(*value, *factor));
}

// Along loops on which the elements do not depend they are repeated: a sum counts each of them.
FailureOr<Value> ReductionImporter::reduceElements(Value elements) {
  SmallVector<unsigned> loops = loopsOf(elements, nest.sizes.size()), left;
  llvm::append_range(loops, nest.reduction);
  llvm::sort(loops);
  loops.erase(llvm::unique(loops), loops.end());
  SmallVector<int64_t> axes;
  for (auto [axis, loop] : llvm::enumerate(loops)) {
    if (nest.isReduced(loop))
      axes.push_back(axis);
    else
      left.push_back(loop);
  }
  Value spread = spreadOverLoops(code, elements, loops, nest.sizes);
  Value reduced = isWidened() || !isAccumulatedWider(kind, element())
                      ? reduce(code, kind, spread, axes)
                      : code.cast(reduce(code, kind, spread, axes), element());
  return alignWithLoops(code, reduced, left, nest.sizes.size());
}

// A term that is a contraction or a reduction of windows by itself; a null value for others.
FailureOr<Value> ReductionImporter::reduceAsWhole(const Combination::Term &term) {
  Value lhs = term.value, rhs = term.factor;
  Operation *product = term.factor ? nullptr : term.value.getDefiningOp();
  if (isa_and_nonnull<arith::MulFOp, arith::MulIOp>(product) && !term.value.getType().isInteger(1)) {
    lhs = product->getOperand(0);
    rhs = product->getOperand(1);
  }
  if (rhs && kind == CombinerKind::sum)
    return sumProducts(lhs, rhs);
  auto argument = dyn_cast<BlockArgument>(term.value);
  if (terms.size() > 1 || !argument || argument.getOwner() != nest.body)
    return Value();
  return poolWindows(code, nest, kind, argument, isWidened());
}

// Terms that are no contractions become the elements of one reduction: a sum of a and another of b overflow
// or cancel where that of a + b does not.
FailureOr<Value> ReductionImporter::reduceTerms() {
  Value all, elements;
  auto join = [&](Value &joined, Value value, const Combination::Term &term) {
    if (term.isNegative)
      value = code.neg(value);
    joined = joined ? combine(code, kind, joined, value) : value;
  };
  for (const Combination::Term &term : terms) {
    FailureOr<Value> whole = reduceAsWhole(term);
    if (failed(whole))
      return failure();
    if (*whole) {
      join(all, *whole, term);
      continue;
    }
    FailureOr<Value> element = raiseTerm(term);
    if (failed(element))
      return failure();
    join(elements, terms.size() > 1 ? code.cast(*element, accumulator()) : *element, term);
  }
  if (!elements)
    return all;
  FailureOr<Value> reduced = reduceElements(elements);
  if (failed(reduced) || !all)
    return reduced;
  return combine(code, kind, all, *reduced);
}

Value ReductionImporter::combineWithInit(Value reduced) {
  if (isNeutral(kind, init))
    return code.cast(reduced, element());
  Value wide = isWidened() ? code.cast(init, accumulator()) : init;
  return code.cast(combine(code, kind, wide, reduced), element());
}

//===- The operation -===//

// Each accumulator, combined with values that depend on no other one; or nothing.
static std::optional<SmallVector<Combination>> matchCombinations(linalg::GenericOp op) {
  SmallVector<Combination> found;
  for (auto [yielded, accumulator] :
       llvm::zip_equal(op.getBody()->getTerminator()->getOperands(), op.getRegionOutputArgs())) {
    std::optional<Combination> combination = matchCombination(yielded, accumulator);
    if (!combination)
      return std::nullopt;
    found.push_back(*combination);
  }
  return found;
}

static FailureOr<SmallVector<Value>> importReduced(TensorCode code, const LoopNest &nest, BodyRaiser &raiser,
                                                   Refusals &refusals) {
  linalg::GenericOp op = nest.op;
  std::optional<SmallVector<Combination>> combinations = matchCombinations(op);
  if (!combinations)
    return runIterations(code, nest, refusals);
  SmallVector<Value> results;
  for (auto [combination, init, result] :
       llvm::zip_equal(*combinations, ArrayRef(nest.operands).drop_front(nest.inputs), op->getResults())) {
    ReductionImporter importer(code, nest, raiser, combination, init);
    FailureOr<Value> reduced = importer.reduceTerms();
    if (failed(reduced))
      return failure();
    AffineMap map = op.getIndexingMapMatchingResult(cast<OpResult>(result));
    results.push_back(importer.combineWithInit(moveToResult(code, nest, *reduced, map)));
  }
  return results;
}

static FailureOr<SmallVector<Value>> importParallel(TensorCode code, const LoopNest &nest,
                                                    BodyRaiser &raiser) {
  linalg::GenericOp op = nest.op;
  FailureOr<SmallVector<Value>> made = raiser.raise(op.getBody()->getTerminator()->getOperands());
  if (failed(made))
    return failure();
  for (auto [value, result] : llvm::zip_equal(*made, op->getResults()))
    value = moveToResult(code, nest, value, op.getIndexingMapMatchingResult(cast<OpResult>(result)));
  return made;
}

LogicalResult Importer::importGeneric(linalg::GenericOp op, TensorCode code) {
  if (failed(refusals.verifyForm(op)))
    return failure();
  LoopNest nest(code, op);
  for (OpResult result : op->getResults()) {
    AffineMap map = op.getIndexingMapMatchingResult(result);
    if (failed(verifyResultMap(nest, map, cast<RankedTensorType>(result.getType()), refusals)))
      return failure();
  }
  BodyRaiser raiser(code, nest.sizes, op.getRegion(), refusals, [&](BlockArgument argument) {
    return readByMap(code, nest.operandOf(argument), nest.mapOf(argument), nest.sizes);
  });
  FailureOr<SmallVector<Value>> made = nest.reduction.empty() ? importParallel(code, nest, raiser)
                                                              : importReduced(code, nest, raiser, refusals);
  if (failed(made))
    return failure();
  for (auto [value, result] : llvm::zip_equal(*made, op->getResults()))
    value = code.withType(value, cast<RankedTensorType>(result.getType()));
  rewriter.replaceOp(op, *made);
  return success();
}
