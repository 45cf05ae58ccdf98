// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Contractions of i8 by x86's vpdpbusd (AVX512_VNNI), which adds four products of an unsigned and a
// signed byte to each lane of i32. The operand of the columns becomes unsigned: 128 is added to each of its
// bytes. The accumulators of a row therefore start from -128 times the sum of the row. The instruction wraps,
// so that results are the bits of the written sum, whatever the order.

#include "../CPUKernelEmitter.h"
#include "llvm/Support/SaveAndRestore.h"

using namespace mlir;
using namespace mlir::ad;
using namespace mlir::ad::cpu;

// Of the rows that are copied at once for one operand.
static constexpr int64_t kRowBytes = kCore.secondLevelBytes / 4;

// Whether the results of the contraction have the layout that the nest enumerates.
static bool hasResultsOf(linalg::GenericOp generic, size_t rank) {
  AffineMap out = generic.getMatchingIndexingMap(generic.getDpsInitOperand(0));
  return out.getNumResults() == rank && llvm::all_of(llvm::enumerate(out.getResults()), [&](auto each) {
           return each.value() == getAffineDimExpr(each.index(), out.getContext());
         });
}

// The number of iterations, dynamic unless the type of an operand has it.
static int64_t sizeOfLoop(linalg::GenericOp generic, unsigned loop) {
  for (OpOperand *operand : generic.getDpsInputOperands())
    if (auto type = dyn_cast<RankedTensorType>(operand->get().getType()))
      for (auto [axis, expr] : llvm::enumerate(generic.getMatchingIndexingMap(operand).getResults()))
        if (expr == getAffineDimExpr(loop, generic.getContext()) && !type.isDynamicDim(axis))
          return type.getDimSize(axis);
  return generic.getStaticLoopRanges()[loop];
}

// The roles of the operands, when tiles of the nest can read both in groups.
std::optional<ByteProducts::ByteProduct> ByteProducts::byteProductOf(linalg::GenericOp generic,
                                                                     const Nest &nest, unsigned columnLoop) {
  if (!multipliesBytes(generic) || !hasResultsOf(generic, nest.shape.size()))
    return std::nullopt;
  ByteProduct product;
  SmallVector<unsigned> reduced;
  generic.getReductionDims(reduced);
  product.loopK = reduced.front();
  product.sizeK = sizeOfLoop(generic, product.loopK);
  for (OpOperand *operand : generic.getDpsInputOperands()) {
    bool isColumns = generic.getMatchingIndexingMap(operand).isFunctionOfDim(columnLoop);
    (isColumns ? product.columns : product.rows) = operand;
    if (!buffers.count(operand->get()))
      return std::nullopt;
  }
  if (!product.rows || !product.columns || product.sizeK == 0)
    return std::nullopt;
  AffineMap rows = generic.getMatchingIndexingMap(product.rows);
  AffineMap columns = generic.getMatchingIndexingMap(product.columns);
  if (!rows.isProjectedPermutation())
    return std::nullopt;
  bool lastLanes = columnLoop + 1 == nest.shape.size();
  if (!columns.isProjectedPermutation()) {
    auto layout = PackedLayout::match(columns, cast<RankedTensorType>(product.columns->get().getType()),
                                      generic.getStaticLoopRanges(), columnLoop, product.loopK);
    if (!layout || product.isDynamicK() || layout->group != kBytesPerLane ||
        layout->tile % vectorLanes != 0 || !nest.blocked || !lastLanes)
      return std::nullopt;
  }
  product.copiesRows = rows.getResults().back() != builder.getAffineDimExpr(product.loopK);
  if (!product.copiesRows)
    return product;
  bool rowsAreLast = nest.blocked && lastLanes && nest.rowAxes.size() == 1 &&
                     rows.getResults().back() == builder.getAffineDimExpr(nest.rowAxes.front());
  return rowsAreLast && copiedRowsOf(nest, product.sizeK) > 0 ? std::optional(product) : std::nullopt;
}

// Copies of rows share half of what is left of the stack.
void ByteProducts::chooseByteProducts(const Nest &nest, unsigned columnLoop) {
  byteProducts.clear();
  rowMemory.clear();
  if (!emitter.dotProducts || !kByteDotProduct.hasVectors(vectorLanes))
    return;
  ReductionsAtPoints atPoints = reductionsAtPoints(nest.outputs);
  auto choose = [&](linalg::GenericOp generic) {
    if (!atPoints.contains(generic))
      return false;
    if (std::optional<ByteProduct> product = byteProductOf(generic, nest, columnLoop))
      byteProducts[generic] = *product;
    return false;
  };
  auto chooseAll = [&] {
    byteProducts.clear();
    for (Value output : nest.outputs)
      dependsOn(output, choose);
  };
  int64_t all = emitter.packing.scratchLeft() / 2;
  rowBytes = std::min(kRowBytes, all);
  chooseAll();
  int64_t copies = llvm::count_if(byteProducts, [](auto &each) { return each.second.copiesRows; });
  if (copies * rowBytes <= all)
    return;
  rowBytes = all / copies;
  chooseAll();
}

// Bytes of vectors of i32.
Value ByteProducts::callByteProduct(Value sum, Value unsignedBytes, Value signedBytes) {
  int64_t bytes = vectorLanes * kBytesPerLane;
  auto type = VectorType::get(bytes, builder.getI8Type());
  unsignedBytes = LLVM::BitcastOp::create(builder, loc, type, unsignedBytes);
  signedBytes = LLVM::BitcastOp::create(builder, loc, type, signedBytes);
  auto name = builder.getStringAttr(kByteDotProduct.intrinsic + Twine(8 * bytes));
  return LLVM::CallIntrinsicOp::create(builder, loc, sum.getType(), name,
                                       ValueRange{sum, unsignedBytes, signedBytes})
      .getResult(0);
}

// In `loops` the reduced index is the number of the group.
Value ByteProducts::byteGroup(linalg::GenericOp generic, OpOperand *operand, ArrayRef<Index> loops) {
  if (auto it = emitter.packing.packedOperands.find(operand); it != emitter.packing.packedOperands.end())
    return it->second.biased ? emitter.packing.loadPacked(it->second, loops)
                             : biasBytes(emitter.packing.loadPacked(it->second, loops));
  const ByteProduct &product = byteProducts.find(generic)->second;
  AffineMap map = generic.getMatchingIndexingMap(operand);
  Position position = emitter.evaluator.apply(map, loops);
  Key key{operand, {{position.begin(), position.end()}, {lanes, mask.getAsOpaquePointer()}}};
  for (auto &cache : llvm::reverse(emitter.evaluator.caches))
    if (auto it = cache.find(key); it != cache.end())
      return it->second;
  Value group = emitter.registerTranspose.transposedValue(operand, loops);
  if (auto copied = copiedRows.find(operand); !group && copied != copiedRows.end()) {
    // Rows of the copy are filled up with zeros, so that its last group is whole.
    llvm::SaveAndRestore whole(inPartialGroup, false);
    group = groupAt(copied->second, {position.back(), loops[product.loopK]}, 1);
  } else if (!group) {
    AffineExpr dimK = builder.getAffineDimExpr(product.loopK);
    int64_t axis = llvm::find(map.getResults(), dimK) - map.getResults().begin();
    group = groupAt(bufferOf(operand), position, axis);
  }
  if (operand == product.columns)
    group = biasBytes(group);
  return emitter.evaluator.caches.back()[key] = group;
}

FailureOr<SmallVector<Value>> ByteProducts::addByteProducts(linalg::GenericOp generic, ArrayRef<Index> loops,
                                                            Value sum) {
  const ByteProduct &product = byteProducts.find(generic)->second;
  Value columns = byteGroup(generic, product.columns, loops);
  Value rows;
  {
    CPUKernelEmitter::WithLanes scalarCode(emitter, 1, nullptr);
    rows = byteGroup(generic, product.rows, loops);
  }
  if (lanes == vectorLanes)
    return SmallVector<Value>{callByteProduct(sum, emitter.laneValues.splat(columns, lanes),
                                              emitter.laneValues.splat(rows, lanes))};
  assert(lanes == 1 && "tiles have the lanes of the CPU, or one");
  Value wide = callByteProduct(emitter.laneValues.splat(sum, vectorLanes),
                               emitter.laneValues.splat(columns, vectorLanes),
                               emitter.laneValues.splat(rows, vectorLanes));
  return SmallVector<Value>{vector::ExtractOp::create(builder, loc, wide, 0).getResult()};
}

// The memory of an operand in place. K is static if the type of either operand says it.
Buffer ByteProducts::bufferOf(OpOperand *operand) {
  auto generic = cast<linalg::GenericOp>(operand->getOwner());
  const ByteProduct &product = byteProducts.find(generic)->second;
  Buffer buffer = buffers.lookup(operand->get());
  for (auto [axis, expr] : llvm::enumerate(generic.getMatchingIndexingMap(operand).getResults()))
    if (expr == builder.getAffineDimExpr(product.loopK) && !product.isDynamicK()) {
      buffer.shape[axis] = product.sizeK;
      buffer.sizes[axis] = indexConstant(product.sizeK);
    }
  return buffer;
}

// The size of K at run time.
Value ByteProducts::sizeOfK(const ByteProduct &product) {
  if (!product.isDynamicK())
    return indexConstant(product.sizeK);
  AffineMap map =
      cast<linalg::GenericOp>(product.columns->getOwner()).getMatchingIndexingMap(product.columns);
  const auto *axis = llvm::find(map.getResults(), builder.getAffineDimExpr(product.loopK));
  return bufferOf(product.columns).sizes[axis - map.getResults().begin()];
}

// All positions in one loop over groups. The remainder of K is one more group.
FailureOr<SmallVector<Value>> ByteProducts::byteChain(linalg::GenericOp generic,
                                                      ArrayRef<SmallVector<Index>> loops,
                                                      ArrayRef<Value> start) {
  sumRows(generic, loops);
  SmallVector<Value> accumulators;
  for (auto [position, identity] : llvm::zip_equal(loops, start)) {
    Key key = rowSumKey(generic, position);
    auto cache =
        llvm::find_if(llvm::reverse(emitter.evaluator.caches), [&](auto &each) { return each.count(key); });
    Value bias = cache->find(key)->second;
    accumulators.push_back(
        binary<arith::SubIOp>(identity, lanes > 1 ? emitter.laneValues.splat(bias, lanes) : bias));
  }
  Value zero = indexConstant(0);
  Value sizeK = sizeOfK(byteProducts.find(generic)->second);
  Value whole = binary<arith::DivUIOp>(sizeK, indexConstant(kBytesPerLane));
  bool transposes = !emitter.registerTranspose.operandsToTranspose(generic, loops.front()).empty();
  FailureOr<SmallVector<Value>> result =
      transposes ? emitter.registerTranspose.transposedChain(generic, loops, accumulators, zero, whole)
                 : emitter.reductions.plainChain(generic, loops, accumulators, zero, whole);
  if (failed(result))
    return failure();
  auto addRest = [&]() -> LogicalResult {
    for (auto [i, position] : llvm::enumerate(loops))
      if (failed(
              emitter.reductions.chainStep(generic, position, whole, MutableArrayRef(*result).slice(i, 1))))
        return failure();
    return success();
  };
  if (failed(overPartialGroup(sizeK, *result, addRest)))
    return failure();
  return result;
}

// The key of 128 times the sum of a row: the row at an index along K that varies.
Key ByteProducts::rowSumKey(linalg::GenericOp generic, ArrayRef<Index> loops) {
  const ByteProduct &product = byteProducts.find(generic)->second;
  SmallVector<Index> inner(loops);
  inner[product.loopK] = Index::varying();
  Position row = emitter.evaluator.apply(generic.getMatchingIndexingMap(product.rows), inner);
  return {product.rows, {{row.begin(), row.end()}, {1, nullptr}}};
}

// The rows whose sums are not known yet, each once.
ByteProducts::KeyedRows ByteProducts::rowsToSum(linalg::GenericOp generic, ArrayRef<SmallVector<Index>> loops,
                                                bool areCopied) {
  AffineMap map = generic.getMatchingIndexingMap(byteProducts.find(generic)->second.rows);
  KeyedRows rows;
  for (const SmallVector<Index> &position : loops) {
    Key key = rowSumKey(generic, position);
    if (llvm::any_of(emitter.evaluator.caches, [&](auto &cache) { return cache.count(key); }) ||
        llvm::any_of(rows, [&](auto &row) { return !(row.first < key) && !(key < row.first); }))
      continue;
    Position row = emitter.evaluator.apply(map, position);
    rows.push_back({key, areCopied ? Position{row.back(), {}} : row});
  }
  return rows;
}

// The sums of the bytes of each row, in the lanes of a vector: products with ones, all rows in one loop.
SmallVector<Value> ByteProducts::sumBytes(const Buffer &buffer, KeyedRows &rows) {
  int64_t step = vectorLanes * kBytesPerLane;
  Value sizeK = buffer.sizes.back(), rest = binary<arith::RemUIOp>(sizeK, indexConstant(step));
  Value whole = binary<arith::SubIOp>(sizeK, rest);
  Value zeros = emitter.laneValues.splat(
      arith::ConstantOp::create(builder, loc, builder.getI32IntegerAttr(0)), vectorLanes);
  Value ones = emitter.laneValues.splat(
      arith::ConstantOp::create(builder, loc, builder.getI32IntegerAttr(0x01010101)), vectorLanes);
  auto add = [&](Value from, ValueRange accumulators) {
    SmallVector<Value> next;
    for (auto [row, sum] : llvm::zip_equal(rows, accumulators)) {
      row.second.back() = {from, 1, nullptr};
      next.push_back(callByteProduct(sum, ones, loadGroups(buffer, row.second)));
    }
    return next;
  };
  auto loop = scf::ForOp::create(builder, loc, indexConstant(0), whole, indexConstant(step),
                                 SmallVector<Value>(rows.size(), zeros));
  {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(loop.getBody());
    scf::YieldOp::create(builder, loc, add(loop.getInductionVar(), loop.getRegionIterArgs()));
  }
  if (constantOf(rest) == 0)
    return SmallVector<Value>(loop.getResults());
  CPUKernelEmitter::WithLanes restCode(emitter, step, nullptr);
  mask = emitter.packing.lanesBelow(rest);
  return add(whole, loop.getResults());
}

// Remembers 128 times the sum of each row that has none yet.
void ByteProducts::sumRows(linalg::GenericOp generic, ArrayRef<SmallVector<Index>> loops) {
  OpOperand *operand = byteProducts.find(generic)->second.rows;
  auto copied = copiedRows.find(operand);
  bool areCopied = copied != copiedRows.end();
  KeyedRows rows = rowsToSum(generic, loops, areCopied);
  if (rows.empty())
    return;
  CPUKernelEmitter::WithLanes vectorCode(emitter, vectorLanes, nullptr);
  SmallVector<Value> accumulators = sumBytes(areCopied ? copied->second : bufferOf(operand), rows);
  Value bits = arith::ConstantOp::create(builder, loc, builder.getI32IntegerAttr(7));
  for (auto [row, sum] : llvm::zip_equal(rows, accumulators)) {
    Value total = vector::ReductionOp::create(builder, loc, vector::CombiningKind::ADD, sum);
    emitter.evaluator.caches.back()[row.first] = arith::ShLIOp::create(builder, loc, total, bits);
  }
}

// Before the loop over the columns, all of which use the sums of rows.
void ByteProducts::hoistRowSums(const Nest &nest, ArrayRef<Position> positions) {
  if (byteProducts.empty())
    return;
  SmallVector<SmallVector<Index>> loops;
  for (const Position &position : positions) {
    SmallVector<Index> inner(nest.shape.size() + 1, {indexConstant(0), 0, nullptr});
    llvm::copy(position, inner.begin());
    loops.push_back(inner);
  }
  for (Value output : nest.outputs)
    dependsOn(output, [&](linalg::GenericOp generic) {
      if (byteProducts.count(generic))
        sumRows(generic, loops);
      return false;
    });
}
