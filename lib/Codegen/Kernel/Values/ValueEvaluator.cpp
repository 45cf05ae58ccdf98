// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Values of tensors at positions: through access maps, with scalar code cloned to vectors.

#include "ValueEvaluator.h"
#include "adjoint/Dialect/AD/Transforms/LoopNestCode.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace mlir::ad;
using namespace mlir::ad::codegen;

// A value that is the same in all lanes is computed once, by scalar code. Positions in flat code are linear.
static bool isUniform(ArrayRef<Position> positions) {
  return llvm::all_of(positions, [](const Position &position) {
    return llvm::all_of(position, [](const Index &index) { return index.isUniform(); });
  });
}

// Null where nothing was remembered.
Value ValueEvaluator::knownAt(Value tensor, const Position &position) {
  Value value = context.known.lookup(context.keyOf(tensor, position));
  return value ? reload(value) : value;
}

FailureOr<SmallVector<Value>> ValueEvaluator::evaluate(Value tensor, ArrayRef<Position> positions) {
  if (lanes > 1 && isUniform(positions)) {
    WithLanes scalarCode(context, 1, nullptr);
    return evaluate(tensor, positions);
  }
  SmallVector<Position> missing;
  std::set<Key> requested; // the sum of a row is requested once for all columns
  for (const Position &position : positions)
    if (!knownAt(tensor, position) && requested.insert(context.keyOf(tensor, position)).second)
      missing.push_back(position);
  if (!missing.empty() && failed(evaluateMissing(tensor, missing)))
    return failure();
  SmallVector<Value> values;
  for (const Position &position : positions)
    values.push_back(knownAt(tensor, position));
  return values;
}

LogicalResult ValueEvaluator::evaluateMissing(Value tensor, ArrayRef<Position> missing) {
  auto generic = tensor.getDefiningOp<linalg::GenericOp>();
  if (generic && reduces(generic)) {
    // All positions use one loop over the reduced axes.
    auto reduced = reductions.reduce(generic, cast<OpResult>(tensor).getResultNumber(), missing);
    if (failed(reduced))
      return failure();
    for (auto [position, value] : llvm::zip_equal(missing, *reduced))
      remember(tensor, position, value);
    return success();
  }
  if (generic && missing.size() > 1 && failed(evaluateInputs(generic, missing)))
    return failure();
  for (const Position &position : missing) {
    if (knownAt(tensor, position))
      continue;
    FailureOr<Value> value = compute(tensor, position);
    if (failed(value))
      return failure();
    remember(tensor, position, *value);
  }
  return success();
}

// Sums among them have one loop for all positions then. They come first: what is combined with a sum would
// take registers during its loop.
LogicalResult ValueEvaluator::evaluateInputs(linalg::GenericOp generic, ArrayRef<Position> positions) {
  AffineMap out = generic.getMatchingIndexingMap(generic.getDpsInitOperand(0));
  SmallVector<OpOperand *> computed =
      llvm::filter_to_vector(generic.getDpsInputOperands(), [](OpOperand *input) {
        return input->get().getDefiningOp<linalg::GenericOp>() != nullptr;
      });
  auto hasSum = [](OpOperand *input) { return dependsOn(input->get(), reduces); };
  if (computed.size() > 1 && !hasSum(computed.front()) && hasSum(computed.back()))
    std::swap(computed.front(), computed.back());
  for (OpOperand *input : computed) {
    SmallVector<Position> inner;
    for (const Position &position : positions)
      inner.push_back(positionOf(input, maps.loopsFromOutput(generic, out, position)));
    if (failed(evaluate(input->get(), inner)))
      return failure();
  }
  return success();
}

LogicalResult ValueEvaluator::loadFirst(linalg::GenericOp generic, ArrayRef<SmallVector<Index>> loops) {
  llvm::SmallPtrSet<Operation *, 8> visited;
  return loadFirst(generic, loops, visited);
}

// What an operation reads that is read again at other positions is loaded when it is computed.
LogicalResult ValueEvaluator::loadFirst(linalg::GenericOp generic, ArrayRef<SmallVector<Index>> loops,
                                        llvm::SmallPtrSetImpl<Operation *> &visited) {
  for (OpOperand *input : generic.getDpsInputOperands()) {
    if (!isa<RankedTensorType>(input->get().getType()) || generic.getMatchingBlockArgument(input).use_empty())
      continue;
    SmallVector<Position> positions;
    for (const SmallVector<Index> &inner : loops)
      positions.push_back(positionOf(input, inner));
    if (buffers.count(input->get())) {
      if (failed(evaluate(input->get(), positions)))
        return failure();
      continue;
    }
    auto producer = input->get().getDefiningOp<linalg::GenericOp>();
    if (!producer || reduces(producer) || !visited.insert(producer).second)
      continue;
    AffineMap map = producer.getMatchingIndexingMap(
        producer.getDpsInitOperand(cast<OpResult>(input->get()).getResultNumber()));
    SmallVector<SmallVector<Index>> before;
    for (const Position &position : positions)
      before.push_back(maps.loopsFromOutput(producer, map, position));
    if (failed(loadFirst(producer, before, visited)))
      return failure();
  }
  return success();
}

FailureOr<Value> ValueEvaluator::operandValue(OpOperand *input, ArrayRef<Index> loops) {
  return evaluateOne(input->get(), positionOf(input, loops));
}

Position ValueEvaluator::positionOf(OpOperand *input, ArrayRef<Index> loops) {
  return maps.apply(cast<linalg::GenericOp>(input->getOwner()).getMatchingIndexingMap(input), loops);
}

FailureOr<Value> ValueEvaluator::compute(Value tensor, const Position &position) {
  if (auto it = buffers.find(tensor); it != buffers.end())
    return memoryAccess.load(it->second, position);
  Operation *op = tensor.getDefiningOp();
  if (auto fill = dyn_cast_or_null<linalg::FillOp>(op))
    return scalars.lookup(fill.getInputs()[0]);
  if (auto cast = dyn_cast_or_null<tensor::CastOp>(op))
    return evaluateOne(cast.getSource(), position);
  if (auto slice = dyn_cast_or_null<tensor::ExtractSliceOp>(op))
    return evaluateOne(slice.getSource(), maps.insideSlice(slice, position));
  if (auto generic = dyn_cast_or_null<linalg::GenericOp>(op)) {
    unsigned result = cast<OpResult>(tensor).getResultNumber();
    AffineMap map = generic.getMatchingIndexingMap(generic.getDpsInitOperand(result));
    auto values = applyBody(generic, maps.loopsFromOutput(generic, map, position), {});
    if (failed(values))
      return failure();
    return (*values)[result];
  }
  // Code for the elements of a tensor that has none never runs.
  auto type = cast<RankedTensorType>(tensor.getType());
  if (type.hasStaticShape() && type.getNumElements() == 0)
    return Value(arith::ConstantOp::create(builder, loc, builder.getZeroAttr(type.getElementType())));
  return kernel.emitOpError("holds a value that the CPU emitter cannot compute in place: ") << tensor;
}

Value ValueEvaluator::lookup(Value value, IRMapping &values) {
  if (Value mapped = values.lookupOrNull(value))
    return mapped;
  return scalars.lookupOrNull(value);
}

// What the wanted values of a body are computed from, but for those that are known.
static llvm::DenseSet<Value> valuesToCompute(Block *body, const IRMapping &known, ValueRange wanted) {
  llvm::DenseSet<Value> needed(wanted.begin(), wanted.end());
  for (Operation &op : llvm::reverse(body->without_terminator()))
    if (llvm::any_of(op.getResults(),
                     [&](Value result) { return needed.contains(result) && !known.contains(result); }))
      needed.insert(op.operand_begin(), op.operand_end());
  return needed;
}

FailureOr<SmallVector<Value>> ValueEvaluator::evaluateBody(linalg::GenericOp generic, ArrayRef<Index> loops,
                                                           const IRMapping &known, ValueRange wanted) {
  IRMapping values(known);
  Block *body = generic.getBlock();
  llvm::DenseSet<Value> needed = valuesToCompute(body, known, wanted);
  for (OpOperand *input : generic.getDpsInputOperands()) {
    BlockArgument argument = generic.getMatchingBlockArgument(input);
    if (!needed.contains(argument) || known.contains(argument))
      continue;
    if (!isa<RankedTensorType>(input->get().getType())) {
      values.map(argument, scalars.lookup(input->get()));
      continue;
    }
    FailureOr<Value> value = operandValue(input, loops);
    if (failed(value))
      return failure();
    values.map(argument, *value);
  }
  for (Operation &op : body->without_terminator()) {
    bool isNeeded = llvm::any_of(
        op.getResults(), [&](Value result) { return needed.contains(result) && !known.contains(result); });
    if (isNeeded && failed(cloneScalar(&op, values, loops)))
      return failure();
  }
  SmallVector<Value> results;
  for (Value value : wanted)
    results.push_back(lookup(value, values));
  return results;
}

FailureOr<Value> ValueEvaluator::extract(tensor::ExtractOp op, IRMapping &values, ArrayRef<Index> loops) {
  Position position;
  for (Value index : op.getIndices()) {
    if (std::optional<Index> affine = lanes > 1 ? maps.affineIndex(index, loops) : std::nullopt) {
      position.push_back(*affine);
      continue;
    }
    Value mapped = lookup(index, values);
    if (isa<VectorType>(mapped.getType()))
      position.push_back({nullptr, 0, mapped});
    else
      position.push_back({mapped, 0, nullptr});
  }
  // Computed indices never run over flattened positions.
  return evaluateOne(op.getTensor(), position);
}

// A vector of elements is read if one of them is inside of the tensor, which has elements then.
FailureOr<Value> ValueEvaluator::extractInside(tensor::ExtractOp op, IRMapping &values,
                                               ArrayRef<Index> loops) {
  auto choice = op->hasOneUse() ? dyn_cast<arith::SelectOp>(*op->user_begin()) : arith::SelectOp();
  Value inside =
      choice && choice.getTrueValue() == op.getResult() ? lookup(choice.getCondition(), values) : Value();
  if (!inside)
    return op->emitOpError("counts only inside of its tensor, but no choice takes it there");
  if (isa<VectorType>(inside.getType()))
    inside = vector::ReductionOp::create(builder, loc, vector::CombiningKind::OR, inside);
  LogicalResult isRead = success();
  Type type;
  auto read = [&](OpBuilder &, Location) {
    Scope scope(context);
    FailureOr<Value> element = extract(op, values, loops);
    isRead = element;
    Value moved = succeeded(element) ? movable(*element) : inside;
    type = moved.getType();
    scf::YieldOp::create(builder, loc, moved);
  };
  auto skip = [&](OpBuilder &, Location) {
    scf::YieldOp::create(builder, loc,
                         arith::ConstantOp::create(builder, loc, builder.getZeroAttr(type)).getResult());
  };
  Value element = scf::IfOp::create(builder, loc, inside, read, skip).getResult(0);
  if (failed(isRead))
    return failure();
  return fromMemory(element, op.getType());
}

// Any operation of scalar code.
FailureOr<Value> ValueEvaluator::cloneScalar(Operation *op, IRMapping &values, ArrayRef<Index> loops) {
  if (auto index = dyn_cast<linalg::IndexOp>(op)) {
    const Index &loop = loops[index.getDim()];
    Value value = lanes == 1 || (!loop.lanes && loop.step == 0) ? loop.base : laneValues.laneVector(loop);
    values.map(index.getResult(), value);
    return value;
  }
  if (auto read = dyn_cast<tensor::ExtractOp>(op)) {
    FailureOr<Value> value =
        read->hasAttr(kInsideOnlyAttr) ? extractInside(read, values, loops) : extract(read, values, loops);
    if (succeeded(value))
      values.map(read.getResult(), *value);
    return value;
  }
  if (op->getNumResults() != 1 || op->getNumRegions() != 0)
    return op->emitOpError("is not scalar code that the CPU emitter can vectorize");
  return cloneArithmetic(op, values);
}

// When an operand is a vector, all become vectors.
FailureOr<Value> ValueEvaluator::cloneArithmetic(Operation *op, IRMapping &values) {
  SmallVector<Value> operands;
  bool isVector = false;
  for (Value operand : op->getOperands()) {
    operands.push_back(lookup(operand, values));
    if (!operands.back())
      return op->emitOpError("uses a value that is not available in the kernel");
    isVector |= isa<VectorType>(operands.back().getType());
  }
  OperationState state(loc, op->getName());
  Type type = op->getResult(0).getType();
  if (isVector) {
    for (Value &operand : operands)
      operand = laneValues.splat(operand, lanes);
    type = VectorType::get(lanes, type);
  }
  Type written = type;
  if (isa<arith::SelectOp>(op)) {
    for (Value &choice : MutableArrayRef(operands).drop_front())
      choice = movable(choice);
    type = operands.back().getType();
  }
  state.addOperands(operands);
  state.addTypes(type);
  state.addAttributes(op->getAttrs());
  Value result = builder.create(state)->getResult(0);
  if (type != written)
    result = fromMemory(result, getElementTypeOrSelf(written));
  values.map(op->getResult(0), result);
  return result;
}
