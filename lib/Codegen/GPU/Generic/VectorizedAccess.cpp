// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

#include "VectorizedAccess.h"
#include "GPUKernelEmitter.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace mlir::ad;
using namespace mlir::ad::device;

int64_t device::contiguousAxis(ArrayRef<int64_t> shape) {
  int64_t axis = static_cast<int64_t>(shape.size()) - 1;
  while (axis >= 0 && shape[axis] == 1)
    --axis;
  return axis;
}

SmallVector<Value> VectorizedAccess::consecutiveIndices(Value first, int64_t length) {
  SmallVector<Value> indices = {first};
  for (int64_t i = 1; i < length; ++i)
    indices.push_back(binary<arith::AddIOp>(first, indexConstant(i)));
  if (length == 1)
    return indices;
  for (auto [number, index] : llvm::enumerate(indices))
    elements[index] = {vectors.size(), number};
  vectors.push_back(indices);
  return indices;
}

// The widest element type that is contiguous along the axis decides; the other tensors have shorter accesses,
// which are coalesced as well.
int64_t VectorizedAccess::vectorLength(const Nest &nest, int64_t axis) {
  int64_t widest = 1;
  auto count = [&](Type element, ArrayRef<int64_t> shape) {
    int64_t own = contiguousAxis(shape);
    if (own >= 0 && shape[own] == nest.shape[axis])
      widest = std::max(widest, memoryBytes(element));
  };
  for (Value output : nest.outputs)
    widest = std::max(widest, memoryBytes(getElementTypeOrSelf(output.getType())));
  for (auto &[tensor, buffer] : buffers)
    count(buffer.element, buffer.shape);
  int64_t length = kAccessBytes / widest, size = nest.shape[axis];
  if (flat && !ShapedType::isDynamicShape(nest.shape))
    return ShapedType::getNumElements(nest.shape) < length ? 1 : length;
  if (!ShapedType::isDynamic(size) && !flat)
    while (size % length != 0)
      length /= 2;
  return length;
}

// Every tensor starts at a multiple of the widest access (docs/architecture.md); its rows may not.
Value VectorizedAccess::allowsVectors(int64_t length) {
  Value remainders;
  auto requireOf = [&](const Buffer &buffer) {
    int64_t axis = contiguousAxis(buffer.shape);
    if (flat || axis < 0 || !ShapedType::isDynamic(buffer.shape[axis]))
      return;
    Value remainder = binary<arith::RemUIOp>(buffer.sizes[axis], indexConstant(length));
    remainders = remainders ? binary<arith::OrIOp>(remainders, remainder) : remainder;
  };
  for (BlockArgument argument : kernel.getBody().getArguments())
    if (auto buffer = buffers.find(argument); buffer != buffers.end())
      requireOf(buffer->second);
  for (const Buffer &result : results)
    requireOf(result);
  return remainders
             ? arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, remainders, indexConstant(0))
             : Value();
}

// The axis of the position along which a vector is contiguous in the buffer.
std::optional<int64_t> VectorizedAccess::vectorAxis(const Buffer &buffer, const Position &position) {
  int64_t axis = flat ? 0 : contiguousAxis(buffer.shape);
  if (axis < 0)
    return std::nullopt;
  auto element = elements.find(position[axis].base);
  if (element == elements.end() || position[axis].lanes)
    return std::nullopt;
  int64_t length = vectors[element->second.vector].size();
  if (!flat && !ShapedType::isDynamic(buffer.shape[axis]) && buffer.shape[axis] % length != 0)
    return std::nullopt;
  for (auto [other, index] : llvm::enumerate(position))
    if (int64_t(other) != axis && buffer.shape[other] != 1 && (index.lanes || elements.count(index.base)))
      return std::nullopt;
  return axis;
}

FailureOr<Value> VectorizedAccess::compute(Value tensor, const Position &position) {
  if (auto buffer = buffers.find(tensor); buffer != buffers.end())
    return loadFrom(buffer->second, 0, tensor, position);
  if (auto insert = tensor.getDefiningOp<tensor::InsertSliceOp>())
    if (std::optional<int64_t> axis = insertedAxis(insert, position))
      return computeInserted(insert, position, *axis);
  return Value();
}

// The first element of a vector loads all of it; the evaluator remembers the other elements.
Value VectorizedAccess::loadFrom(const Buffer &buffer, int64_t firstAxis, Value tensor,
                                 const Position &position) {
  Position at(ArrayRef<Index>(position).drop_front(firstAxis));
  std::optional<int64_t> axis = vectorAxis(buffer, at);
  if (!axis)
    return memoryAccess.load(buffer, at);
  Element element = elements.lookup(at[*axis].base);
  ArrayRef<Value> indices = vectors[element.vector];
  at[*axis].base = indices.front();
  SmallVector<Value> values = loadVector(buffer, at, indices.size());
  Position known(position);
  for (auto [index, value] : llvm::zip_equal(indices, values)) {
    known[firstAxis + *axis].base = index;
    remember(tensor, known, value);
  }
  return values[element.number];
}

// The axis of the position along which a vector is completely inside or completely outside of the slice.
std::optional<int64_t> VectorizedAccess::insertedAxis(tensor::InsertSliceOp insert,
                                                      const Position &position) {
  ArrayRef<int64_t> source = insert.getSourceType().getShape();
  int64_t axis = contiguousAxis(insert.getDestType().getShape());
  if (flat || axis < 0 || source.size() != position.size())
    return std::nullopt;
  auto element = elements.find(position[axis].base);
  std::optional<int64_t> offset = getConstantIntValue(insert.getMixedOffsets()[axis]);
  if (element == elements.end() || !offset || getConstantIntValue(insert.getMixedStrides()[axis]) != 1)
    return std::nullopt;
  int64_t length = vectors[element->second.vector].size();
  if (ShapedType::isDynamic(source[axis]) || source[axis] % length != 0 || *offset % length != 0)
    return std::nullopt;
  return axis;
}

static SmallVector<Position> positionsAlong(const Position &first, int64_t axis, ArrayRef<Value> indices) {
  SmallVector<Position> positions(indices.size(), first);
  for (auto [position, index] : llvm::zip_equal(positions, indices))
    position[axis].base = index;
  return positions;
}

// One branch for all of the vector; the values of its elements, as they are in memory.
FailureOr<SmallVector<Value>> VectorizedAccess::insertedVector(tensor::InsertSliceOp insert,
                                                               ArrayRef<Position> positions, int64_t axis) {
  auto [inside, isInside] = emitter.insertAccess.positionInSlice(insert, positions.front());
  SmallVector<Type> types(positions.size(), memoryType(insert.getSourceType().getElementType()));
  auto branch = scf::IfOp::create(builder, loc, types, isInside, /*withElseRegion=*/true);
  auto yieldAt = [&](Block *block, Value tensor,
                     function_ref<SmallVector<Position>()> positionsOf) -> LogicalResult {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(block);
    Scope scope(context);
    ThreadMapping::PerThread perThread(mapping);
    FailureOr<SmallVector<Value>> values = evaluator.evaluate(tensor, positionsOf());
    if (failed(values))
      return failure();
    scf::YieldOp::create(builder, loc,
                         llvm::map_to_vector(*values, [&](Value value) { return toMemory(value); }));
    return success();
  };
  auto inSlice = [&, &first = inside] {
    return positionsAlong(first, axis, consecutiveIndices(first[axis].base, positions.size()));
  };
  if (failed(yieldAt(branch.thenBlock(), insert.getSource(), inSlice)) ||
      failed(yieldAt(branch.elseBlock(), insert.getDest(), [&] { return SmallVector<Position>(positions); })))
    return failure();
  return SmallVector<Value>(branch.getResults());
}

FailureOr<Value> VectorizedAccess::computeInserted(tensor::InsertSliceOp insert, const Position &position,
                                                   int64_t axis) {
  Element element = elements.lookup(position[axis].base);
  SmallVector<Value> indices(vectors[element.vector]);
  SmallVector<Position> positions = positionsAlong(position, axis, indices);
  FailureOr<SmallVector<Value>> values = insertedVector(insert, positions, axis);
  if (failed(values))
    return failure();
  for (Value &value : *values)
    value = fromMemory(value, insert.getSourceType().getElementType());
  for (auto [at, value] : llvm::zip_equal(positions, *values))
    remember(insert.getResult(), at, value);
  return (*values)[element.number];
}

bool VectorizedAccess::storeAll(const Buffer &destination, ArrayRef<Position> positions, ValueRange values) {
  if (positions.size() <= 1 || !vectorAxis(destination, positions.front()))
    return false;
  storeVector(destination, positions.front(), values);
  return true;
}

// Elements of one access. A vector of wide elements takes several accesses.
static int64_t elementsPerAccess(Type element, int64_t length) {
  return std::min(length, kAccessBytes / memoryBytes(element));
}

Value VectorizedAccess::addressAt(const Buffer &buffer, const Position &first, int64_t offset) {
  int64_t step;
  Value indices;
  Value index = memoryAccess.linearIndex(buffer, first, step, indices);
  return memoryAccess.pointerAt(buffer, binary<arith::AddIOp>(index, indexConstant(offset)));
}

SmallVector<Value> VectorizedAccess::loadVector(const Buffer &buffer, const Position &first, int64_t length) {
  if (length == 1)
    return {memoryAccess.load(buffer, first)};
  int64_t width = elementsPerAccess(buffer.element, length);
  auto type = VectorType::get(width, memoryType(buffer.element));
  SmallVector<Value> values;
  for (int64_t offset = 0; offset < length; offset += width) {
    Value vector = LLVM::LoadOp::create(builder, loc, type, addressAt(buffer, first, offset),
                                        width * memoryBytes(buffer.element));
    for (int64_t i = 0; i < width; ++i) {
      Value number = LLVM::ConstantOp::create(builder, loc, builder.getI32Type(), i);
      values.push_back(
          fromMemory(LLVM::ExtractElementOp::create(builder, loc, vector, number), buffer.element));
    }
  }
  return values;
}

void VectorizedAccess::storeVector(const Buffer &buffer, const Position &first, ValueRange values) {
  if (values.size() == 1)
    return memoryAccess.store(buffer, first, values.front());
  int64_t width = elementsPerAccess(buffer.element, values.size());
  auto type = VectorType::get(width, memoryType(buffer.element));
  for (int64_t offset = 0; offset < int64_t(values.size()); offset += width) {
    Value vector = LLVM::PoisonOp::create(builder, loc, type);
    for (int64_t i = 0; i < width; ++i) {
      Value number = LLVM::ConstantOp::create(builder, loc, builder.getI32Type(), i);
      vector = LLVM::InsertElementOp::create(builder, loc, vector, toMemory(values[offset + i]), number);
    }
    LLVM::StoreOp::create(builder, loc, vector, addressAt(buffer, first, offset),
                          width * memoryBytes(buffer.element));
  }
}
