// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Contractions of i8 by x86's vpdpbusd (AVX512_VNNI), which adds four products of an unsigned and a
// signed byte to each lane of i32. The operand of the columns becomes unsigned: 128 is added to each of its
// bytes. The accumulators of a row therefore start from -128 times the sum of the row. The instruction wraps,
// so that results are the bits of the written sum, whatever the order.

#include "ByteDotProducts.h"
#include "llvm/Support/SaveAndRestore.h"

using namespace mlir;
using namespace mlir::ad;
using namespace mlir::ad::cpu;

// Bytes of vectors of i32.
Value ByteDotProducts::callByteProduct(Value sum, Value unsignedBytes, Value signedBytes) {
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
Value ByteDotProducts::byteGroup(linalg::GenericOp generic, OpOperand *operand, ArrayRef<Index> loops) {
  if (auto it = panels.operands.find(operand); it != panels.operands.end())
    return it->second.biased ? panels.loadPacked(it->second, loops)
                             : byteGroups.biasBytes(panels.loadPacked(it->second, loops));
  const ByteProduct &product = byteProducts.chosen.find(generic)->second;
  AffineMap map = generic.getMatchingIndexingMap(operand);
  Position position = maps.apply(map, loops);
  Key key{operand, {{position.begin(), position.end()}, {lanes, mask.getAsOpaquePointer()}}};
  if (Value known = context.known.lookup(key))
    return known;
  Value group = transposedOperands.transposedValue(operand, loops);
  if (auto copied = byteRowCopies.copied.find(operand); !group && copied != byteRowCopies.copied.end()) {
    // Rows of the copy are filled up with zeros, so that its last group is whole.
    llvm::SaveAndRestore whole(byteGroups.inPartialGroup, false);
    group = byteGroups.groupAt(copied->second, {position.back(), loops[product.loopK]}, 1);
  } else if (!group) {
    AffineExpr dimK = builder.getAffineDimExpr(product.loopK);
    int64_t axis = llvm::find(map.getResults(), dimK) - map.getResults().begin();
    group = byteGroups.groupAt(byteProducts.bufferOf(operand), position, axis);
  }
  if (operand == product.columns)
    group = byteGroups.biasBytes(group);
  context.known.remember(key, group);
  return group;
}

FailureOr<SmallVector<Value>> ByteDotProducts::addByteProducts(linalg::GenericOp generic,
                                                               ArrayRef<Index> loops, Value sum) {
  const ByteProduct &product = byteProducts.chosen.find(generic)->second;
  Value columns = byteGroup(generic, product.columns, loops);
  Value rows;
  {
    WithLanes scalarCode(context, 1, nullptr);
    rows = byteGroup(generic, product.rows, loops);
  }
  if (lanes == vectorLanes)
    return SmallVector<Value>{
        callByteProduct(sum, laneValues.splat(columns, lanes), laneValues.splat(rows, lanes))};
  assert(lanes == 1 && "tiles have the lanes of the CPU, or one");
  Value wide = callByteProduct(laneValues.splat(sum, vectorLanes), laneValues.splat(columns, vectorLanes),
                               laneValues.splat(rows, vectorLanes));
  return SmallVector<Value>{vector::ExtractOp::create(builder, loc, wide, 0).getResult()};
}

// The key of 128 times the sum of a row: the row at an index along K that varies.
Key ByteDotProducts::rowSumKey(linalg::GenericOp generic, ArrayRef<Index> loops) {
  const ByteProduct &product = byteProducts.chosen.find(generic)->second;
  SmallVector<Index> inner(loops);
  inner[product.loopK] = Index::varying();
  Position row = maps.apply(generic.getMatchingIndexingMap(product.rows), inner);
  return {product.rows, {{row.begin(), row.end()}, {1, nullptr}}};
}

// The rows whose sums are not known yet, each once.
ByteDotProducts::KeyedRows ByteDotProducts::rowsToSum(linalg::GenericOp generic,
                                                      ArrayRef<SmallVector<Index>> loops, bool areCopied) {
  AffineMap map = generic.getMatchingIndexingMap(byteProducts.chosen.find(generic)->second.rows);
  KeyedRows rows;
  for (const SmallVector<Index> &position : loops) {
    Key key = rowSumKey(generic, position);
    if (context.known.lookup(key) ||
        llvm::any_of(rows, [&](auto &row) { return !(row.first < key) && !(key < row.first); }))
      continue;
    Position row = maps.apply(map, position);
    rows.push_back({key, areCopied ? Position{row.back(), {}} : row});
  }
  return rows;
}

// The sums of the bytes of each row, in the lanes of a vector: products with ones, all rows in one loop.
SmallVector<Value> ByteDotProducts::sumBytes(const Buffer &buffer, KeyedRows &rows) {
  int64_t step = vectorLanes * kBytesPerLane;
  Value sizeK = buffer.sizes.back(), rest = binary<arith::RemUIOp>(sizeK, indexConstant(step));
  Value whole = binary<arith::SubIOp>(sizeK, rest);
  Value zeros =
      laneValues.splat(arith::ConstantOp::create(builder, loc, builder.getI32IntegerAttr(0)), vectorLanes);
  Value ones = laneValues.splat(
      arith::ConstantOp::create(builder, loc, builder.getI32IntegerAttr(0x01010101)), vectorLanes);
  auto add = [&](Value from, ValueRange accumulators) {
    SmallVector<Value> next;
    for (auto [row, sum] : llvm::zip_equal(rows, accumulators)) {
      row.second.back() = {from, 1, nullptr};
      next.push_back(callByteProduct(sum, ones, byteGroups.loadGroups(buffer, row.second)));
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
  WithLanes restCode(context, step, nullptr);
  mask = laneValues.lanesBelow(rest);
  return add(whole, loop.getResults());
}

// Remembers 128 times the sum of each row that has none yet.
void ByteDotProducts::sumRows(linalg::GenericOp generic, ArrayRef<SmallVector<Index>> loops) {
  OpOperand *operand = byteProducts.chosen.find(generic)->second.rows;
  auto copied = byteRowCopies.copied.find(operand);
  bool areCopied = copied != byteRowCopies.copied.end();
  KeyedRows rows = rowsToSum(generic, loops, areCopied);
  if (rows.empty())
    return;
  WithLanes vectorCode(context, vectorLanes, nullptr);
  SmallVector<Value> accumulators =
      sumBytes(areCopied ? copied->second : byteProducts.bufferOf(operand), rows);
  Value bits = arith::ConstantOp::create(builder, loc, builder.getI32IntegerAttr(7));
  for (auto [row, sum] : llvm::zip_equal(rows, accumulators)) {
    Value total = vector::ReductionOp::create(builder, loc, vector::CombiningKind::ADD, sum);
    context.known.remember(row.first, arith::ShLIOp::create(builder, loc, total, bits));
  }
}

// Before the loop over the columns, all of which use the sums of rows.
void ByteDotProducts::hoistRowSums(const CPUNest &nest, ArrayRef<Position> positions) {
  if (byteProducts.chosen.empty())
    return;
  SmallVector<SmallVector<Index>> loops;
  for (const Position &position : positions) {
    SmallVector<Index> inner(nest.shape.size() + 1, {indexConstant(0), 0, nullptr});
    llvm::copy(position, inner.begin());
    loops.push_back(inner);
  }
  for (Value output : nest.outputs)
    dependsOn(output, [&](linalg::GenericOp generic) {
      if (byteProducts.chosen.count(generic))
        sumRows(generic, loops);
      return false;
    });
}
