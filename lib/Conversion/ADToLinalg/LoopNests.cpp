// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Loop nests and ordered writes as linalg.generic. An operand that every iteration reads inside of the
// tensor, by loops alone, is an input; any other one is read by tensor.extract. Reductions start from the
// neutral values and are one chain, unless the order of the kernel says more.

#include "ADToLinalg.h"
#include "adjoint/Dialect/AD/Transforms/LoopNestCode.h"
#include "adjoint/Interfaces/LoopNestOpInterface.h"
#include "adjoint/Interfaces/OrderedWriteOpInterface.h"
#include "mlir/IR/Verifier.h"

using namespace mlir;
using namespace mlir::ad;

//===- Loop nests -===//

static Value emptyOf(OpBuilder &builder, Location loc, AffineMap map, ArrayRef<OpFoldResult> loopSizes,
                     Type element) {
  SmallVector<OpFoldResult> sizes = llvm::map_to_vector(map.getResults(), [&](AffineExpr index) {
    return loopSizes[cast<AffineDimExpr>(index).getPosition()];
  });
  return tensor::EmptyOp::create(builder, loc, sizes, element);
}

// Scalar code of other dialects, whose types may not fit each other.
static LogicalResult verifyScalarCode(linalg::GenericOp generic) {
  return success(llvm::all_of(generic.getBlock()->without_terminator(),
                              [](Operation &op) { return succeeded(verify(&op)); }));
}

namespace {
class NestLowering {
public:
  NestLowering(LoopNestOpInterface nest, OpBuilder &builder)
      : nest(nest), builder(builder), loc(nest.getLoc()), accesses(nest.getAccesses()),
        loops(nest.getLoops()), sizes(nest.getLoopSizes(builder)) {}

  FailureOr<SmallVector<Value>> lower() {
    if (failed(verifyLoopSizes(nest, sizes, loops.size(), nest.getResultMaps())))
      return failure();
    if (writesNothing())
      return makeEmptyResults();
    return reduces(nest) ? lowerReduction() : lowerParallel();
  }

private:
  bool writesNothing() {
    return llvm::any_of(llvm::zip_equal(loops, sizes), [](auto loop) {
      auto [kind, size] = loop;
      return kind == utils::IteratorType::parallel && getConstantIntValue(size) == 0;
    });
  }

  /// linalg refuses windows that leave their operand, even if no iteration reads it.
  SmallVector<Value> makeEmptyResults() {
    return llvm::map_to_vector(nest->getResults(), [&](OpResult result) {
      Type element = getElementTypeOrSelf(result);
      Value empty = emptyOf(builder, loc, nest.getResultMaps()[result.getResultNumber()], sizes, element);
      return fillTensor(builder, loc, empty, numberConstant(builder, loc, element, 0));
    });
  }

  /// One operation for results that are written alike; others have one each.
  FailureOr<SmallVector<Value>> lowerParallel() {
    SmallVector<AffineMap> maps = nest.getResultMaps();
    SmallVector<Value> values;
    if (llvm::all_equal(maps)) {
      SmallVector<unsigned> all = llvm::to_vector(llvm::seq<unsigned>(0, maps.size()));
      return writeResults(all);
    }
    for (unsigned result = 0; result < maps.size(); ++result) {
      FailureOr<SmallVector<Value>> value = writeResults(result);
      if (failed(value))
        return failure();
      values.push_back(value->front());
    }
    return values;
  }

  FailureOr<SmallVector<Value>> writeResults(ArrayRef<unsigned> results) {
    SmallVector<Value> outs;
    SmallVector<AffineMap> maps;
    for (unsigned result : results) {
      maps.push_back(nest.getResultMaps()[result]);
      outs.push_back(
          emptyOf(builder, loc, maps.back(), sizes, getElementTypeOrSelf(nest->getResult(result))));
    }
    return generic(
        outs, maps,
        [&](OpBuilder &nested, ValueRange values, ValueRange) {
          return llvm::map_to_vector(results, [&](unsigned result) { return values[result]; });
        },
        nest->getNumResults());
  }

  FailureOr<SmallVector<Value>> lowerReduction() {
    SmallVector<AffineExpr> parallel;
    for (auto [loop, kind] : llvm::enumerate(loops))
      if (kind == utils::IteratorType::parallel)
        parallel.push_back(builder.getAffineDimExpr(loop));
    AffineMap map = AffineMap::get(loops.size(), 0, parallel, builder.getContext());
    SmallVector<Value> outs;
    for (Value neutral : nest.emitNeutral(builder, loc))
      outs.push_back(fillTensor(builder, loc, emptyOf(builder, loc, map, sizes, neutral.getType()), neutral));
    auto numerics = dyn_cast<NumericsOpInterface>(nest.getOperation());
    if (outs.size() != 1 && numerics && numerics.getSummationOrder())
      return nest->emitOpError(kChainsOnly), failure();
    SmallVector<AffineMap> maps(outs.size(), map);
    auto combine = [&](OpBuilder &nested, ValueRange values, ValueRange accumulators) {
      return nest.emitCombine(nested, loc, accumulators, values);
    };
    FailureOr<SmallVector<Value>> accumulators = generic(outs, maps, combine, outs.size());
    if (failed(accumulators))
      return failure();
    return finish(*accumulators, parallel);
  }

  using Write = function_ref<SmallVector<Value>(OpBuilder &, ValueRange values, ValueRange accumulators)>;

  /// An operation over all loops, which yields what `write` makes of the values of an iteration.
  FailureOr<SmallVector<Value>> generic(ValueRange outs, ArrayRef<AffineMap> outMaps, Write write,
                                        size_t valueCount) {
    NestOperands operands(nest, accesses, sizes, builder);
    SmallVector<AffineMap> maps(operands.maps);
    llvm::append_range(maps, outMaps);
    bool isRight = true;
    auto made = linalg::GenericOp::create(
        builder, loc, TypeRange(outs), operands.inputs, outs, maps, loops,
        [&](OpBuilder &nested, Location, ValueRange arguments) {
          AccessCode code(nested, loc, operands.extents);
          SmallVector<Value> scalars = operands.elements(code, arguments);
          SmallVector<Value> values = nest.emitElement(nested, loc, scalars, code.loops), yielded;
          isRight = values.size() == valueCount;
          if (isRight)
            yielded = write(nested, values, arguments.take_back(outs.size()));
          linalg::YieldOp::create(nested, loc, yielded);
        });
    if (failed(verifyScalarCode(made)))
      return failure();
    if (!isRight ||
        TypeRange(ValueRange(made.getBlock()->getTerminator()->getOperands())) != elementTypes(outs))
      return nest->emitOpError("has scalar code with other values than its accumulators and results"),
             failure();
    return SmallVector<Value>(made.getResults());
  }

  static SmallVector<Type> elementTypes(ValueRange tensors) {
    return llvm::map_to_vector(tensors, [](Value tensor) { return getElementTypeOrSelf(tensor); });
  }

  /// The results from the accumulators, which have one axis for each parallel loop.
  FailureOr<SmallVector<Value>> finish(ArrayRef<Value> accumulators, ArrayRef<AffineExpr> parallel) {
    SmallVector<AffineExpr> renumbered(loops.size(), builder.getAffineConstantExpr(0));
    for (auto [number, loop] : llvm::enumerate(parallel))
      renumbered[cast<AffineDimExpr>(loop).getPosition()] = builder.getAffineDimExpr(number);
    AffineMap points = builder.getMultiDimIdentityMap(parallel.size());
    SmallVector<Value> values;
    for (OpResult result : nest->getResults()) {
      AffineMap written = nest.getResultMaps()[result.getResultNumber()];
      AffineMap map = written.replaceDimsAndSymbols(renumbered, {}, parallel.size(), 0);
      Value out = emptyOf(builder, loc, written, sizes, getElementTypeOrSelf(result));
      SmallVector<AffineMap> maps(accumulators.size(), points);
      maps.push_back(map);
      SmallVector<utils::IteratorType> iterators(parallel.size(), utils::IteratorType::parallel);
      bool isRight = true;
      auto made = linalg::GenericOp::create(
          builder, loc, out.getType(), accumulators, out, maps, iterators,
          [&](OpBuilder &nested, Location, ValueRange arguments) {
            SmallVector<Value> elements = nest.emitResults(nested, loc, arguments.drop_back());
            isRight = elements.size() == nest->getNumResults();
            linalg::YieldOp::create(nested, loc,
                                    isRight ? elements[result.getResultNumber()] : arguments.back());
          });
      Value yielded = made.getBlock()->getTerminator()->getOperand(0);
      if (!isRight || yielded.getType() != getElementTypeOrSelf(result))
        return nest->emitOpError("has scalar code with other values than its results"), failure();
      auto argument = dyn_cast<BlockArgument>(yielded);
      if (argument && argument.getOwner() == made.getBlock() && map == points) {
        values.push_back(accumulators[argument.getArgNumber()]);
        made.erase();
      } else {
        values.push_back(made.getResult(0));
      }
    }
    return values;
  }

  LoopNestOpInterface nest;
  OpBuilder &builder;
  Location loc;
  SmallVector<ElementAccess> accesses;
  SmallVector<utils::IteratorType> loops;
  SmallVector<OpFoldResult> sizes;
};

//===- Ordered writes -===//

/// Each element of the result looks for the iterations that update it: the loops over which the index of the
/// element varies become a chain, in which an iteration with another index changes nothing. Every target runs
/// it with the same bits and without atomics, in time that grows with the product of the sizes.
class WriteLowering {
public:
  WriteLowering(OrderedWriteOpInterface write, OpBuilder &builder)
      : write(write), builder(builder), loc(write.getLoc()), accesses(write.getAccesses()),
        access(accesses[tensorNumber(write, write.getDestination())]),
        type(cast<RankedTensorType>(write->getResult(0).getType())), sizes(write.getLoopSizes(builder)) {}

  FailureOr<Value> lower() {
    if (failed(verifyLoopSizes(write, sizes, write.getLoopCount(), {})))
      return failure();
    placeLoops();
    Value start = convertElements(destination(), [&](OpBuilder &nested, Value element) {
      return write.emitStart(nested, loc, element);
    });
    FailureOr<Value> accumulators = update(start);
    if (failed(accumulators))
      return failure();
    Value result = convertElements(*accumulators, [&](OpBuilder &nested, Value accumulator) {
      return write.emitResult(nested, loc, accumulator);
    });
    if (result.getType() != type)
      return write->emitOpError("has scalar code with another value than its result"), failure();
    return result;
  }

private:
  Value destination() { return write->getOperand(write.getDestination()); }

  /// The loops of the linalg.generic: one for each axis of the result, then those of the operation that are
  /// no such axis themselves.
  void placeLoops() {
    unsigned rank = type.getRank();
    newLoops.assign(sizes.size(), AffineExpr());
    for (auto [axis, index] : llvm::enumerate(access.map.getResults()))
      if (auto dim = dyn_cast<AffineDimExpr>(index);
          dim && !newLoops[dim.getPosition()] && runsOver(dim.getPosition(), axis))
        newLoops[dim.getPosition()] = builder.getAffineDimExpr(axis);
    iterators.assign(rank, utils::IteratorType::parallel);
    for (AffineExpr &loop : newLoops)
      if (!loop) {
        loop = builder.getAffineDimExpr(iterators.size());
        iterators.push_back(utils::IteratorType::reduction);
      }
  }

  /// Whether the loop runs over the axis, as far as is known when compiling.
  bool runsOver(unsigned loop, int64_t axis) {
    std::optional<int64_t> size = getConstantIntValue(sizes[loop]);
    return access.isWholeAxis(axis) || (size && *size == type.getDimSize(axis));
  }

  FailureOr<Value> update(Value start) {
    // Accesses of the operation over the loops of the linalg.generic.
    SmallVector<ElementAccess> moved(accesses);
    for (ElementAccess &one : moved)
      one.map = one.map.replaceDimsAndSymbols(
          newLoops,
          llvm::map_to_vector(llvm::seq<unsigned>(0, one.map.getNumSymbols()),
                              [&](unsigned number) { return builder.getAffineSymbolExpr(number); }),
          iterators.size(), one.map.getNumSymbols());
    SmallVector<OpFoldResult> extents;
    for (int64_t axis = 0; axis < type.getRank(); ++axis)
      extents.push_back(getAsOpFoldResult(dimension(builder, loc, destination(), axis)));
    extents.resize(iterators.size());
    for (auto [loop, size] : llvm::zip_equal(newLoops, sizes))
      extents[cast<AffineDimExpr>(loop).getPosition()] = size;
    NestOperands operands(write, moved, extents, builder, write.getDestination());
    SmallVector<Value> destinationSizes = sizesOfTensor(builder, loc, destination());
    SmallVector<AffineMap> maps(operands.maps);
    SmallVector<AffineExpr> axes;
    for (int64_t axis = 0; axis < type.getRank(); ++axis)
      axes.push_back(builder.getAffineDimExpr(axis));
    maps.push_back(AffineMap::get(iterators.size(), 0, axes, builder.getContext()));
    const ElementAccess &target = moved[tensorNumber(write, write.getDestination())];
    auto made = linalg::GenericOp::create(
        builder, loc, start.getType(), operands.inputs, start, maps, iterators,
        [&](OpBuilder &nested, Location, ValueRange arguments) {
          AccessCode code(nested, loc, operands.extents);
          SmallVector<Value> scalars = operands.elements(code, arguments);
          SmallVector<Value> indices = code.indices(target, NestOperands::symbols(target, scalars));
          if (target.outOfRange == OutOfRange::clamp)
            code.clampIndices(target, type, destinationSizes, indices);
          scalars[write.getDestination()] = arguments.back();
          SmallVector<Value> written = llvm::map_to_vector(
              newLoops, [&](AffineExpr loop) { return code.loops[cast<AffineDimExpr>(loop).getPosition()]; });
          Value updated = write.emitUpdate(nested, loc, scalars, written);
          Value hits = isElement(nested, indices, code.loops);
          // The choice also keeps the updates one chain: a sum alone would be joined with its start last.
          if (updated && updated.getType() == arguments.back().getType())
            updated = arith::SelectOp::create(nested, loc, hits, updated, arguments.back());
          linalg::YieldOp::create(nested, loc, updated ? updated : arguments.back());
        });
    if (failed(verifyScalarCode(made)))
      return failure();
    if (made.getBlock()->getTerminator()->getOperand(0).getType() != getElementTypeOrSelf(start))
      return write->emitOpError("has scalar code with another value than its accumulator"), failure();
    return made.getResult(0);
  }

  /// Whether the indices are those of the element that is computed.
  Value isElement(OpBuilder &nested, ValueRange indices, ValueRange loops) {
    Value all = arith::ConstantIntOp::create(nested, loc, 1, 1);
    for (auto [axis, index] : llvm::enumerate(indices)) {
      if (index == loops[axis])
        continue;
      Value same = arith::CmpIOp::create(nested, loc, arith::CmpIPredicate::eq, index, loops[axis]);
      all = nested.createOrFold<arith::AndIOp>(loc, all, same);
    }
    return all;
  }

  Value convertElements(Value tensor, function_ref<Value(OpBuilder &, Value)> convert) {
    Block scratch;
    OpBuilder trial(builder.getContext());
    trial.setInsertionPointToEnd(&scratch);
    Value element = scratch.addArgument(getElementTypeOrSelf(tensor), loc),
          converted = convert(trial, element);
    if (!converted || converted == element)
      return tensor;
    SmallVector<OpFoldResult> shape;
    for (int64_t axis = 0; axis < type.getRank(); ++axis)
      shape.push_back(getAsOpFoldResult(dimension(builder, loc, destination(), axis)));
    Value init = tensor::EmptyOp::create(builder, loc, shape, converted.getType());
    return elementwiseGeneric(builder, loc, tensor, init, [&](OpBuilder &nested, ValueRange scalars) {
      return convert(nested, scalars[0]);
    });
  }

  OrderedWriteOpInterface write;
  OpBuilder &builder;
  Location loc;
  SmallVector<ElementAccess> accesses;
  const ElementAccess &access; ///< to the destination
  RankedTensorType type;
  SmallVector<OpFoldResult> sizes;
  SmallVector<AffineExpr> newLoops; ///< of the linalg.generic, for each loop of the operation
  SmallVector<utils::IteratorType> iterators;
};

//===- Patterns -===//

struct LowerLoopNest : OpInterfaceRewritePattern<LoopNestOpInterface> {
  using OpInterfaceRewritePattern::OpInterfaceRewritePattern;

  LogicalResult matchAndRewrite(LoopNestOpInterface nest, PatternRewriter &rewriter) const override {
    FailureOr<SmallVector<Value>> values = NestLowering(nest, rewriter).lower();
    if (failed(values))
      return failure();
    rewriter.replaceOp(nest, *values);
    return success();
  }
};

struct LowerOrderedWrite : OpInterfaceRewritePattern<OrderedWriteOpInterface> {
  using OpInterfaceRewritePattern::OpInterfaceRewritePattern;

  LogicalResult matchAndRewrite(OrderedWriteOpInterface write, PatternRewriter &rewriter) const override {
    FailureOr<Value> value = WriteLowering(write, rewriter).lower();
    if (failed(value))
      return failure();
    rewriter.replaceOp(write, *value);
    return success();
  }
};
} // namespace

void ad::populateLoopNestsToLinalgPatterns(RewritePatternSet &patterns) {
  patterns.add<LowerLoopNest, LowerOrderedWrite>(patterns.getContext());
}
