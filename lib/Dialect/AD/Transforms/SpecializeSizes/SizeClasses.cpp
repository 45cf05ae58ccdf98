// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Sizes that a broadcast compares at run time are traced to the arguments of the function: through
// select(p == 1, q, p), the size of a broadcast, to p and to q, and through equal arithmetic on both sides to
// its operands.

#include "SizeClasses.h"
#include "adjoint/Dialect/AD/IR/ADBuilders.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "llvm/ADT/DenseSet.h"

using namespace mlir;
using namespace mlir::ad;

// Sizes that one comparison may lead to; programs have few, chains of broadcasts some.
static constexpr size_t kMaxSizes = 64;

// One of several values, all of which are the same if the values that they choose from are.
static bool choosesOneOf(Operation *op) {
  return isa_and_present<arith::SelectOp, arith::MaxSIOp, arith::MaxUIOp, arith::MinSIOp, arith::MinUIOp>(op);
}

static ValueRange choices(Operation *op) {
  return isa<arith::SelectOp>(op) ? op->getOperands().drop_front() : op->getOperands();
}

namespace {
// Erases what was built and is not used.
class BuiltOperations : public OpBuilder::Listener {
public:
  ~BuiltOperations() override {
    for (Operation *op : llvm::reverse(built))
      if (op->use_empty())
        op->erase();
  }
  void notifyOperationInserted(Operation *op, OpBuilder::InsertPoint) override { built.push_back(op); }

private:
  SmallVector<Operation *> built;
};

class Collector {
public:
  explicit Collector(func::FuncOp function)
      : entry(&function.front()), builder(function.getContext(), &built) {}

  // Whether it is known when the two sizes, which the program compares at run time, are the same.
  bool compare(Value lhs, int64_t lhsAxis, Value rhs, int64_t rhsAxis) {
    SizeOrigin left = sizes.originOfSize(lhs, lhsAxis), right = sizes.originOfSize(rhs, rhsAxis);
    size_t before = pairs.size();
    bool isKnown = left == right || join({left, right}, 0);
    if (!isKnown)
      pairs.truncate(before);
    return isKnown;
  }

  SmallVector<SizeClass> classes() const {
    llvm::IntEqClasses joined(known.size());
    for (auto [lhs, rhs] : pairs)
      joined.join(lhs, rhs);
    joined.compress();
    SmallVector<SizeClass> found(joined.getNumClasses());
    for (auto [number, size] : llvm::enumerate(known))
      found[joined[number]].push_back(size);
    llvm::erase_if(found, [](const SizeClass &members) { return members.size() < 2; });
    for (SizeClass &members : found)
      llvm::sort(members, isBefore);
    // Two numbers are never one.
    bool isPossible = llvm::all_of(found, [](const SizeClass &members) { return members[1].argument; });
    return isPossible ? found : SmallVector<SizeClass>();
  }

private:
  static bool isBefore(const EntrySize &lhs, const EntrySize &rhs) {
    auto key = [](const EntrySize &size) {
      return std::pair(size.argument ? static_cast<int64_t>(size.argument.getArgNumber()) : -1, size.number);
    };
    return key(lhs) < key(rhs);
  }

  unsigned numberOf(const EntrySize &size) {
    auto *found = llvm::find(known, size);
    if (found != known.end())
      return found - known.begin();
    known.push_back(size);
    return known.size() - 1;
  }

  // The dimension of an argument of the function, or the number, that the size is.
  std::optional<EntrySize> entrySize(const SizeOrigin &size) const {
    if (!size.value)
      return EntrySize{BlockArgument(), size.number};
    auto argument = dyn_cast<BlockArgument>(size.value);
    if (size.dimension < 0 || !argument || argument.getOwner() != entry)
      return std::nullopt;
    return EntrySize{argument, size.dimension};
  }

  // Adds the pairs that have to be equal for all of `pending` to be the same. False if it is not known which.
  bool join(SmallVector<SizeOrigin> pending, int depth) {
    SmallVector<EntrySize> found;
    SmallVector<Operation *> computed;
    DenseSet<Value> seen;
    while (!pending.empty()) {
      SizeOrigin size = reify(pending.pop_back_val());
      if (std::optional<EntrySize> known = entrySize(size)) {
        found.push_back(*known);
        continue;
      }
      Operation *op = size.value.getDefiningOp();
      bool isNew = seen.insert(size.value).second;
      if (size.dimension >= 0 || !op || seen.size() > kMaxSizes)
        return false;
      if (isNew && choosesOneOf(op))
        for (Value choice : choices(op))
          pending.push_back(sizes.originOfIndex(choice));
      else if (isNew)
        computed.push_back(op);
    }
    for (const EntrySize &size : found)
      pairs.emplace_back(numberOf(found.front()), numberOf(size));
    return found.empty() ? joinOperands(computed, depth) : computed.empty();
  }

  // The same operation on the same sizes has one result.
  bool joinOperands(ArrayRef<Operation *> computed, int depth) {
    static constexpr int kMaxDepth = 8;
    if (computed.empty() || depth == kMaxDepth)
      return false;
    Operation *first = computed.front();
    auto isLikeFirst = [&](Operation *op) {
      return op->getName() == first->getName() && op->getNumOperands() == first->getNumOperands() &&
             op->getAttrDictionary() == first->getAttrDictionary() && op->getNumRegions() == 0;
    };
    if (!isa<arith::ArithDialect>(first->getDialect()) || !llvm::all_of(computed, isLikeFirst))
      return false;
    for (unsigned i = 0; i < first->getNumOperands(); ++i) {
      SmallVector<SizeOrigin> operands;
      for (Operation *op : computed)
        operands.push_back(sizes.originOfIndex(op->getOperand(i)));
      if (!llvm::all_equal(operands) && !join(operands, depth + 1))
        return false;
    }
    return true;
  }

  // A size that an operation computes from those of its operands, such as that of a concatenation, as an
  // index value; other sizes as they are.
  SizeOrigin reify(const SizeOrigin &size) {
    auto op = size.value ? size.value.getDefiningOp<ReifyRankedShapedTypeOpInterface>() : nullptr;
    if (size.dimension < 0 || !op)
      return size;
    auto [known, isNew] = reified.try_emplace({size.value, size.dimension}, size);
    if (!isNew)
      return known->second;
    builder.setInsertionPointAfter(op);
    ReifiedRankedShapedTypeDims shapes;
    if (failed(op.reifyResultShapes(builder, shapes)))
      return size;
    OpFoldResult index = shapes[cast<OpResult>(size.value).getResultNumber()][size.dimension];
    SizeOrigin origin = sizes.originOfIndex(getValueOrCreateConstantIndexOp(builder, op.getLoc(), index));
    return reified[{size.value, size.dimension}] = origin;
  }

  Block *entry;
  BuiltOperations built;
  OpBuilder builder;
  SizeAnalysis sizes;
  DenseMap<std::pair<Value, int64_t>, SizeOrigin> reified;
  SmallVector<EntrySize> known;
  SmallVector<std::pair<unsigned, unsigned>> pairs;
};
} // namespace

// Compares the axes of `narrow` with those of `wide`, to which it is broadcast. A size that is 1 by the type
// is repeated in every run.
static bool compareAxes(Collector &collector, Value narrow, Value wide) {
  ArrayRef<int64_t> shape = cast<RankedTensorType>(narrow.getType()).getShape();
  int64_t lead = cast<RankedTensorType>(wide.getType()).getRank() - static_cast<int64_t>(shape.size());
  bool areKnown = true;
  for (auto [axis, size] : llvm::enumerate(shape))
    areKnown &= size == 1 || collector.compare(narrow, axis, wide, lead + axis);
  return areKnown;
}

// Compares the axes of the operands of an elementwise operation, which derivatives broadcast without an
// operation of its own.
static void compareOperands(Collector &collector, Operation *op) {
  int64_t rank = cast<RankedTensorType>(op->getResult(0).getType()).getRank();
  for (int64_t axis = 0; axis < rank; ++axis) {
    std::optional<std::pair<Value, int64_t>> first;
    for (Value operand : op->getOperands()) {
      auto type = dyn_cast<RankedTensorType>(operand.getType());
      int64_t own = type ? axis - (rank - type.getRank()) : -1;
      if (own < 0 || type.getDimSize(own) == 1)
        continue;
      if (first)
        collector.compare(first->first, first->second, operand, own);
      else
        first = {operand, own};
    }
  }
}

ComparedSizes ad::findComparedSizes(func::FuncOp function) {
  Collector collector(function);
  SmallVector<Operation *> operations;
  function.walk([&](Operation *op) {
    if (isa<BroadcastOp, SumToShapeOp>(op) || isElementwiseOp(op))
      operations.push_back(op);
  });
  ComparedSizes found;
  for (Operation *op : operations) {
    if (isElementwiseOp(op)) {
      compareOperands(collector, op);
      continue;
    }
    Value operand = op->getOperand(0), result = op->getResult(0);
    bool widens = isa<BroadcastOp>(op);
    if (compareAxes(collector, widens ? operand : result, widens ? result : operand))
      found.compared.push_back(op);
  }
  found.classes = collector.classes();
  return found;
}
