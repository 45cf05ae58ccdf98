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
  if (length > 1)
    addVector(indices, /*offset=*/0);
  return indices;
}

size_t VectorizedAccess::addVector(ArrayRef<Value> indices, int64_t offset) {
  for (auto [number, index] : llvm::enumerate(indices))
    elements[index] = {vectors.size(), number};
  vectors.push_back({SmallVector<Value>(indices), offset});
  return vectors.size() - 1;
}

// All elements of a slice are at a constant distance from those of the tensor around it. The indices are made
// where those of the vector are, so that they are the same wherever the slice is read.
size_t VectorizedAccess::shiftedVector(size_t vector, int64_t distance) {
  auto [known, isNew] = shifted.try_emplace({vector, distance}, 0);
  if (!isNew)
    return known->second;
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointAfterValue(vectors[vector].indices.back());
  SmallVector<Value> indices;
  for (Value index : vectors[vector].indices)
    indices.push_back(arith::AddIOp::create(builder, loc, index, indexConstant(distance)));
  return known->second = addVector(indices, vectors[vector].offset + distance);
}

// The element of a vector that has the index, or that is at a constant distance from one.
std::optional<VectorizedAccess::Element> VectorizedAccess::findElement(Value index) {
  int64_t distance = 0;
  while (index) {
    if (auto found = elements.find(index); found != elements.end()) {
      Element element = found->second;
      return distance == 0 ? element : Element{shiftedVector(element.vector, distance), element.number};
    }
    auto add = index.getDefiningOp<arith::AddIOp>();
    std::optional<int64_t> constant = add ? constantOf(add.getRhs()) : std::nullopt;
    if (!constant)
      return std::nullopt;
    distance = wrappingSum(distance, *constant);
    index = add.getLhs();
  }
  return std::nullopt;
}

static bool hasAxisBefore(ArrayRef<int64_t> shape, int64_t axis) {
  return llvm::any_of(shape.take_front(axis), [](int64_t size) { return size != 1; });
}

// Counts on along the axis: an index that reaches the size starts again, and the axis before it counts on.
void VectorizedAccess::countOn(Position &position, ArrayRef<int64_t> shape, int64_t axis) {
  Value carry;
  for (; axis >= 0; --axis) {
    Value &index = position[axis].base;
    if (shape[axis] == 1)
      continue;
    Value next = binary<arith::AddIOp>(index, indexConstant(1));
    Value ends = hasAxisBefore(shape, axis) ? isEqual(next, shape[axis]) : Value();
    if (ends)
      next = arith::SelectOp::create(builder, loc, ends, indexConstant(0), next);
    index = carry ? arith::SelectOp::create(builder, loc, carry, next, index).getResult() : next;
    if (ends)
      carry = carry ? binary<arith::AndIOp>(carry, ends) : ends;
  }
}

// A run that is no longer than a row has elements of two rows at most.
SmallVector<Position> VectorizedAccess::positionsOfTwoRows(const Position &first, ArrayRef<int64_t> shape,
                                                           int64_t length) {
  int64_t axis = contiguousAxis(shape);
  Position next(first);
  countOn(next, shape, axis - 1);
  SmallVector<Position> positions = {first};
  for (int64_t i = 1; i < length; ++i) {
    Position position(first);
    Value index = binary<arith::AddIOp>(first[axis].base, indexConstant(i)),
          size = indexConstant(shape[axis]);
    Value inNext = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::uge, index, size);
    auto choose = [&](Value other, Value own) {
      return own == other ? own : arith::SelectOp::create(builder, loc, inNext, other, own).getResult();
    };
    position[axis].base = choose(binary<arith::SubIOp>(index, size), index);
    for (int64_t outer = 0; outer < axis; ++outer)
      position[outer].base = choose(next[outer].base, first[outer].base);
    positions.push_back(position);
  }
  return positions;
}

SmallVector<Position> VectorizedAccess::runPositions(const Nest &nest, Value first, int64_t length) {
  ArrayRef<int64_t> shape = nest.shape;
  int64_t axis = contiguousAxis(shape);
  Position position = mapping.positionOfElement(first, nest.sizes);
  SmallVector<Position> positions;
  if (!hasAxisBefore(shape, axis)) {
    positions.assign(length, position);
    for (auto [at, index] : llvm::zip_equal(positions, consecutiveIndices(first, length)))
      at[axis].base = index;
  } else if (shape[axis] >= length) {
    positions = positionsOfTwoRows(position, shape, length);
  } else {
    for (int64_t i = 0; i < length; ++i, countOn(position, shape, axis))
      positions.push_back(position);
  }
  run = {SmallVector<int64_t>(shape), positions, first};
  return positions;
}

// The widest element type that is contiguous along the axis decides; the other tensors have shorter accesses,
// which are coalesced as well.
int64_t VectorizedAccess::longestVector(const Nest &nest, int64_t axis) {
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
  return kAccessBytes / widest;
}

int64_t VectorizedAccess::vectorLength(const Nest &nest, int64_t axis) {
  int64_t length = longestVector(nest, axis), size = nest.shape[axis];
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
  std::optional<Element> element = position[axis].lanes ? std::nullopt : findElement(position[axis].base);
  if (!element || !vectors[element->vector].isAligned())
    return std::nullopt;
  int64_t length = vectors[element->vector].indices.size(), size = buffer.shape[axis];
  // In a branch some elements of the vector may be outside of the buffer.
  bool isOneRow = !inBranch && llvm::all_of(ArrayRef(buffer.shape).take_front(axis),
                                            [](int64_t rows) { return rows == 1; });
  if (!flat && !isOneRow && !ShapedType::isDynamic(size) && size % length != 0)
    return std::nullopt;
  for (auto [other, index] : llvm::enumerate(position))
    if (int64_t(other) != axis && buffer.shape[other] != 1 && (index.lanes || findElement(index.base)))
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
  if (std::optional<size_t> number = firstAxis == 0 ? numberInRun(buffer, at) : std::nullopt)
    return loadRun(buffer, tensor, *number);
  std::optional<int64_t> axis = vectorAxis(buffer, at);
  if (!axis)
    return memoryAccess.load(buffer, at);
  Element element = *findElement(at[*axis].base);
  SmallVector<Value> indices(vectors[element.vector].indices);
  Position known(position);
  known[firstAxis + *axis].base = indices[element.number];
  if (Value value = context.known.lookup(context.keyOf(tensor, known)))
    return value;
  at[*axis].base = indices.front();
  SmallVector<Value> values = loadVector(buffer, at, indices.size());
  for (auto [index, value] : llvm::zip_equal(indices, values)) {
    known[firstAxis + *axis].base = index;
    remember(tensor, known, value);
  }
  return values[element.number];
}

// The element of the run that has the position in a buffer of its shape.
std::optional<size_t> VectorizedAccess::numberInRun(const Buffer &buffer, const Position &position) const {
  if (!run || buffer.shape != run->shape)
    return std::nullopt;
  for (auto [number, known] : llvm::enumerate(run->positions))
    if (llvm::all_of(llvm::enumerate(position), [&, &known = known](auto each) {
          size_t axis = each.index();
          return buffer.shape[axis] == 1 || each.value().base == known[axis].base;
        }))
      return number;
  return std::nullopt;
}

Value VectorizedAccess::loadRun(const Buffer &buffer, Value tensor, size_t number) {
  SmallVector<Value> values = loadVectorAt(buffer, run->first, run->positions.size());
  for (auto [position, value] : llvm::zip_equal(run->positions, values))
    remember(tensor, position, value);
  return values[number];
}

// The axis of the position along which a vector is completely inside or completely outside of the slice.
std::optional<int64_t> VectorizedAccess::insertedAxis(tensor::InsertSliceOp insert,
                                                      const Position &position) {
  ArrayRef<int64_t> source = insert.getSourceType().getShape();
  int64_t axis = contiguousAxis(insert.getDestType().getShape());
  if (flat || axis < 0 || source.size() != position.size())
    return std::nullopt;
  std::optional<Element> element = findElement(position[axis].base);
  std::optional<int64_t> offset = getConstantIntValue(insert.getMixedOffsets()[axis]);
  if (!element || !offset || getConstantIntValue(insert.getMixedStrides()[axis]) != 1)
    return std::nullopt;
  int64_t length = vectors[element->vector].indices.size();
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
  Element element = *findElement(position[axis].base);
  SmallVector<Value> indices(vectors[element.vector].indices);
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
  if (positions.size() > 1 && numberInRun(destination, positions.front()) == 0) {
    storeVectorAt(destination, run->first, values);
    return true;
  }
  if (positions.size() <= 1 || !vectorAxis(destination, positions.front()))
    return false;
  storeVector(destination, positions.front(), values);
  return true;
}

// Elements of one access. A vector of wide elements takes several accesses.
static int64_t elementsPerAccess(Type element, int64_t length) {
  return std::min(length, kAccessBytes / memoryBytes(element));
}

Value VectorizedAccess::linearIndex(const Buffer &buffer, const Position &position) {
  int64_t step;
  Value indices;
  return memoryAccess.linearIndex(buffer, position, step, indices);
}

Value VectorizedAccess::addressAt(const Buffer &buffer, Value first, int64_t offset) {
  return memoryAccess.pointerAt(buffer, binary<arith::AddIOp>(first, indexConstant(offset)));
}

SmallVector<Value> VectorizedAccess::loadVector(const Buffer &buffer, const Position &first, int64_t length) {
  if (length == 1)
    return {memoryAccess.load(buffer, first)};
  return loadVectorAt(buffer, linearIndex(buffer, first), length);
}

SmallVector<Value> VectorizedAccess::loadVectorAt(const Buffer &buffer, Value first, int64_t length) {
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
  storeVectorAt(buffer, linearIndex(buffer, first), values);
}

void VectorizedAccess::storeVectorAt(const Buffer &buffer, Value first, ValueRange values) {
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
