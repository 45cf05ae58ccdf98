// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Groups of four i8, contiguous along K, which vpdpbusd multiplies in one lane of 32 bits: how they are
// loaded from an operand, and copied if the operand is not contiguous along K. If K is no multiple of four,
// the last group is padded with zeros, and no byte past the end of the operand is read. Code for a dynamic K
// has a part of its own for that group.

#include "../CPUKernelEmitter.h"
#include "../Movement/VectorShuffles.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "llvm/Support/SaveAndRestore.h"

using namespace mlir;
using namespace mlir::ad;
using namespace mlir::ad::cpu;

// Rows of a dynamic K are copied up to this length.
static constexpr int64_t kLongestCopy = 4096;

static Value constantLike(OpBuilder &builder, Location loc, Value value, int64_t number) {
  Type type = value.getType();
  auto attribute = builder.getIntegerAttr(getElementTypeOrSelf(type), APInt(32, number, false, true));
  if (auto vector = dyn_cast<VectorType>(type))
    return arith::ConstantOp::create(builder, loc, DenseElementsAttr::get(vector, Attribute(attribute)));
  return arith::ConstantOp::create(builder, loc, attribute);
}

// The byte of the smallest index is the lowest byte; missing bytes are zero.
Value ByteProducts::joinBytes(ArrayRef<Value> bytes) {
  Value joined;
  for (auto [i, byte] : llvm::enumerate(bytes)) {
    Type wide = builder.getI32Type();
    if (auto type = dyn_cast<VectorType>(byte.getType()))
      wide = VectorType::get(type.getShape(), wide);
    Value part = arith::ExtUIOp::create(builder, loc, wide, byte);
    if (i > 0)
      part = arith::ShLIOp::create(builder, loc, part, constantLike(builder, loc, part, 8 * i));
    joined = joined ? arith::OrIOp::create(builder, loc, joined, part).getResult() : part;
  }
  return joined;
}

// 128 more in each byte: i8 becomes unsigned.
Value ByteProducts::biasBytes(Value groups) {
  return arith::XOrIOp::create(builder, loc, groups, constantLike(builder, loc, groups, 0x80808080));
}

// Groups from the byte at the position on: one group, contiguous groups if the last index has lanes (which
// count bytes when there are as many lanes as bytes in a vector), or one from each lane of another axis.
Value ByteProducts::loadGroups(const Buffer &buffer, Position position) {
  bool along = lanes > 1 && position.back().step == 1;
  position.back().step = 0;
  int64_t step;
  Value indices, base = emitter.memoryAccess.linearIndex(buffer, position, step, indices);
  Type group = builder.getI32Type(), groups = VectorType::get(vectorLanes, group);
  if (lanes == 1 || (!along && !indices && step == 0))
    return LLVM::LoadOp::create(builder, loc, group, emitter.memoryAccess.pointerAt(buffer, base),
                                /*alignment=*/1);
  auto zeros = [&](Type type) -> Value {
    return arith::ConstantOp::create(builder, loc, builder.getZeroAttr(type));
  };
  IntegerAttr unaligned = builder.getI32IntegerAttr(1);
  if (along && !mask)
    return LLVM::LoadOp::create(builder, loc, groups, emitter.memoryAccess.pointerAt(buffer, base),
                                /*alignment=*/1);
  if (along) {
    auto type = lanes == vectorLanes ? groups : VectorType::get(lanes, builder.getI8Type());
    Value loaded = LLVM::MaskedLoadOp::create(
        builder, loc, type, emitter.memoryAccess.pointerAt(buffer, base), mask, zeros(type), unaligned);
    return LLVM::BitcastOp::create(builder, loc, groups, loaded);
  }
  if (!indices)
    indices = emitter.laneValues.laneVector({base, step, nullptr});
  return LLVM::masked_gather::create(builder, loc, groups, emitter.memoryAccess.pointerAt(buffer, indices),
                                     emitter.memoryAccess.fullMask(), zeros(groups), unaligned);
}

// A group at the end of a dynamic K, byte by byte: those past the end are zero.
Value ByteProducts::groupWithinK(const Buffer &buffer, Position position, int64_t axisK) {
  Index &index = position[axisK];
  Value sizeK = buffer.sizes[axisK], last = binary<arith::SubIOp>(sizeK, indexConstant(1));
  Value first = binary<arith::MulIOp>(index.base, indexConstant(kBytesPerLane));
  SmallVector<Value> bytes;
  for (int64_t i = 0; i < kBytesPerLane; ++i) {
    Value at = binary<arith::AddIOp>(first, indexConstant(i));
    Value inside = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ult, at, sizeK);
    index.base = binary<arith::MinUIOp>(at, last);
    Value byte = emitter.memoryAccess.load(buffer, position);
    Value zero = arith::ConstantOp::create(builder, loc, builder.getZeroAttr(byte.getType()));
    bytes.push_back(arith::SelectOp::create(builder, loc, inside, byte, zero));
  }
  return joinBytes(bytes);
}

// Code for the group that K fills in part, which replaces the values: none if it fills all groups.
LogicalResult ByteProducts::overPartialGroup(Value sizeK, SmallVector<Value> &values,
                                             function_ref<LogicalResult()> body) {
  Value rest = binary<arith::RemUIOp>(sizeK, indexConstant(kBytesPerLane));
  if (std::optional<int64_t> known = constantOf(rest))
    return *known == 0 ? success() : body();
  Value some = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ne, rest, indexConstant(0));
  auto branch = scf::IfOp::create(builder, loc, TypeRange(ValueRange(values)), some, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(builder);
  if (!values.empty()) {
    builder.setInsertionPointToStart(branch.elseBlock());
    scf::YieldOp::create(builder, loc, values);
  }
  builder.setInsertionPointToStart(branch.thenBlock());
  CPUKernelEmitter::Scope scope(emitter);
  llvm::SaveAndRestore inRest(inPartialGroup, true);
  if (failed(body()))
    return failure();
  if (!values.empty())
    scf::YieldOp::create(builder, loc, values);
  values.assign(branch.getResults().begin(), branch.getResults().end());
  return success();
}

// The group whose number is the index along K of the position. A static K is filled in part by the group
// whose number is a constant, as the code after a loop over whole groups has it; for a dynamic K a member
// says so.
Value ByteProducts::groupAt(const Buffer &buffer, Position position, int64_t axisK) {
  if (inPartialGroup)
    return groupWithinK(buffer, position, axisK);
  int64_t sizeK = buffer.shape[axisK];
  int64_t rest = ShapedType::isDynamic(sizeK) ? 0 : sizeK % kBytesPerLane;
  Index &index = position[axisK];
  std::optional<int64_t> number = getConstantIntValue(getAsOpFoldResult(index.base));
  bool isLast = rest != 0 && number && *number == sizeK / kBytesPerLane;
  bool isContiguous = axisK + 1 == int64_t(position.size());
  Value first = binary<arith::MulIOp>(index.base, indexConstant(kBytesPerLane));
  if (isContiguous && (!isLast || sizeK >= kBytesPerLane)) {
    // The last group is the end of the four bytes that end with the operand.
    index.base = isLast ? indexConstant(sizeK - kBytesPerLane) : first;
    Value group = loadGroups(buffer, position);
    if (!isLast)
      return group;
    int64_t bits = 8 * (kBytesPerLane - rest);
    return arith::ShRUIOp::create(builder, loc, group, constantLike(builder, loc, group, bits));
  }
  SmallVector<Value> bytes;
  for (int64_t i = 0; i < (isLast ? rest : kBytesPerLane); ++i) {
    index.base = binary<arith::AddIOp>(first, indexConstant(i));
    bytes.push_back(emitter.memoryAccess.load(buffer, position));
  }
  return joinBytes(bytes);
}

// Panels of groups for tiles of columns.
void ByteProducts::fillBytePanels(const PackedOperand &packed, const Buffer &buffer, const Position &outer,
                                  Value start, Value end) {
  Value sizeK = buffer.sizes[packed.axisK];
  Value whole = binary<arith::DivUIOp>(sizeK, indexConstant(kBytesPerLane));
  bool wholeColumns = hasWholeVectors(buffer.shape[packed.columnAxis], vectorLanes);
  auto overColumns = [&](Value column) -> LogicalResult {
    CPUKernelEmitter::WithLanes vectorCode(emitter, vectorLanes, nullptr);
    Value active = wholeColumns ? Value() : emitter.packing.lanesBelow(binary<arith::SubIOp>(end, column));
    auto packGroup = [&](Value number) -> LogicalResult {
      mask = active;
      Value group = groupAt(
          buffer, emitter.packing.operandPosition(packed, outer, {number, 0, nullptr}, {column, 1, nullptr}),
          packed.axisK);
      mask = nullptr;
      storeGroup(packed, number, column, emitter.laneValues.splat(group, lanes));
      return success();
    };
    if (packed.isTransposed())
      packBytesTransposed(packed, buffer, outer, column, end);
    else
      (void)emitter.emitLoop(indexConstant(0), whole, indexConstant(1), packGroup);
    SmallVector<Value> none;
    return overPartialGroup(sizeK, none, [&] { return packGroup(whole); });
  };
  (void)emitter.emitLoop(start, end, indexConstant(vectorLanes), overColumns);
}

void ByteProducts::storeGroup(const PackedOperand &packed, Value number, Value column, Value group) {
  LLVM::StoreOp::create(builder, loc, packed.biased ? biasBytes(group) : group,
                        emitter.packing.pointerToPacked(packed, number, column), kBytesPerLane);
}

// Square blocks of whole groups, transposed in registers. Columns past the last one repeat it.
void ByteProducts::packBytesTransposed(const PackedOperand &packed, const Buffer &buffer,
                                       const Position &outer, Value column, Value end) {
  Value groups = binary<arith::DivUIOp>(buffer.sizes[packed.axisK], indexConstant(kBytesPerLane));
  Value rest = binary<arith::RemUIOp>(groups, indexConstant(lanes));
  Value middle = binary<arith::SubIOp>(groups, rest);
  bool wholeColumns = hasWholeVectors(buffer.shape[packed.columnAxis], lanes);
  Value last = binary<arith::SubIOp>(end, indexConstant(1));
  // `count` groups are stored, those that `active` says are loaded.
  auto block = [&](Value number, int64_t count, Value active) -> LogicalResult {
    mask = active;
    SmallVector<Value> rows;
    for (int64_t i = 0; i < lanes; ++i) {
      Value at = binary<arith::AddIOp>(column, indexConstant(i));
      at = wholeColumns ? at : binary<arith::MinUIOp>(at, last);
      rows.push_back(groupAt(
          buffer, emitter.packing.operandPosition(packed, outer, {number, 1, nullptr}, {at, 0, nullptr}),
          packed.axisK));
    }
    mask = nullptr;
    transposeInRegisters(builder, loc, rows);
    for (int64_t i = 0; i < count; ++i)
      storeGroup(packed, binary<arith::AddIOp>(number, indexConstant(i)), column, rows[i]);
    return success();
  };
  (void)emitter.emitLoop(indexConstant(0), middle, indexConstant(lanes),
                         [&](Value number) { return block(number, lanes, nullptr); });
  // Panels end with whole vectors of groups.
  int64_t stored = constantOf(rest).value_or(lanes);
  (void)emitter.emitLoop(middle, groups, indexConstant(lanes), [&](Value number) {
    return block(number, stored, emitter.packing.lanesBelow(rest));
  });
}

//===- Rows that are not contiguous along K -===//

static int64_t pitchOf(int64_t sizeK, int64_t lanes) {
  return llvm::alignTo(ShapedType::isDynamic(sizeK) ? kLongestCopy : sizeK, lanes * kBytesPerLane);
}

// Whether each dynamic K of rows that are copied is short enough; null if there is none.
Value ByteProducts::fitsCopies() {
  Value all;
  for (ByteProduct &product : llvm::make_second_range(byteProducts)) {
    if (!product.copiesDynamicK())
      continue;
    Value fits = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ule, sizeOfK(product),
                                       indexConstant(kLongestCopy));
    all = both(all, fits);
  }
  return all;
}

// The number of rows that are copied at once: whole tiles, 0 if no tile fits.
int64_t ByteProducts::copiedRowsOf(const Nest &nest, int64_t sizeK) {
  int64_t maxRows = rowBytes / pitchOf(sizeK, vectorLanes) / vectorLanes * vectorLanes;
  return maxRows / nest.rows * nest.rows;
}

static int64_t scratchBytes(int64_t rows, int64_t sizeK, int64_t lanes) {
  return llvm::alignTo(rows, lanes) * pitchOf(sizeK, lanes);
}

int64_t ByteProducts::scratchForRows(const Nest &nest) {
  int64_t bytes = 0;
  for (auto &[operation, product] : byteProducts)
    if (product.copiesRows)
      bytes += scratchBytes(copiedRowsOf(nest, product.sizeK), product.sizeK, vectorLanes);
  return bytes;
}

// The products whose rows are copied, in the order in which the results need them.
SmallVector<ByteProducts::ByteProduct> ByteProducts::productsWithCopies(const Nest &nest) {
  llvm::MapVector<Operation *, ByteProduct> copied;
  for (Value output : nest.outputs)
    dependsOn(output, [&](linalg::GenericOp generic) {
      if (auto found = byteProducts.find(generic); found != byteProducts.end() && found->second.copiesRows)
        copied.insert({generic, found->second});
      return false;
    });
  return llvm::to_vector(llvm::make_second_range(copied));
}

// The rows from `lower` to `upper` in chunks whose copies fit.
LogicalResult ByteProducts::overRowChunks(const Nest &nest, const Position &outer, Value lower, Value upper,
                                          function_ref<LogicalResult(Value, Value)> body) {
  SmallVector<ByteProduct> products = productsWithCopies(nest);
  if (products.empty())
    return body(lower, upper);
  int64_t count = nest.rowCount(), rows = std::numeric_limits<int64_t>::max();
  for (const ByteProduct &product : products)
    rows = std::min(rows, copiedRowsOf(nest, product.sizeK));
  bool oneChunk = !ShapedType::isDynamic(count) && count <= rows;
  SmallVector<Buffer> targets;
  for (ByteProduct &product : products) {
    Value step = indexConstant(vectorLanes * kBytesPerLane);
    Value pitch = binary<arith::MulIOp>(binary<arith::CeilDivUIOp>(sizeOfK(product), step), step);
    Buffer target{nullptr,
                  builder.getI8Type(),
                  {1, constantOf(pitch).value_or(ShapedType::kDynamic)},
                  {indexConstant(1), pitch}};
    Value &memory = rowMemory[product.rows];
    int64_t fitting = copiedRowsOf(nest, product.sizeK);
    if (!memory)
      memory = emitter.packing.scratch(
          target.element, scratchBytes(ShapedType::isDynamic(count) ? fitting : std::min(count, fitting),
                                       product.sizeK, vectorLanes));
    target.pointer = memory;
    targets.push_back(target);
  }
  auto chunk = [&](Value from) -> LogicalResult {
    Value to =
        oneChunk ? upper : binary<arith::MinUIOp>(binary<arith::AddIOp>(from, indexConstant(rows)), upper);
    for (auto [product, target] : llvm::zip_equal(products, targets)) {
      // Row `from` is the first row of the copy.
      Value back = binary<arith::MulIOp>(from, binary<arith::SubIOp>(indexConstant(0), target.sizes[1]));
      Buffer shifted(target);
      shifted.pointer = emitter.memoryAccess.pointerAt(target, back);
      copyRows(product, shifted, outer, from, to);
      copiedRows[product.rows] = shifted;
    }
    return body(from, to);
  };
  return oneChunk ? chunk(lower) : emitter.emitLoop(lower, upper, indexConstant(rows), chunk);
}

ByteProducts::RowCopy ByteProducts::copyOf(const ByteProduct &product, const Buffer &target,
                                           const Position &outer) {
  AffineMap map = cast<linalg::GenericOp>(product.rows->getOwner()).getMatchingIndexingMap(product.rows);
  RowCopy copy{bufferOf(product.rows), target, {}, int64_t(map.getNumResults()) - 1, 0};
  for (auto [axis, expr] : llvm::enumerate(map.getResults())) {
    unsigned loop = cast<AffineDimExpr>(expr).getPosition();
    if (loop == product.loopK)
      copy.axisK = axis;
    bool isOuter = loop != product.loopK && int64_t(axis) != copy.rowAxis;
    copy.position.push_back(isOuter ? outer[loop] : Index{indexConstant(0), 0, nullptr});
  }
  return copy;
}

// A block of as many rows and groups as there are lanes, from `row` and the group with that number on: groups
// of adjacent rows, transposed in registers. Zeros pad a block of fewer than `lanes` groups.
LogicalResult ByteProducts::copyBlock(RowCopy &copy, Value row, Value number, int64_t count, Value active) {
  copy.position[copy.rowAxis] = {row, 1, nullptr};
  SmallVector<Value> groups;
  mask = active;
  for (int64_t i = 0; i < count; ++i) {
    copy.position[copy.axisK] = {binary<arith::AddIOp>(number, indexConstant(i)), 0, nullptr};
    groups.push_back(emitter.laneValues.splat(groupAt(copy.source, copy.position, copy.axisK), lanes));
  }
  mask = nullptr;
  groups.resize(lanes, constantLike(builder, loc, groups.front(), 0));
  transposeInRegisters(builder, loc, groups);
  Value first = binary<arith::MulIOp>(number, indexConstant(kBytesPerLane));
  for (int64_t i = 0; i < lanes; ++i) {
    Position at = {{binary<arith::AddIOp>(row, indexConstant(i)), 0, nullptr}, {first, 0, nullptr}};
    int64_t step;
    Value indices, index = emitter.memoryAccess.linearIndex(copy.target, at, step, indices);
    LLVM::StoreOp::create(builder, loc, groups[i], emitter.memoryAccess.pointerAt(copy.target, index),
                          kBytesPerLane);
  }
  return success();
}

// Zeros after the end of K pad the last block. Rows past the last one are never read.
void ByteProducts::copyRows(const ByteProduct &product, const Buffer &target, const Position &outer,
                            Value lower, Value upper) {
  RowCopy copy = copyOf(product, target, outer);
  Value sizeK = sizeOfK(product), block = indexConstant(vectorLanes * kBytesPerLane);
  Value whole = binary<arith::MulIOp>(binary<arith::DivUIOp>(sizeK, block), indexConstant(vectorLanes));
  Value all = binary<arith::CeilDivUIOp>(sizeK, indexConstant(kBytesPerLane));
  int64_t rest = constantOf(binary<arith::SubIOp>(all, whole)).value_or(vectorLanes);
  CPUKernelEmitter::WithLanes vectorCode(emitter, vectorLanes, nullptr);
  auto rows = [&](Value row, Value active) -> LogicalResult {
    (void)emitter.emitLoop(indexConstant(0), whole, indexConstant(lanes),
                           [&](Value number) { return copyBlock(copy, row, number, lanes, active); });
    llvm::SaveAndRestore inRest(inPartialGroup, product.isDynamicK());
    return emitter.emitLoop(whole, all, indexConstant(lanes),
                            [&](Value number) { return copyBlock(copy, row, number, rest, active); });
  };
  Value width = indexConstant(lanes), size = binary<arith::SubIOp>(upper, lower);
  Value middle = binary<arith::SubIOp>(upper, binary<arith::RemUIOp>(size, width));
  (void)emitter.emitLoop(lower, middle, width, [&](Value row) { return rows(row, nullptr); });
  (void)emitter.emitLoop(middle, upper, width, [&](Value row) {
    return rows(row, emitter.packing.lanesBelow(binary<arith::SubIOp>(upper, row)));
  });
}
