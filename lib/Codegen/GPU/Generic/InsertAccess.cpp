// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

#include "InsertAccess.h"
#include "GPUKernelEmitter.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace mlir::ad;
using namespace mlir::ad::device;

std::pair<Position, Value> InsertAccess::positionInSlice(tensor::InsertSliceOp insert,
                                                         const Position &position) {
  auto valueOf = [&](OpFoldResult number) -> Value {
    if (auto attr = dyn_cast<Attribute>(number))
      return indexConstant(cast<IntegerAttr>(attr).getInt());
    return scalars.lookup(cast<Value>(number));
  };
  auto compare = [&](arith::CmpIPredicate predicate, Value lhs, Value rhs) -> Value {
    return arith::CmpIOp::create(builder, loc, predicate, lhs, rhs);
  };
  Value isInside = arith::ConstantIntOp::create(builder, loc, builder.getI1Type(), 1);
  Position inside;
  for (auto [axis, index, offset, stride] :
       llvm::enumerate(position, insert.getMixedOffsets(), insert.getMixedStrides())) {
    if (codegen::fills(insert, axis)) {
      inside.push_back({index.base, 0, nullptr});
      continue;
    }
    // Unsigned: an index before the slice wraps to a number beyond its size.
    Value at = binary<arith::SubIOp>(index.base, valueOf(offset));
    if (getConstantIntValue(stride) != 1) {
      Value rest = binary<arith::RemUIOp>(at, valueOf(stride));
      isInside = binary<arith::AndIOp>(isInside, compare(arith::CmpIPredicate::eq, rest, indexConstant(0)));
      at = binary<arith::DivUIOp>(at, valueOf(stride));
    }
    isInside = binary<arith::AndIOp>(
        isInside, compare(arith::CmpIPredicate::ult, at, sizeOf(insert.getSource(), axis)));
    inside.push_back({at, 0, nullptr});
  }
  return {inside, isInside};
}

// The memory of an operand, or of the operand that it is a part of; null for a value that is computed, and
// for an operand without elements.
const Buffer *InsertAccess::bufferOf(Value tensor) const {
  auto type = cast<RankedTensorType>(tensor.getType());
  if (!type.hasStaticShape() || type.getNumElements() == 0)
    return nullptr;
  while (auto slice = tensor.getDefiningOp<tensor::ExtractSliceOp>()) {
    if (slice.getSourceType().getRank() != slice.getType().getRank())
      return nullptr;
    tensor = slice.getSource();
  }
  auto found = buffers.find(tensor);
  return found == buffers.end() ? nullptr : &found->second;
}

Value InsertAccess::pointerTo(Value tensor, Position position) {
  for (; auto slice = tensor.getDefiningOp<tensor::ExtractSliceOp>(); tensor = slice.getSource())
    position = maps.insideSlice(slice, position);
  const Buffer &buffer = buffers.find(tensor)->second;
  int64_t step;
  Value indices;
  return memoryAccess.pointerAt(buffer, memoryAccess.linearIndex(buffer, position, step, indices));
}

// The axis along which the part has not all elements, if it is one and the part has neighbours there.
static std::optional<int64_t> axisOfPart(tensor::InsertSliceOp part) {
  std::optional<int64_t> found;
  for (int64_t axis = 0; axis < part.getDestType().getRank(); ++axis) {
    if (codegen::fills(part, axis))
      continue;
    if (found || !codegen::isUnitStride(part, axis) || !getConstantIntValue(part.getMixedOffsets()[axis]))
      return std::nullopt;
    found = axis;
  }
  return found;
}

// Whether each element is in a part: they follow each other along one axis, as those of a concatenation do.
static bool coverAll(ArrayRef<tensor::InsertSliceOp> inserts) {
  std::optional<int64_t> axis = axisOfPart(inserts[0]);
  SmallVector<std::pair<int64_t, int64_t>> parts;
  for (tensor::InsertSliceOp part : inserts) {
    if (!axis || axisOfPart(part) != axis)
      return false;
    parts.push_back(
        {*getConstantIntValue(part.getMixedOffsets()[*axis]), part.getSourceType().getDimSize(*axis)});
  }
  llvm::sort(parts);
  int64_t end = 0;
  for (auto [offset, size] : parts) {
    if (offset > end)
      return false;
    end = std::max(end, offset + size);
  }
  tensor::InsertSliceOp first = inserts[0];
  return end == first.getDestType().getDimSize(*axis);
}

// If all parts are in memory, an address is chosen instead of a branch, so that the loads of several elements
// are in flight at once. An element outside of all parts loads the first one of a part, whose value is not
// used. Null where a part is computed.
Value InsertAccess::loadChosen(tensor::InsertSliceOp insert, const Position &position) {
  SmallVector<tensor::InsertSliceOp> inserts;
  Value rest = insert.getResult();
  for (; auto next = rest.getDefiningOp<tensor::InsertSliceOp>(); rest = next.getDest()) {
    if (!bufferOf(next.getSource()) || next.getSourceType().getRank() != next.getDestType().getRank())
      return {};
    inserts.push_back(next);
  }
  auto fill = rest.getDefiningOp<linalg::FillOp>();
  bool hasMemory = bufferOf(rest) != nullptr;
  if (!fill && !hasMemory && !rest.getDefiningOp<tensor::EmptyOp>())
    return {};
  Value pointer, isFound;
  if (hasMemory)
    pointer = pointerTo(rest, position);
  else if (!coverAll(inserts))
    pointer = bufferOf(inserts.back().getSource())->pointer;
  for (tensor::InsertSliceOp part : llvm::reverse(inserts)) {
    auto [inside, isInside] = positionInSlice(part, position);
    Value own = pointerTo(part.getSource(), inside);
    pointer = pointer ? arith::SelectOp::create(builder, loc, isInside, own, pointer).getResult() : own;
    isFound = isFound ? binary<arith::OrIOp>(isFound, isInside) : isInside;
  }
  Type element = insert.getSourceType().getElementType(), memory = memoryType(element);
  Value value = LLVM::LoadOp::create(builder, loc, memory, pointer, memoryBytes(memory));
  if (fill)
    value =
        arith::SelectOp::create(builder, loc, isFound, value, toMemory(scalars.lookup(fill.getInputs()[0])));
  return fromMemory(value, element);
}

FailureOr<Value> InsertAccess::compute(tensor::InsertSliceOp insert, const Position &position) {
  if (insert.getSourceType().getRank() != insert.getDestType().getRank())
    return insert.emitOpError("changes the rank; the GPU emitter expects equal ranks");
  if (Value value = loadChosen(insert, position))
    return value;
  auto inside = positionInSlice(insert, position);
  Type element = insert.getSourceType().getElementType();
  auto branch = scf::IfOp::create(builder, loc, memoryType(element), inside.second, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(builder);
  auto yieldAt = [&](Block *block, Value tensor, const Position &where) -> LogicalResult {
    builder.setInsertionPointToStart(block);
    VectorizedAccess::Branch branchOfElement(emitter.vectorized);
    Scope scope(context);
    ThreadMapping::PerThread perThread(mapping);
    FailureOr<Value> value = evaluator.evaluateOne(tensor, where);
    if (failed(value))
      return failure();
    scf::YieldOp::create(builder, loc, toMemory(*value));
    return success();
  };
  if (failed(yieldAt(branch.thenBlock(), insert.getSource(), inside.first)) ||
      failed(yieldAt(branch.elseBlock(), insert.getDest(), position)))
    return failure();
  builder.setInsertionPointAfter(branch);
  return fromMemory(branch.getResult(0), element);
}
