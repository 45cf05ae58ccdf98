// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

#include "BodyRaiser.h"
#include "RaiseScalars.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Transforms/RegionUtils.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace mlir::ad;

FailureOr<Value> BodyRaiser::raise(Value wanted) {
  FailureOr<SmallVector<Value>> values = raise(ValueRange(wanted));
  return failed(values) ? FailureOr<Value>() : FailureOr<Value>(values->front());
}

FailureOr<SmallVector<Value>> BodyRaiser::raise(ValueRange wanted) {
  if (failed(raiseBlock(body.front(), wanted)))
    return failure();
  return llvm::map_to_vector(wanted, [&](Value scalar) { return lookUp(scalar); });
}

// The operations of the block that the values depend on. No recursion, since bodies may be long.
static llvm::SmallPtrSet<Operation *, 16> findNeeded(Block &block, ValueRange wanted) {
  llvm::SmallPtrSet<Operation *, 16> needed;
  SmallVector<Value> open(wanted);
  while (!open.empty()) {
    Operation *op = open.pop_back_val().getDefiningOp();
    op = op ? block.findAncestorOpInBlock(*op) : nullptr;
    if (!op || !needed.insert(op).second)
      continue;
    llvm::append_range(open, op->getOperands());
    llvm::SetVector<Value> captured;
    getUsedValuesDefinedAbove(op->getRegions(), captured);
    open.append(captured.begin(), captured.end());
  }
  return needed;
}

LogicalResult BodyRaiser::raiseBlock(Block &block, ValueRange wanted) {
  llvm::SmallPtrSet<Operation *, 16> needed = findNeeded(block, wanted);
  for (Operation &op : block) {
    bool isRaised = op.getNumResults() && raised.count(op.getResult(0));
    if (needed.contains(&op) && !isRaised && failed(raiseOperation(&op)))
      return failure();
  }
  return success();
}

LogicalResult BodyRaiser::verifyElements(Operation *op) {
  for (Type type : llvm::concat<const Type>(op->getOperandTypes(), op->getResultTypes()))
    if (!isa<TensorType>(type) && !importedElement(type))
      return refusals.add(op, "computes with values of type " + printed(type) + "; expected " +
                                  kImportedElements);
  return refusals.verifyForm(op);
}

LogicalResult BodyRaiser::raiseOperation(Operation *op) {
  if (failed(verifyElements(op)))
    return failure();
  if (auto index = dyn_cast<linalg::IndexOp>(op)) {
    raised[op->getResult(0)] = iterationOf(code, index.getDim(), sizes);
    return success();
  }
  Attribute constant;
  if (op->getNumResults() == 1 && matchPattern(op->getResult(0), m_Constant(&constant))) {
    raised[op->getResult(0)] = code.ofConstant(cast<TypedAttr>(constant));
    return success();
  }
  if (isa<scf::IfOp>(op))
    return raiseIf(op);
  if (isa<tensor::ExtractOp>(op))
    return raiseExtract(op);
  if (isa<affine::AffineApplyOp>(op))
    return raiseApply(op);
  SmallVector<Value> operands = llvm::map_to_vector(op->getOperands(), [&](Value x) { return lookUp(x); });
  SmallVector<Value> results =
      op->getNumRegions() == 0 ? raiseScalarOp(code, op, operands) : SmallVector<Value>();
  if (results.size() != op->getNumResults())
    return refusals.addScalarCode(op);
  for (auto [result, value] : llvm::zip_equal(op->getResults(), results))
    raised[result] = value;
  return success();
}

Value BodyRaiser::lookUp(Value scalar) {
  if (Value value = raised.lookup(scalar))
    return value;
  Attribute constant;
  Value value;
  auto argument = dyn_cast<BlockArgument>(scalar);
  if (auto iteration = iterations.find(scalar); iteration != iterations.end())
    value = iterationOf(code, iteration->second, sizes);
  else if (argument && argument.getOwner() == &body.front())
    value = read(argument);
  else if (matchPattern(scalar, m_Constant(&constant)))
    value = code.ofConstant(cast<TypedAttr>(constant));
  else
    value = code.ofScalar(scalar);
  return raised[scalar] = value;
}

// Both branches are computed, and each point takes the results of one.
LogicalResult BodyRaiser::raiseIf(Operation *op) {
  auto branch = cast<scf::IfOp>(op);
  ++branches;
  llvm::scope_exit leave([&] { --branches; });
  SmallVector<Operation *, 2> yields = {branch.thenYield(), branch.elseYield()};
  for (Operation *yield : yields)
    if (failed(raiseBlock(*yield->getBlock(), yield->getOperands())))
      return failure();
  Value condition = lookUp(branch.getCondition());
  for (auto [result, onTrue, onFalse] :
       llvm::zip_equal(op->getResults(), yields[0]->getOperands(), yields[1]->getOperands()))
    raised[result] = code.select(condition, lookUp(onTrue), lookUp(onFalse));
  return success();
}

// The iteration of a loop over the whole axis needs no list of indices.
AxisIndex BodyRaiser::indexFor(Value tensor, unsigned axis, Value index) {
  auto isWholeAxis = [&](unsigned loop) {
    if (sizes.iterationAround(loop))
      return false;
    std::optional<int64_t> size = getConstantIntValue(sizes[loop]);
    return size && *size == TensorCode::typeOf(tensor).getDimSize(axis);
  };
  std::optional<unsigned> loop;
  if (auto iteration = iterations.find(index); iteration != iterations.end())
    loop = iteration->second;
  else if (auto iteration = index.getDefiningOp<linalg::IndexOp>())
    loop = iteration.getDim();
  if (loop && isWholeAxis(*loop))
    return {loop, Value()};
  return {std::nullopt, lookUp(index)};
}

// A branch that a point does not take may read outside of the tensor, which then means nothing.
LogicalResult BodyRaiser::raiseExtract(Operation *op) {
  auto extract = cast<tensor::ExtractOp>(op);
  Value tensor = extract.getTensor();
  if (!body.isAncestor(tensor.getParentRegion()) && isImported(tensor.getType())) {
    SmallVector<AxisIndex> indices;
    for (auto [axis, index] : llvm::enumerate(extract.getIndices()))
      indices.push_back(indexFor(tensor, axis, index));
    raised[extract.getResult()] =
        readAt(code, tensor, indices, sizes, branches ? Outside::clamp : Outside::error);
    return success();
  }
  return refusals.add(op, "reads a tensor that the body makes; expected one from outside of it");
}

LogicalResult BodyRaiser::raiseApply(Operation *op) {
  auto apply = cast<affine::AffineApplyOp>(op);
  AffineMap map = apply.getAffineMap();
  SmallVector<AffineExpr> symbols;
  for (unsigned symbol = 0; symbol < map.getNumSymbols(); ++symbol)
    symbols.push_back(getAffineDimExpr(map.getNumDims() + symbol, op->getContext()));
  AffineExpr expr = map.getResult(0).replaceSymbols(symbols);
  SmallVector<Value> operands = llvm::map_to_vector(op->getOperands(), [&](Value x) { return lookUp(x); });
  raised[op->getResult(0)] = evaluateExpr(code, expr, operands);
  return success();
}
