// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

#include "adjoint/Dialect/AD/Transforms/LoopNestCode.h"
#include "../Verify/IndexIntervals.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::ad;

bool ad::isSurelyInside(const ElementAccess &access, RankedTensorType type, int64_t axis,
                        ArrayRef<int64_t> extents) {
  if (access.isWholeAxis(axis))
    return true;
  if (type.isDynamicDim(axis))
    return false;
  AffineExpr index = access.map.getResult(axis);
  for (auto [loop, extent] : llvm::enumerate(extents))
    if (extent == 0 && index.isFunctionOfDim(loop))
      return true;
  std::optional<Interval> range = intervalOf(index, extents);
  return range && range->low >= 0 && range->high < type.getDimSize(axis);
}

//===- Accesses -===//

AccessCode::AccessCode(OpBuilder &builder, Location loc, ArrayRef<int64_t> extents)
    : builder(builder), loc(loc), extents(extents) {
  for (size_t loop = 0; loop < extents.size(); ++loop)
    loops.push_back(linalg::IndexOp::create(builder, loc, loop));
}

// Divisors are positive constants (verifyElementAccess).
Value AccessCode::expand(AffineExpr expr, ValueRange symbols) const {
  if (auto dim = dyn_cast<AffineDimExpr>(expr))
    return loops[dim.getPosition()];
  if (auto symbol = dyn_cast<AffineSymbolExpr>(expr)) {
    Value value = symbols[symbol.getPosition()];
    if (value.getType().isInteger(1)) // 0 or 1, as ad.cast makes of it
      return arith::IndexCastUIOp::create(builder, loc, builder.getIndexType(), value);
    return value.getType().isIndex()
               ? value
               : arith::IndexCastOp::create(builder, loc, builder.getIndexType(), value);
  }
  if (auto constant = dyn_cast<AffineConstantExpr>(expr))
    return arith::ConstantIndexOp::create(builder, loc, constant.getValue());
  auto pair = cast<AffineBinaryOpExpr>(expr);
  Value left = expand(pair.getLHS(), symbols), right = expand(pair.getRHS(), symbols);
  switch (expr.getKind()) {
  case AffineExprKind::Mul:
    return builder.createOrFold<arith::MulIOp>(loc, left, right);
  case AffineExprKind::FloorDiv:
    return arith::FloorDivSIOp::create(builder, loc, left, right);
  case AffineExprKind::CeilDiv:
    return arith::CeilDivSIOp::create(builder, loc, left, right);
  case AffineExprKind::Mod: {
    Value quotient = arith::FloorDivSIOp::create(builder, loc, left, right);
    return builder.createOrFold<arith::SubIOp>(loc, left,
                                               builder.createOrFold<arith::MulIOp>(loc, quotient, right));
  }
  default:
    return builder.createOrFold<arith::AddIOp>(loc, left, right);
  }
}

SmallVector<Value> AccessCode::indices(const ElementAccess &access, ValueRange symbols) const {
  return llvm::map_to_vector(access.map.getResults(),
                             [&](AffineExpr index) { return expand(index, symbols); });
}

void AccessCode::clampIndices(const ElementAccess &access, RankedTensorType type, ValueRange sizes,
                              MutableArrayRef<Value> indices) const {
  Value zero = arith::ConstantIndexOp::create(builder, loc, 0),
        one = arith::ConstantIndexOp::create(builder, loc, 1);
  for (auto [axis, index] : llvm::enumerate(indices)) {
    if (isSurelyInside(access, type, axis, extents))
      continue;
    Value last = builder.createOrFold<arith::SubIOp>(loc, sizes[axis], one);
    index = arith::MaxSIOp::create(builder, loc, index, zero);
    index = arith::MinSIOp::create(builder, loc, index, last);
  }
}

Value AccessCode::areInside(const ElementAccess &access, RankedTensorType type, ValueRange sizes,
                            ValueRange indices) const {
  Value all;
  for (auto [axis, index] : llvm::enumerate(indices)) {
    if (isSurelyInside(access, type, axis, extents))
      continue;
    // Negative indices are the largest unsigned numbers.
    Value inside = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ult, index, sizes[axis]);
    all = all ? arith::AndIOp::create(builder, loc, all, inside).getResult() : inside;
  }
  return all;
}

bool AccessCode::mayBeEmpty(const ElementAccess &access, RankedTensorType type) const {
  return llvm::any_of(llvm::enumerate(type.getShape()), [&](auto axis) {
    return axis.value() <= 0 && !isSurelyInside(access, type, axis.index(), extents);
  });
}

Value AccessCode::read(Value tensor, const ElementAccess &access, ValueRange symbols,
                       ValueRange sizes) const {
  auto type = cast<RankedTensorType>(tensor.getType());
  SmallVector<Value> at = indices(access, symbols);
  Value inside = access.outOfRange == OutOfRange::value ? areInside(access, type, sizes, at) : Value();
  if (access.outOfRange != OutOfRange::error)
    clampIndices(access, type, sizes, at);
  auto element = tensor::ExtractOp::create(builder, loc, tensor, at);
  if (!inside)
    return element;
  if (mayBeEmpty(access, type))
    element->setAttr(kInsideOnlyAttr, builder.getUnitAttr());
  Value padding = arith::ConstantOp::create(builder, loc, access.padding);
  return arith::SelectOp::create(builder, loc, inside, element, padding);
}

//===- Operands -===//

SmallVector<Value> ad::delinearize(OpBuilder &builder, Location loc, Value number, ArrayRef<Value> sizes) {
  SmallVector<Value> indices(sizes.size());
  for (int64_t axis = int64_t(sizes.size()) - 1; axis >= 0; --axis) {
    indices[axis] = axis == 0 ? number : builder.createOrFold<arith::RemUIOp>(loc, number, sizes[axis]);
    if (axis > 0)
      number = builder.createOrFold<arith::DivUIOp>(loc, number, sizes[axis]);
  }
  return indices;
}

SmallVector<Value> ad::sizesOfTensor(OpBuilder &builder, Location loc, Value tensor) {
  SmallVector<Value> sizes;
  for (int64_t axis = 0; axis < cast<RankedTensorType>(tensor.getType()).getRank(); ++axis)
    sizes.push_back(builder.createOrFold<tensor::DimOp>(loc, tensor, axis));
  return sizes;
}

NestOperands::NestOperands(Operation *op, ArrayRef<ElementAccess> accesses, ArrayRef<OpFoldResult> loopSizes,
                           OpBuilder &builder, int64_t skipped)
    : op(op), accesses(accesses), builder(builder), loc(op->getLoc()), skipped(skipped) {
  for (OpFoldResult size : loopSizes)
    extents.push_back(getConstantIntValue(size).value_or(ShapedType::kDynamic));
  for (OpOperand &operand : op->getOpOperands())
    add(operand);
  giveSizes(loopSizes);
}

const ElementAccess &NestOperands::accessOf(OpOperand &operand) const {
  return accesses[tensorNumber(op, operand.getOperandNumber())];
}

// linalg knows sums and multiples of loops; its verifier compares constant sizes.
bool NestOperands::isInput(OpOperand &operand) const {
  auto type = dyn_cast<RankedTensorType>(operand.get().getType());
  if (!type)
    return true;
  const ElementAccess &access = accessOf(operand);
  if (!access.indexOperands.empty())
    return false;
  // An axis that one loop runs over has its size.
  auto hasSizeOf = [&](unsigned axis, AffineDimExpr loop) {
    int64_t extent = extents[loop.getPosition()], size = type.getDimSize(axis);
    bool isOpen = ShapedType::isDynamic(extent) || ShapedType::isDynamic(size);
    return isOpen ? access.isWholeAxis(axis) : extent == size;
  };
  for (auto [axis, index] : llvm::enumerate(access.map.getResults())) {
    if (auto loop = dyn_cast<AffineDimExpr>(index)) {
      if (!hasSizeOf(axis, loop))
        return false;
      continue;
    }
    if (divides(index) || !isSurelyInside(access, type, axis, extents))
      return false;
  }
  return true;
}

void NestOperands::add(OpOperand &operand) {
  inputOf.emplace_back();
  if (operand.getOperandNumber() == skipped)
    return;
  if (!isInput(operand)) {
    sizesOf[operand.getOperandNumber()] = sizesOfTensor(builder, loc, operand.get());
    return;
  }
  inputOf.back() = inputs.size();
  inputs.push_back(operand.get());
  bool isTensor = isa<RankedTensorType>(operand.get().getType());
  maps.push_back(isTensor ? accessOf(operand).map : AffineMap::get(extents.size(), 0, builder.getContext()));
}

// linalg takes the size of each loop from an operand: empty tensors say the sizes that no other one does.
void NestOperands::giveSizes(ArrayRef<OpFoldResult> loopSizes) {
  for (auto [loop, size] : llvm::enumerate(loopSizes)) {
    AffineExpr index = builder.getAffineDimExpr(loop);
    if (llvm::any_of(maps, [&](AffineMap map) { return llvm::is_contained(map.getResults(), index); }))
      continue;
    inputs.push_back(tensor::EmptyOp::create(builder, loc, ArrayRef(size), builder.getI1Type()));
    maps.push_back(AffineMap::get(extents.size(), 0, index));
  }
}

SmallVector<Value> NestOperands::symbols(const ElementAccess &access, ArrayRef<Value> elements) {
  return llvm::map_to_vector(access.indexOperands, [&](unsigned operand) { return elements[operand]; });
}

SmallVector<Value> NestOperands::elements(const AccessCode &code, ValueRange arguments) const {
  SmallVector<Value> scalars(op->getNumOperands());
  for (auto [operand, input] : llvm::enumerate(inputOf))
    if (input)
      scalars[operand] = arguments[*input];
  // Indices before the elements that they choose.
  for (bool isIndexed : {false, true})
    for (OpOperand &operand : op->getOpOperands()) {
      unsigned number = operand.getOperandNumber();
      if (scalars[number] || number == skipped || accessOf(operand).indexOperands.empty() == isIndexed)
        continue;
      const ElementAccess &access = accessOf(operand);
      scalars[number] = code.read(operand.get(), access, symbols(access, scalars), sizesOf.at(number));
    }
  return scalars;
}
