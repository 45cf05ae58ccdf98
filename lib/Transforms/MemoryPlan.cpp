// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

#include "adjoint/Transforms/MemoryPlan.h"
#include "adjoint/Dialect/AD/Transforms/Stages.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::ad;

bool ad::isAlias(Operation *op) { return isa<ReshapeOp, BarrierOp, tensor::CastOp>(op); }

Value ad::stripAliases(Value value) {
  while (Operation *op = value.getDefiningOp()) {
    if (!isAlias(op))
      break;
    value = op->getOperand(cast<OpResult>(value).getResultNumber());
  }
  return value;
}

SmallVector<OpOperand *> ad::usesThroughAliases(Value value) {
  SmallVector<OpOperand *> uses;
  SmallVector<Value> names = {value};
  while (!names.empty())
    for (OpOperand &use : names.pop_back_val().getUses()) {
      if (isAlias(use.getOwner()))
        names.push_back(use.getOwner()->getResult(use.getOperandNumber()));
      else
        uses.push_back(&use);
    }
  return uses;
}

std::optional<int64_t> ad::donatedResult(func::FuncOp function, unsigned argument) {
  auto result = function.getArgAttrOfType<IntegerAttr>(argument, ADDialect::kDonatedAttr);
  return result ? std::optional(result.getInt()) : std::nullopt;
}

static bool isTensorSelect(Operation *op) {
  return isa_and_nonnull<arith::SelectOp>(op) && isTensor(op->getResult(0));
}

// A copy that a loop or a terminator makes of its operand. Null for the copy of a result of `arith.select`,
// which is an ordinary tensor.
static CopyOp moveOf(Value operand) {
  auto copy = operand.getDefiningOp<CopyOp>();
  return copy && !isTensorSelect(copy.getSource().getDefiningOp()) ? copy : CopyOp();
}

namespace mlir::ad {
/// Finds the buffer of each tensor, and checks that the plan is well-formed.
class MemoryPlanReader {
public:
  explicit MemoryPlanReader(MemoryPlan &plan) : plan(plan) {}
  LogicalResult read(func::FuncOp function);

private:
  void addBuffer(BufferOp op);
  LogicalResult read(Block &block);
  LogicalResult read(Operation &op);
  LogicalResult readLaunch(LaunchOp launch);
  LogicalResult readSelect(Operation &op);
  LogicalResult readFor(scf::ForOp loop);
  LogicalResult readIf(scf::IfOp branch);
  LogicalResult readWhile(scf::WhileOp loop);
  LogicalResult bindTo(Operation *op, ValueRange sources, ValueRange names);
  LogicalResult expectSame(Operation *op, ValueRange values, ValueRange targets);
  LogicalResult expectMoves(Operation *op, ValueRange operands);
  void bind(Value tensor, Value buffer) { plan.bufferOfTensor[tensor] = numbers.lookup(buffer); }
  static LogicalResult refuse(Operation *op) {
    return op->emitOpError("has no buffer in the memory plan; ") << howToReach(Stage::planned);
  }

  MemoryPlan &plan;
  DenseMap<Value, int64_t> numbers; // of results of ad.buffer
  llvm::SmallDenseSet<Operation *> moves;
};
} // namespace mlir::ad

void MemoryPlanReader::addBuffer(BufferOp op) {
  BufferAttr buffer = op.getAllocation();
  numbers[op.getResult()] = plan.buffers.size();
  plan.buffers.push_back(buffer);
  bool isArena = buffer.getStorage() == StorageKind::arena;
  if (!isArena && buffer.getStorage() != StorageKind::pool)
    return;
  if (buffer.getNumber() >= plan.getPoolCount())
    plan.pools.resize(buffer.getNumber() + 1);
  int64_t &bytes = plan.pools[buffer.getNumber()];
  bytes = std::max<int64_t>(bytes, llvm::alignTo(buffer.getEnd(), isArena ? kArenaAlignment : 1));
}

LogicalResult MemoryPlanReader::read(func::FuncOp function) {
  for (auto op : function.getOps<BufferOp>()) {
    addBuffer(op);
    if (op.getAllocation().getStorage() == StorageKind::argument)
      bind(function.getArgument(op.getAllocation().getNumber()), op.getResult());
  }
  if (failed(read(function.getBody().front())))
    return failure();
  WalkResult result = function.walk([&](CopyOp copy) {
    if (!moveOf(copy.getResult()) || moves.contains(copy))
      return WalkResult::advance();
    copy.emitOpError(
        "expected the loop or the terminator that reads the copy to follow it; only copies of what "
        "arith.select chooses may be elsewhere");
    return WalkResult::interrupt();
  });
  return failure(result.wasInterrupted());
}

LogicalResult MemoryPlanReader::read(Block &block) {
  return success(llvm::all_of(block, [&](Operation &op) { return succeeded(read(op)); }));
}

LogicalResult MemoryPlanReader::read(Operation &op) {
  if (auto launch = dyn_cast<LaunchOp>(op))
    return readLaunch(launch);
  if (auto loop = dyn_cast<scf::ForOp>(op))
    return readFor(loop);
  if (auto loop = dyn_cast<scf::WhileOp>(op))
    return readWhile(loop);
  if (auto branch = dyn_cast<scf::IfOp>(op))
    return readIf(branch);
  if (isTensorSelect(&op))
    return readSelect(op);
  if (auto feed = dyn_cast<FeedOp>(op)) {
    if (!feed.getDestination())
      return refuse(&op);
    bind(feed.getResult(), feed.getDestination());
  }
  if (auto copy = dyn_cast<CopyOp>(op)) {
    if (!numbers.contains(copy.getDestination()))
      return op.emitOpError("expected 'into' to be a direct result of ad.buffer");
    bind(copy.getResult(), copy.getDestination());
  }
  if (isAlias(&op))
    for (auto [result, operand] :
         llvm::zip_equal(op.getResults(), op.getOperands().take_front(op.getNumResults())))
      if (int64_t buffer = plan.bufferOf(operand); buffer >= 0)
        plan.bufferOfTensor[result] = buffer;
  return success();
}

LogicalResult MemoryPlanReader::readLaunch(LaunchOp launch) {
  if (launch.getDestinations().size() != launch.getNumResults())
    return refuse(launch);
  for (auto [result, buffer] : llvm::zip_equal(launch->getResults(), launch.getDestinations()))
    bind(result, buffer);
  return success();
}

// Until the copy, the result of `arith.select` may be in either of two buffers.
LogicalResult MemoryPlanReader::readSelect(Operation &op) {
  auto copy = op.hasOneUse() ? dyn_cast<CopyOp>(*op.getUsers().begin()) : CopyOp();
  if (!copy || copy->getPrevNode() != &op)
    return refuse(&op);
  bind(op.getResult(0), copy.getDestination());
  return success();
}

// Gives the names, which are arguments of a loop's region or results, the buffers of the tensors that they
// start as.
LogicalResult MemoryPlanReader::bindTo(Operation *op, ValueRange sources, ValueRange names) {
  for (auto [source, name] : llvm::zip_equal(sources, names)) {
    if (!isTensor(name))
      continue;
    int64_t buffer = plan.bufferOf(source);
    if (buffer < 0)
      return refuse(op);
    plan.bufferOfTensor[name] = buffer;
  }
  return expectMoves(op, sources);
}

LogicalResult MemoryPlanReader::expectSame(Operation *op, ValueRange values, ValueRange targets) {
  for (auto [number, value, target] : llvm::enumerate(values, targets))
    if (isTensor(target) && plan.bufferOf(value) != plan.bufferOf(target))
      return op->emitOpError("memory plan is wrong: expected operand ")
             << number << " in the buffer of what it is yielded to, by an ad.copy before this operation";
  return expectMoves(op, values);
}

// The lowering of a loop or branch makes the copies of its operands in the order of these, temporary ones
// first: they must be in that order right before it.
LogicalResult MemoryPlanReader::expectMoves(Operation *op, ValueRange operands) {
  SmallVector<CopyOp> temporary, expected;
  bool mayHaveTemporaries = isa<scf::YieldOp>(op) && isa<scf::ForOp>(op->getParentOp());
  for (Value operand : operands) {
    CopyOp move = moveOf(operand);
    if (!move)
      continue;
    if (CopyOp before = mayHaveTemporaries ? moveOf(move.getSource()) : CopyOp())
      temporary.push_back(before);
    expected.push_back(move);
  }
  temporary.append(expected);
  Operation *before = op->getPrevNode();
  for (CopyOp move : llvm::reverse(temporary)) {
    if (before != move || !move->hasOneUse())
      return move.emitOpError(
          "expected copies right before the operation that reads them, each for one operand, in "
          "the order of these and temporary copies first");
    moves.insert(move);
    before = before->getPrevNode();
  }
  return success();
}

LogicalResult MemoryPlanReader::readFor(scf::ForOp loop) {
  if (failed(bindTo(loop, loop.getInitArgs(), loop.getRegionIterArgs())) || failed(read(*loop.getBody())))
    return failure();
  for (auto [argument, result] : llvm::zip_equal(loop.getRegionIterArgs(), loop.getResults()))
    if (isTensor(result))
      plan.bufferOfTensor[result] = plan.bufferOf(argument);
  Operation *yield = loop.getBody()->getTerminator();
  return expectSame(yield, yield->getOperands(), loop.getRegionIterArgs());
}

LogicalResult MemoryPlanReader::readIf(scf::IfOp branch) {
  for (Region &region : branch->getRegions()) {
    if (region.empty())
      continue;
    Operation *yield = region.front().getTerminator();
    bool isFirst = &region == &branch.getThenRegion();
    if (failed(read(region.front())) ||
        failed(isFirst ? bindTo(yield, yield->getOperands(), branch.getResults())
                       : expectSame(yield, yield->getOperands(), branch.getResults())))
      return failure();
  }
  return success();
}

LogicalResult MemoryPlanReader::readWhile(scf::WhileOp loop) {
  scf::ConditionOp condition = loop.getConditionOp();
  if (failed(bindTo(loop, loop.getInits(), loop.getBeforeArguments())) ||
      failed(read(*loop.getBeforeBody())) ||
      failed(bindTo(condition, condition.getArgs(), loop.getAfterArguments())))
    return failure();
  for (auto [argument, result] : llvm::zip_equal(loop.getAfterArguments(), loop.getResults()))
    if (isTensor(result))
      plan.bufferOfTensor[result] = plan.bufferOf(argument);
  Operation *yield = loop.getYieldOp();
  return failed(read(*loop.getAfterBody()))
             ? failure()
             : expectSame(yield, yield->getOperands(), loop.getBeforeArguments());
}

SmallVector<int64_t> MemoryPlan::temporariesOf(scf::ForOp loop) const {
  return llvm::map_to_vector(loop.getYieldedValues(), [&](Value yielded) -> int64_t {
    CopyOp move = moveOf(yielded), before = move ? moveOf(move.getSource()) : CopyOp();
    return before ? bufferOf(before.getResult()) : -1;
  });
}

FailureOr<MemoryPlan> MemoryPlan::read(func::FuncOp function) {
  MemoryPlan plan;
  if (failed(MemoryPlanReader(plan).read(function)))
    return failure();
  return plan;
}
