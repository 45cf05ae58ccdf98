// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

#include "ColumnRunEmitter.h"
#include "../../Kernel/Values/Producers.h"
#include "../Generic/SharedMemory.h"
#include "JoinedParts.h"
#include "adjoint/Dialect/AD/Transforms/LinalgKernels.h"

using namespace mlir;
using namespace mlir::ad;
using namespace mlir::ad::device;

// Bytes of a column in a chunk, of the widest operand, and its steps of a narrow one.
static constexpr int64_t kColumnBytes = 128, kMaxSteps = 64;
static constexpr int64_t kMaxWarps = 2; // of a thread block

//===- Layout of shared memory --------------------------------------------===//

ColumnRunEmitter::ColumnRunEmitter(KernelOp kernel, FunctionOpInterface function, const ColumnRuns &runs)
    : GPUKernelEmitter(kernel, function), runs(runs) {
  for (linalg::GenericOp reduction : runs.reductions) {
    Stages stages = planStages(reduction);
    warpBytes = std::max(warpBytes, bytesOfWarp(stages));
    stagesOf[reduction] = std::move(stages);
  }
}

int64_t ColumnRunEmitter::bytesOfWarp(const Stages &stages) const {
  return runs.runsOfWarp() * kBoundsBytes + kStages * stages.bytes;
}

// Nodes begin at multiples of the order's blocks.
bool ColumnRunEmitter::isAligned(const RunOperand &operand, int64_t elementBytes) {
  int64_t bundleBytes = runs.columns * elementBytes, length = operand.shape()[operand.axis];
  OrderAttr order = kernel.getOrderAttr();
  if (order && order.getPartLength() * bundleBytes % kChunkBytes != 0)
    return false;
  bool isOne = llvm::all_of(operand.shape().take_front(operand.axis), [](int64_t size) { return size == 1; });
  return isOne || (!ShapedType::isDynamic(length) && length * bundleBytes % kChunkBytes == 0);
}

// Operands that have no room are loaded from memory. The runs are as far apart as their threads need to
// access other banks.
ColumnRunEmitter::Stages ColumnRunEmitter::planStages(linalg::GenericOp reduction) {
  SmallVector<RunOperand> operands = runOperands(reduction);
  auto bytesOf = [](const RunOperand &operand) {
    return memoryBytes(cast<RankedTensorType>(operand.argument.getType()).getElementType());
  };
  Stages stages{{}, kMaxSteps};
  for (const RunOperand &operand : operands)
    stages.steps = std::min(stages.steps, kColumnBytes / bytesOf(operand));
  for (const RunOperand &operand : operands) {
    int64_t bytes = bytesOf(operand), chunk = stages.steps * runs.columns * bytes;
    int64_t pitch = llvm::alignTo(chunk, kBankRowBytes) + llvm::alignTo(runs.columns * bytes, kChunkBytes);
    Stages more = stages;
    more.operands.push_back({operand, bytes, chunk, pitch, stages.bytes, isAligned(operand, bytes)});
    more.bytes += runs.runsOfWarp() * pitch;
    if (bytesOfWarp(more) <= kStaticSharedBytes)
      stages = more;
  }
  return stages;
}

void ColumnRunEmitter::allocate() {
  int64_t warps = std::min(kMaxWarps, kStaticSharedBytes / warpBytes);
  launchShape.threadsPerBlock = warps * kWarpThreads;
  if (shared)
    return;
  shared = sharedMemory(builder, function, warps * warpBytes, "runs", kBankRowBytes);
  Value warp = binary<arith::DivUIOp>(mapping.threadInBlock, indexConstant(kWarpThreads));
  shared = addBytes(builder, loc, shared, binary<arith::MulIOp>(warp, indexConstant(warpBytes)));
  auto [chain, ownLeaf] = divide(mapping.lane, runs.leaves);
  auto [number, ownColumn] = divide(chain, runs.columns);
  leaf = ownLeaf;
  column = ownColumn;
  // Threads without a bundle repeat the last one.
  bundle = binary<arith::MinUIOp>(number, indexConstant(runs.bundles - 1));
  run = binary<arith::AddIOp>(binary<arith::MulIOp>(bundle, indexConstant(runs.leaves)), leaf);
}

std::pair<Value, Value> ColumnRunEmitter::divide(Value number, int64_t by) {
  return {binary<arith::DivUIOp>(number, indexConstant(by)),
          binary<arith::RemUIOp>(number, indexConstant(by))};
}

//===- Chains of the grid -------------------------------------------------===//

// Whether the thread has the first leaf of a chain.
Value ColumnRunEmitter::isFirstOfChain() {
  Value isFirst = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ult, mapping.lane,
                                        indexConstant(runs.chainsOfWarp()));
  return runs.leaves == 1
             ? isFirst
             : binary<arith::AndIOp>(isFirst, arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq,
                                                                    leaf, indexConstant(0)));
}

// Warps have contiguous bundles. All threads execute the code: those after the last bundle repeat its chains.
LogicalResult ColumnRunEmitter::overChains(Value count, ChainCode code) {
  Value columns = indexConstant(runs.columns), each = indexConstant(runs.bundles);
  Value bundles = binary<arith::DivUIOp>(count, columns);
  Value last = binary<arith::SubIOp>(bundles, indexConstant(1));
  return emitLoop(
      mapping.warp, binary<arith::CeilDivUIOp>(bundles, each), mapping.gridWarps, [&](Value number) {
        Value own = binary<arith::AddIOp>(binary<arith::MulIOp>(number, each), bundle);
        Value isPresent = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ult, own, bundles);
        isPresent = binary<arith::AndIOp>(isPresent, isFirstOfChain());
        own = binary<arith::MulIOp>(binary<arith::MinUIOp>(own, last), columns);
        return code(binary<arith::AddIOp>(own, column), isPresent);
      });
}

LogicalResult ColumnRunEmitter::emitNest(const Nest &nest, Store store) {
  allocate();
  launchShape.level = MappingLevel::warp;
  launchShape.elements = runs.bundles * runs.columns;
  PerThread perThread(mapping);
  Scope scope(*this);
  if (failed(hoistInvariants(nest.outputs, nest)))
    return failure();
  return overChains(mapping.elementCount(nest.sizes), [&](Value number, Value isPresent) -> LogicalResult {
    Position position = mapping.positionOfElement(number, nest.sizes);
    for (linalg::GenericOp reduction : runs.reductions) {
      auto isIt = [&](linalg::GenericOp generic) { return generic == reduction; };
      if (llvm::none_of(nest.outputs, [&](Value output) { return dependsOn(output, isIt); }))
        continue;
      FailureOr<SmallVector<Value>> values = emitWhole(reduction, position);
      if (failed(values))
        return failure();
      for (auto [result, value] : llvm::zip_equal(reduction.getResults(), *values))
        remember(result, position, value);
    }
    return emitIf(isPresent, [&] { return store(position); });
  });
}

LogicalResult ColumnRunEmitter::emitPartialNodes() {
  allocate();
  PerThread perThread(mapping);
  partialTree.layOutNodes();
  for (linalg::GenericOp reduction : runs.reductions) {
    const PartialTree::Nodes own = partialTree.nodes[reduction];
    ArrayRef<Value> sizes = own.buffers.front().sizes;
    LogicalResult emitted =
        overChains(mapping.elementCount(sizes), [&](Value number, Value isPresent) -> LogicalResult {
          Position position = mapping.positionOfElement(number, sizes);
          FailureOr<SmallVector<Value>> values = emitNode(reduction, position);
          if (failed(values))
            return failure();
          return emitIf(isPresent, [&] {
            for (auto [buffer, value] : llvm::zip_equal(own.buffers, *values))
              store(buffer, position, value);
            return success();
          });
        });
    if (failed(emitted))
      return failure();
  }
  return success();
}

FailureOr<ColumnRunEmitter::Chain> ColumnRunEmitter::chainAt(linalg::GenericOp reduction,
                                                             const Position &position) {
  AffineMap map = reduction.getMatchingIndexingMap(reduction.getDpsInitOperand(0));
  Chain chain{reduction, maps.loopsFromOutput(reduction, map, position), {}, {}, {}, {}};
  for (Value init : reduction.getDpsInits()) {
    FailureOr<Value> start = evaluator.evaluateOne(init, position);
    if (failed(start))
      return failure();
    chain.start.push_back(*start);
  }
  if (failed(hoisting.hoistReduced(reduction, SmallVector<Index>(chain.loops))))
    return failure();
  return chain;
}

// A warp computes several leaves at a time, and joins them.
FailureOr<SmallVector<Value>> ColumnRunEmitter::emitWhole(linalg::GenericOp reduction,
                                                          const Position &position) {
  FailureOr<Chain> chain = chainAt(reduction, position);
  if (failed(chain))
    return failure();
  int64_t length = leafLength(kernel, reduction, Division());
  Value total = reductionLoops.total(reduction);
  if (reduction.getNumResults() > 1 && runs.leaves == 1)
    return emitSteps(*chain, indexConstant(0), total, total);
  auto group = [&](Value lower, Value) -> FailureOr<SmallVector<Value>> {
    Value begin = binary<arith::AddIOp>(lower, binary<arith::MulIOp>(leaf, indexConstant(length)));
    FailureOr<SmallVector<Value>> values = emitLeaf(*chain, begin, length, total);
    if (failed(values))
      return failure();
    return joinThreads(*this, reduction, *values, runs.leaves);
  };
  if (reduction.getNumResults() == 1)
    return tree.joinBlocks(total, runs.leaves * length, chain->start, combiningOp(reduction), group);
  auto loop = scf::ForOp::create(builder, loc, indexConstant(0), total, indexConstant(runs.leaves * length),
                                 chain->start);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(loop.getBody());
  Scope scope(*this);
  FailureOr<SmallVector<Value>> next = group(loop.getInductionVar(), total);
  if (failed(next))
    return failure();
  scf::YieldOp::create(builder, loc, joinParts(*this, reduction, loop.getRegionIterArgs(), *next));
  return SmallVector<Value>(loop.getResults());
}

FailureOr<SmallVector<Value>> ColumnRunEmitter::emitNode(linalg::GenericOp reduction,
                                                         const Position &position) {
  const PartialTree::Nodes own = partialTree.nodes[reduction];
  FailureOr<Chain> chain = chainAt(reduction, Position(ArrayRef<Index>(position).drop_front()));
  if (failed(chain))
    return failure();
  Value from = binary<arith::MulIOp>(position.front().base, own.length);
  Value longest = binary<arith::MinUIOp>(own.length, own.total);
  if (reduction.getNumResults() > 1)
    return emitSteps(*chain, from, binary<arith::AddIOp>(from, own.length), own.total);
  int64_t length = leafLength(kernel, reduction, partialTree.division);
  auto leafAt = [&](Value lower, Value) {
    return emitLeaf(*chain, binary<arith::AddIOp>(from, lower), length, own.total);
  };
  int64_t known = reducedElements(reduction);
  longestReduction = ShapedType::isDynamic(known) ? std::numeric_limits<int64_t>::max() : known;
  return tree.joinBlocks(longest, length, chain->start, combiningOp(reduction), leafAt);
}

// All threads of a warp execute the same chunks, those with an absent leaf without steps.
FailureOr<SmallVector<Value>> ColumnRunEmitter::emitLeaf(const Chain &chain, Value begin, int64_t length,
                                                         Value total) {
  FailureOr<SmallVector<Value>> values =
      emitSteps(chain, begin, binary<arith::AddIOp>(begin, indexConstant(length)), total);
  if (failed(values))
    return failure();
  Value isPresent = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ult, begin,
                                          binary<arith::MaxUIOp>(total, indexConstant(1)));
  SmallVector<Value> chosen;
  for (auto [value, absent] : llvm::zip_equal(*values, absentParts(*this, chain.reduction, chain.start)))
    chosen.push_back(builder.createOrFold<arith::SelectOp>(loc, isPresent, value, absent));
  return chosen;
}

// The steps of [begin, end) that there are.
FailureOr<SmallVector<Value>> ColumnRunEmitter::emitSteps(const Chain &chain, Value begin, Value end,
                                                          Value total) {
  Chain steps = chain;
  steps.longest = binary<arith::MinUIOp>(binary<arith::SubIOp>(end, begin), total);
  steps.begin = binary<arith::MinUIOp>(begin, total);
  steps.end = binary<arith::MinUIOp>(end, total);
  return emitChain(steps);
}
