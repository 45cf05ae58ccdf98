// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Runs of elements: how long they may be, and their loads and stores.

#include "RunEmitter.h"
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

SmallVector<Value> RunEmitter::runFrom(Value first, int64_t length) {
  SmallVector<Value> indices = {first};
  for (int64_t i = 1; i < length; ++i)
    indices.push_back(binary<arith::AddIOp>(first, indexConstant(i)));
  if (length == 1)
    return indices;
  for (auto [place, index] : llvm::enumerate(indices))
    members[index] = {runs.size(), place};
  runs.push_back(indices);
  return indices;
}

// The widest tensor that is contiguous along the axis decides; the others have shorter accesses, which are
// coalesced as well.
int64_t RunEmitter::runLength(const Nest &nest, int64_t axis) {
  int64_t widest = 1;
  auto count = [&](Type element, ArrayRef<int64_t> shape) {
    int64_t own = contiguousAxis(shape);
    if (own >= 0 && shape[own] == nest.shape[axis])
      widest = std::max(widest, memoryBytes(element));
  };
  for (Value root : nest.roots)
    widest = std::max(widest, memoryBytes(getElementTypeOrSelf(root.getType())));
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

LogicalResult RunEmitter::emitWhere(Value allowed, function_ref<LogicalResult()> withRuns,
                                    function_ref<LogicalResult()> without) {
  return allowed ? emitIf(allowed, withRuns, without) : withRuns();
}

// Every place begins at a multiple of more than any access has (docs/architecture.md); rows may not.
Value RunEmitter::allowsRuns(int64_t length) {
  Value rests;
  auto requireOf = [&](const Buffer &buffer) {
    int64_t axis = contiguousAxis(buffer.shape);
    if (flat || axis < 0 || !ShapedType::isDynamic(buffer.shape[axis]))
      return;
    Value rest = binary<arith::RemUIOp>(buffer.sizes[axis], indexConstant(length));
    rests = rests ? binary<arith::OrIOp>(rests, rest) : rest;
  };
  for (BlockArgument argument : kernel.getBody().getArguments())
    if (auto buffer = buffers.find(argument); buffer != buffers.end())
      requireOf(buffer->second);
  for (const Buffer &result : results)
    requireOf(result);
  return rests ? arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, rests, indexConstant(0))
               : Value();
}

// The axis of the position along which a run lies in one piece of the buffer.
std::optional<int64_t> RunEmitter::runAxis(const Buffer &buffer, const Position &position) {
  int64_t axis = flat ? 0 : contiguousAxis(buffer.shape);
  if (axis < 0)
    return std::nullopt;
  auto member = members.find(position[axis].base);
  if (member == members.end() || position[axis].lanes)
    return std::nullopt;
  int64_t length = runs[member->second.run].size();
  if (!flat && !ShapedType::isDynamic(buffer.shape[axis]) && buffer.shape[axis] % length != 0)
    return std::nullopt;
  for (auto [other, index] : llvm::enumerate(position))
    if (int64_t(other) != axis && buffer.shape[other] != 1 && (index.lanes || members.count(index.base)))
      return std::nullopt;
  return axis;
}

FailureOr<Value> RunEmitter::compute(Value tensor, const Position &position) {
  auto buffer = buffers.find(tensor);
  if (buffer == buffers.end()) {
    if (auto insert = tensor.getDefiningOp<tensor::InsertSliceOp>())
      if (std::optional<int64_t> axis = insertedRunAxis(insert, position))
        return computeInsertedRun(insert, position, *axis);
    return GenericEmitter::compute(tensor, position);
  }
  return readFrom(buffer->second, 0, tensor, position);
}

// All of a run at once; the others find their elements.
Value RunEmitter::readFrom(const Buffer &buffer, int64_t first, Value tensor, const Position &position) {
  Position at(ArrayRef<Index>(position).drop_front(first));
  std::optional<int64_t> axis = runAxis(buffer, at);
  if (!axis)
    return memoryAccess.load(buffer, at);
  Member member = members.lookup(at[*axis].base);
  ArrayRef<Value> run = runs[member.run];
  at[*axis].base = run.front();
  SmallVector<Value> values = loadRun(buffer, at, run.size());
  Position known(position);
  for (auto [index, value] : llvm::zip_equal(run, values)) {
    known[first + *axis].base = index;
    evaluator.remember(tensor, known, value);
  }
  return values[member.place];
}

// The axis of the position along which a run lies in the slice as a whole, or outside of it.
std::optional<int64_t> RunEmitter::insertedRunAxis(tensor::InsertSliceOp insert, const Position &position) {
  ArrayRef<int64_t> source = insert.getSourceType().getShape();
  int64_t axis = contiguousAxis(insert.getDestType().getShape());
  if (flat || axis < 0 || source.size() != position.size())
    return std::nullopt;
  auto member = members.find(position[axis].base);
  std::optional<int64_t> offset = getConstantIntValue(insert.getMixedOffsets()[axis]);
  if (member == members.end() || !offset || getConstantIntValue(insert.getMixedStrides()[axis]) != 1)
    return std::nullopt;
  int64_t length = runs[member->second.run].size();
  if (ShapedType::isDynamic(source[axis]) || source[axis] % length != 0 || *offset % length != 0)
    return std::nullopt;
  return axis;
}

// One branch for all of the run.
FailureOr<Value> RunEmitter::computeInsertedRun(tensor::InsertSliceOp insert, const Position &position,
                                                int64_t axis) {
  Member member = members.lookup(position[axis].base);
  SmallVector<Value> run(runs[member.run]);
  auto along = [&](const Position &first, ArrayRef<Value> indices) {
    SmallVector<Position> positions(indices.size(), first);
    for (auto [place, index] : llvm::zip_equal(positions, indices))
      place[axis].base = index;
    return positions;
  };
  SmallVector<Position> positions = along(position, run);
  auto [inside, isInside] = placeInSlice(insert, positions.front());
  Type element = insert.getSourceType().getElementType();
  SmallVector<Type> types(run.size(), memoryType(element));
  auto branch = scf::IfOp::create(builder, loc, types, isInside, /*withElseRegion=*/true);
  auto yieldAt = [&](Block *block, Value tensor,
                     function_ref<SmallVector<Position>()> places) -> LogicalResult {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(block);
    Scope scope(*this);
    Spread ofThread(*this);
    FailureOr<SmallVector<Value>> values = evaluator.evaluate(tensor, places());
    if (failed(values))
      return failure();
    scf::YieldOp::create(builder, loc, llvm::map_to_vector(*values, [&](Value value) {
                           return memoryAccess.toMemory(value);
                         }));
    return success();
  };
  auto inSlice = [&, &first = inside] { return along(first, runFrom(first[axis].base, run.size())); };
  if (failed(yieldAt(branch.thenBlock(), insert.getSource(), inSlice)) ||
      failed(yieldAt(branch.elseBlock(), insert.getDest(), [&] { return positions; })))
    return failure();
  SmallVector<Value> values = llvm::map_to_vector(
      branch.getResults(), [&](Value value) { return memoryAccess.fromMemory(value, element); });
  for (auto [place, value] : llvm::zip_equal(positions, values))
    evaluator.remember(insert.getResult(), place, value);
  return values[member.place];
}

void RunEmitter::storeAll(const Buffer &destination, ArrayRef<Position> positions, ValueRange values) {
  std::optional<int64_t> axis;
  if (positions.size() > 1)
    axis = runAxis(destination, positions.front());
  if (!axis)
    return GenericEmitter::storeAll(destination, positions, values);
  storeRun(destination, positions.front(), values);
}

// A run of wide elements is moved in pieces.
static int64_t pieceLength(Type element, int64_t length) {
  return std::min(length, kAccessBytes / memoryBytes(element));
}

Value RunEmitter::pieceAt(const Buffer &buffer, const Position &first, int64_t offset) {
  int64_t step;
  Value indices;
  Value index = memoryAccess.linearIndex(buffer, first, step, indices);
  return memoryAccess.pointerAt(buffer, binary<arith::AddIOp>(index, indexConstant(offset)));
}

SmallVector<Value> RunEmitter::loadRun(const Buffer &buffer, const Position &first, int64_t length) {
  if (length == 1)
    return {memoryAccess.load(buffer, first)};
  int64_t piece = pieceLength(buffer.element, length);
  auto type = VectorType::get(piece, memoryType(buffer.element));
  SmallVector<Value> values;
  for (int64_t offset = 0; offset < length; offset += piece) {
    Value vector = LLVM::LoadOp::create(builder, loc, type, pieceAt(buffer, first, offset),
                                        piece * memoryBytes(buffer.element));
    for (int64_t i = 0; i < piece; ++i) {
      Value number = LLVM::ConstantOp::create(builder, loc, builder.getI32Type(), i);
      values.push_back(memoryAccess.fromMemory(LLVM::ExtractElementOp::create(builder, loc, vector, number),
                                               buffer.element));
    }
  }
  return values;
}

void RunEmitter::storeRun(const Buffer &buffer, const Position &first, ValueRange values) {
  if (values.size() == 1)
    return KernelEmitter::store(buffer, first, values.front());
  int64_t piece = pieceLength(buffer.element, values.size());
  auto type = VectorType::get(piece, memoryType(buffer.element));
  for (int64_t offset = 0; offset < int64_t(values.size()); offset += piece) {
    Value vector = LLVM::PoisonOp::create(builder, loc, type);
    for (int64_t i = 0; i < piece; ++i) {
      Value number = LLVM::ConstantOp::create(builder, loc, builder.getI32Type(), i);
      vector = LLVM::InsertElementOp::create(builder, loc, vector, memoryAccess.toMemory(values[offset + i]),
                                             number);
    }
    LLVM::StoreOp::create(builder, loc, vector, pieceAt(buffer, first, offset),
                          piece * memoryBytes(buffer.element));
  }
}
