// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// A boundary is the place between two adjacent axes of a value. Operations say which boundaries are one, and
// which have to stay; all others vanish.

#include "MergeRuns.h"
#include "../../Kernel/Outputs/InsertEmitter.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/EquivalenceClasses.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;
using namespace mlir::ad;

static RankedTensorType tensorOf(Value value) { return cast<RankedTensorType>(value.getType()); }

namespace {
class RunMerger {
public:
  explicit RunMerger(KernelOp kernel) : kernel(kernel), body(kernel.getBody().front()) {}
  void run();

private:
  using Boundary = std::pair<Value, int64_t>; // between an axis and the next one
  using Pair = std::pair<unsigned, unsigned>; // of loops that an operand has next to each other

  bool collect();
  bool collect(Operation &op);
  void collectSlice(OffsetSizeAndStrideOpInterface slice, Value whole, Value part);
  void collectLoops(linalg::GenericOp generic);
  bool collectResults();

  unsigned numberOf(Boundary boundary);
  void join(Boundary a, Boundary b) { classes.unionSets(numberOf(a), numberOf(b)); }
  void joinAll(Value a, Value b);
  void keep(Boundary boundary) { classes.unionSets(kept, numberOf(boundary)); }
  bool vanishes(Boundary boundary) { return !classes.isEquivalent(kept, numberOf(boundary)); }

  void rewrite(Operation &op);
  void rewriteLoops(linalg::GenericOp generic);
  void rewriteSlice(Operation *op, OffsetSizeAndStrideOpInterface slice, const llvm::BitVector &joined);
  llvm::BitVector joinedAxes(Value value);
  void mergeType(Value value);

  KernelOp kernel;
  Block &body;
  DenseMap<Boundary, unsigned> numbers;
  llvm::EquivalenceClasses<unsigned> classes;
  static constexpr unsigned kept = 0; // the class of boundaries that stay
};
} // namespace

unsigned RunMerger::numberOf(Boundary boundary) {
  unsigned number = numbers.try_emplace(boundary, numbers.size() + 1).first->second;
  classes.insert(number);
  return number;
}

void RunMerger::joinAll(Value a, Value b) {
  for (int64_t axis = 0; axis + 1 < tensorOf(a).getRank(); ++axis)
    join({a, axis}, {b, axis});
}

//===- What operations say ------------------------------------------------===//

// Elements after the first of these axes follow each other in both tensors if the part has all of the second.
void RunMerger::collectSlice(OffsetSizeAndStrideOpInterface slice, Value whole, Value part) {
  joinAll(whole, part);
  for (int64_t axis = 0; axis + 1 < tensorOf(whole).getRank(); ++axis)
    if (!codegen::fills(slice, tensorOf(part), tensorOf(whole), axis + 1) ||
        !isConstantIntValue(slice.getMixedStrides()[axis], 1) ||
        !getConstantIntValue(slice.getMixedOffsets()[axis]))
      keep({whole, axis});
}

// The loop that is the index along the axis; none where it is a constant.
static std::optional<unsigned> loopOf(AffineExpr expr) {
  auto dim = dyn_cast<AffineDimExpr>(expr);
  return dim ? std::optional(dim.getPosition()) : std::nullopt;
}

static bool usesLoop(AffineMap map, unsigned loop) {
  return llvm::any_of(map.getResults(), [&](AffineExpr expr) { return expr.isFunctionOfDim(loop); });
}

void RunMerger::collectLoops(linalg::GenericOp generic) {
  llvm::MapVector<Pair, SmallVector<Boundary>> boundaries;
  for (OpOperand &operand : generic->getOpOperands()) {
    AffineMap map = generic.getMatchingIndexingMap(&operand);
    for (int64_t axis = 0; axis + 1 < int64_t(map.getNumResults()); ++axis) {
      std::optional<unsigned> first = loopOf(map.getResult(axis)), second = loopOf(map.getResult(axis + 1));
      if (first && second && *first != *second)
        boundaries[{*first, *second}].push_back({operand.get(), axis});
      else
        keep({operand.get(), axis});
    }
  }
  for (auto &[pair, places] : boundaries) {
    // An operand has the pair as often as each of its loops: once, or not at all.
    bool isRun = llvm::all_of(generic.getIndexingMapsArray(), [&, &pair = pair](AffineMap map) {
      if (!usesLoop(map, pair.first) && !usesLoop(map, pair.second))
        return true;
      int64_t count = 0, firsts = 0, seconds = 0;
      for (auto [axis, expr] : llvm::enumerate(map.getResults())) {
        firsts += expr.isFunctionOfDim(pair.first);
        seconds += expr.isFunctionOfDim(pair.second);
        count += axis > 0 && loopOf(expr) == pair.second && loopOf(map.getResult(axis - 1)) == pair.first;
      }
      return count == 1 && firsts == 1 && seconds == 1;
    });
    for (Boundary place : places) {
      join(places.front(), place);
      if (!isRun)
        keep(place);
    }
  }
  for (auto [result, init] : llvm::zip_equal(generic.getResults(), generic.getDpsInits()))
    joinAll(result, init);
}

static bool isPlainLoop(linalg::GenericOp generic) {
  return generic.getNumReductionLoops() == 0 && generic.getOps<linalg::IndexOp>().empty() &&
         generic.getOps<tensor::ExtractOp>().empty();
}

bool RunMerger::collect(Operation &op) {
  if (auto generic = dyn_cast<linalg::GenericOp>(op)) {
    if (!isPlainLoop(generic))
      return false;
    collectLoops(generic);
    return true;
  }
  if (auto fill = dyn_cast<linalg::FillOp>(op)) {
    joinAll(fill.getResult(0), fill.getOutputs()[0]);
    return true;
  }
  if (auto slice = dyn_cast<tensor::ExtractSliceOp>(op)) {
    if (slice.getSourceType().getRank() != slice.getType().getRank())
      return false;
    collectSlice(slice, slice.getSource(), slice.getResult());
    return true;
  }
  if (auto insert = dyn_cast<tensor::InsertSliceOp>(op)) {
    if (insert.getSourceType().getRank() != insert.getDestType().getRank())
      return false;
    collectSlice(insert, insert.getDest(), insert.getSource());
    joinAll(insert.getDest(), insert.getResult());
    return true;
  }
  auto isTensor = llvm::IsaPred<RankedTensorType>;
  return isa<tensor::EmptyOp>(op) ||
         (llvm::none_of(op.getOperandTypes(), isTensor) && llvm::none_of(op.getResultTypes(), isTensor));
}

// The iteration space of the kernel is the shape of its results.
bool RunMerger::collectResults() {
  ValueRange results = body.getTerminator()->getOperands();
  for (Value result : results) {
    if (tensorOf(result).getShape() != tensorOf(results.front()).getShape())
      return false;
    joinAll(result, results.front());
  }
  return true;
}

bool RunMerger::collect() {
  classes.insert(kept);
  auto isStatic = [](Type type) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    return !tensor || (tensor.hasStaticShape() && tensor.getNumElements() > 0);
  };
  return llvm::all_of(kernel.getArgumentTypes(), isStatic) &&
         llvm::all_of(kernel.getResultTypes(), isStatic) && collectResults() &&
         llvm::all_of(body.without_terminator(), [&](Operation &op) {
           return llvm::all_of(op.getResultTypes(), isStatic) && collect(op);
         });
}

//===- Fewer axes ---------------------------------------------------------===//

// The axes that become one with the axis before.
llvm::BitVector RunMerger::joinedAxes(Value value) {
  llvm::BitVector joined(tensorOf(value).getRank());
  for (int64_t axis = 1; axis < tensorOf(value).getRank(); ++axis)
    if (vanishes({value, axis - 1}))
      joined.set(axis);
  return joined;
}

static SmallVector<int64_t> products(ArrayRef<int64_t> sizes, const llvm::BitVector &joined) {
  SmallVector<int64_t> merged;
  for (auto [axis, size] : llvm::enumerate(sizes)) {
    if (joined[axis])
      merged.back() *= size;
    else
      merged.push_back(size);
  }
  return merged;
}

void RunMerger::mergeType(Value value) {
  if (auto type = dyn_cast<RankedTensorType>(value.getType()))
    value.setType(type.clone(products(type.getShape(), joinedAxes(value))));
}

// Of the first of the axes that become one the offset counts, in elements of the others, which are whole.
void RunMerger::rewriteSlice(Operation *op, OffsetSizeAndStrideOpInterface slice,
                             const llvm::BitVector &joined) {
  SmallVector<int64_t> sizes(slice.getStaticSizes()), offsets, strides;
  for (auto [axis, size] : llvm::enumerate(sizes)) {
    if (joined[axis]) {
      offsets.back() *= size;
      continue;
    }
    offsets.push_back(slice.getStaticOffsets()[axis]);
    strides.push_back(slice.getStaticStrides()[axis]);
  }
  Builder builder(op);
  op->setAttr("static_offsets", builder.getDenseI64ArrayAttr(offsets));
  op->setAttr("static_sizes", builder.getDenseI64ArrayAttr(products(sizes, joined)));
  op->setAttr("static_strides", builder.getDenseI64ArrayAttr(strides));
}

void RunMerger::rewriteLoops(linalg::GenericOp generic) {
  SmallVector<AffineMap> maps = generic.getIndexingMapsArray();
  llvm::BitVector joined(generic.getNumLoops());
  SmallVector<llvm::BitVector> axes;
  for (auto [operand, map] : llvm::zip_equal(generic->getOpOperands(), maps)) {
    axes.push_back(joinedAxes(operand.get()));
    for (unsigned axis : axes.back().set_bits())
      joined.set(*loopOf(map.getResult(axis)));
  }
  MLIRContext *context = generic.getContext();
  SmallVector<AffineExpr> loops;
  unsigned count = 0;
  for (unsigned loop = 0; loop < generic.getNumLoops(); ++loop)
    loops.push_back(joined[loop] ? getAffineConstantExpr(0, context) : getAffineDimExpr(count++, context));
  for (auto [map, joinedOfOperand] : llvm::zip_equal(maps, axes)) {
    SmallVector<AffineExpr> exprs;
    for (auto [axis, expr] : llvm::enumerate(map.getResults()))
      if (!joinedOfOperand[axis])
        exprs.push_back(expr.replaceDims(loops));
    map = AffineMap::get(count, 0, exprs, context);
  }
  Builder builder(context);
  generic.setIndexingMapsAttr(builder.getAffineMapArrayAttr(maps));
  SmallVector<Attribute> parallel(count,
                                  linalg::IteratorTypeAttr::get(context, utils::IteratorType::parallel));
  generic.setIteratorTypesAttr(builder.getArrayAttr(parallel));
}

void RunMerger::rewrite(Operation &op) {
  if (auto generic = dyn_cast<linalg::GenericOp>(op))
    rewriteLoops(generic);
  else if (auto slice = dyn_cast<tensor::ExtractSliceOp>(op))
    rewriteSlice(slice, slice, joinedAxes(slice.getSource()));
  else if (auto insert = dyn_cast<tensor::InsertSliceOp>(op))
    rewriteSlice(insert, insert, joinedAxes(insert.getDest()));
}

// Operations read the types of their operands, so that new types come last.
void RunMerger::run() {
  if (!collect())
    return;
  for (Operation &op : body.without_terminator())
    rewrite(op);
  llvm::for_each(body.getArguments(), [&](Value argument) { mergeType(argument); });
  for (Operation &op : body.without_terminator())
    llvm::for_each(op.getResults(), [&](Value result) { mergeType(result); });
  kernel.setType(FunctionType::get(kernel.getContext(), body.getArgumentTypes(),
                                   body.getTerminator()->getOperandTypes()));
}

void device::mergeRuns(KernelOp kernel) { RunMerger(kernel).run(); }
