// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

#include "CheckPlan.h"
#include "Planner.h"
#include "Pools.h"
#include "adjoint/Dialect/AD/Transforms/Stages.h"
#include "adjoint/Transforms/HostProgram.h"
#include "adjoint/Transforms/MemoryPlan.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

#include <map>

using namespace mlir;
using namespace mlir::ad;

namespace {
/// What lies in one memory: the value at an offset, and where it ends.
struct Content {
  int64_t end;
  Value value;
  bool operator==(const Content &other) const { return end == other.end && value == other.value; }
};
using Memory = std::map<int64_t, Content>;
using State = std::map<std::pair<Home, int64_t>, Memory>;

class PlanChecker {
public:
  PlanChecker(func::FuncOp function, const MemoryPlan &plan, SymbolTableCollection &symbols)
      : function(function), plan(plan), symbols(symbols) {}

  LogicalResult run();

private:
  LogicalResult runBlock(Block &block);
  LogicalResult runOp(Operation &op);
  LogicalResult runLaunch(LaunchOp launch);
  LogicalResult runFor(scf::ForOp loop);
  LogicalResult runYield(scf::ForOp loop);
  LogicalResult runWhile(scf::WhileOp loop);
  LogicalResult runIf(scf::IfOp branch);
  LogicalResult runReturn(Operation *op);

  LogicalResult checkBuffer(Operation *op, Value value, int64_t buffer);
  LogicalResult bind(Operation *op, Value value, StringRef attribute, unsigned number);
  LogicalResult read(Operation *op, Value value);
  LogicalResult copy(Operation *op, Value source, Value target);
  LogicalResult moveTo(Operation *from, ValueRange values, ValueRange targets);
  void write(int64_t buffer, Value value);
  bool holds(int64_t buffer, Value value) const;
  bool overlap(int64_t a, int64_t b) const;
  LogicalResult checkLoopReads(Operation *loop);
  static InFlightDiagnostic wrong(Operation *op) { return op->emitOpError("memory plan is wrong: "); }

  func::FuncOp function;
  const MemoryPlan &plan;
  SymbolTableCollection &symbols;
  PoolAnalysis pools;
  State state;
  DenseMap<Value, int64_t> bufferOf; // absent: memory of its own
  DenseMap<Value, Value> contentOf;  // the value that names what lies there, of aliases and results of loops
  DenseMap<int64_t, int64_t> unitOf; // what tensors of a pool or in the place of an argument have in common
  /// For each loop around the current operation, what it has read that comes from outside of it.
  SmallVector<std::pair<Operation *, DenseMap<Value, Operation *>>> loops;
};
} // namespace

void PlanChecker::write(int64_t buffer, Value value) {
  const PlannedPlace &place = plan.places[buffer];
  Memory &memory = state[{place.home, place.number}];
  int64_t begin = place.offset, end = begin + std::max<int64_t>(place.bytes, 1);
  auto it = memory.lower_bound(begin);
  if (it != memory.begin() && std::prev(it)->second.end > begin)
    --it;
  while (it != memory.end() && it->first < end)
    it = memory.erase(it);
  memory[begin] = {end, value};
}

bool PlanChecker::holds(int64_t buffer, Value value) const {
  const PlannedPlace &place = plan.places[buffer];
  auto memory = state.find({place.home, place.number});
  if (memory == state.end())
    return false;
  auto it = memory->second.find(place.offset);
  return it != memory->second.end() && it->second.value == value;
}

bool PlanChecker::overlap(int64_t a, int64_t b) const {
  const PlannedPlace &p = plan.places[a], &q = plan.places[b];
  return p.home == q.home && p.number == q.number && p.offset < q.offset + std::max<int64_t>(q.bytes, 1) &&
         q.offset < p.offset + std::max<int64_t>(p.bytes, 1);
}

// Whether the value fits into the buffer in every run.
LogicalResult PlanChecker::checkBuffer(Operation *op, Value value, int64_t buffer) {
  if (buffer < 0 || buffer >= static_cast<int64_t>(plan.places.size()))
    return wrong(op) << "a tensor has no buffer";
  const PlannedPlace &place = plan.places[buffer];
  if (place.bytes < PoolAnalysis::bytesOf(cast<RankedTensorType>(value.getType())))
    return wrong(op) << "a buffer is smaller than its tensor";
  int64_t unit = place.home == Home::pool       ? place.number
                 : place.home == Home::argument ? -1 - place.number
                                                : 0;
  int64_t known = unit == 0 ? 0 : unitOf.try_emplace(unit, pools.poolOf(value)).first->second;
  if (known != pools.poolOf(value))
    return wrong(op) << "sizes in one place may differ by more than a factor";
  return success();
}

// The buffer that an attribute gives the value.
LogicalResult PlanChecker::bind(Operation *op, Value value, StringRef attribute, unsigned number) {
  auto buffers = op->getAttrOfType<DenseI64ArrayAttr>(attribute);
  int64_t buffer = buffers && number < buffers.size() ? buffers[number] : -1;
  if (failed(checkBuffer(op, value, buffer)))
    return failure();
  bufferOf[value] = buffer;
  contentOf[value] = value;
  return success();
}

LogicalResult PlanChecker::read(Operation *op, Value value) {
  if (!isTensor(value) || !bufferOf.count(value))
    return success();
  if (!holds(bufferOf.lookup(value), contentOf.lookup(value)))
    return wrong(op) << "an operand was overwritten before it is read here";
  // Another name that a turn gives does not make what it names younger.
  Operation *origin = contentOf.lookup(value).getParentRegion()->getParentOp();
  for (auto &[loop, reads] : loops)
    if (!loop->isAncestor(origin))
      reads[value] = op;
  return success();
}

// What a loop reads from outside must still be there in its next turn.
LogicalResult PlanChecker::checkLoopReads(Operation *loop) {
  auto reads = loops.pop_back_val().second;
  for (auto [value, reader] : reads)
    if (!holds(bufferOf.lookup(value), contentOf.lookup(value)))
      return wrong(reader) << "an operand is overwritten before the next turn of the loop reads it";
  return success();
}

// Data moves unless both are one buffer.
LogicalResult PlanChecker::copy(Operation *op, Value source, Value target) {
  if (failed(read(op, source)))
    return failure();
  int64_t from = bufferOf.lookup_or(source, -1), to = bufferOf.lookup(target);
  if (from >= 0 && from != to && overlap(from, to))
    return wrong(op) << "a copy overlaps what it copies";
  write(to, contentOf.lookup(target));
  return success();
}

// In their order. A tensor that stays where it is only gets another name, last, since others may be copies of
// it.
LogicalResult PlanChecker::moveTo(Operation *from, ValueRange values, ValueRange targets) {
  for (bool stays : {false, true})
    for (auto [value, target] : llvm::zip_equal(values, targets))
      if (isTensor(value) && (bufferOf.lookup_or(value, -1) == bufferOf.lookup(target)) == stays &&
          failed(copy(from, value, target)))
        return failure();
  return success();
}

LogicalResult PlanChecker::runLaunch(LaunchOp launch) {
  for (Value input : launch.getInputs())
    if (failed(read(launch, input)))
      return failure();
  auto kernel = symbols.lookupNearestSymbolFrom<KernelOp>(launch, launch.getKernelAttr());
  SmallVector<int64_t> written;
  for (OpResult result : launch->getResults()) {
    if (failed(bind(launch, result, "ad.buffer", result.getResultNumber())))
      return failure();
    int64_t buffer = bufferOf.lookup(result);
    if (llvm::any_of(written, [&](int64_t other) { return overlap(buffer, other); }))
      return wrong(launch) << "two results of a kernel overlap";
    written.push_back(buffer);
    for (auto [i, input] : llvm::enumerate(launch.getInputs())) {
      int64_t source = isTensor(input) ? bufferOf.lookup_or(input, -1) : -1;
      if (source < 0 || !overlap(buffer, source))
        continue;
      if (buffer != source || !kernel || !mayWriteOver(kernel, i, result.getResultNumber()))
        return wrong(launch) << "the kernel overwrites operand " << i << ", which it reads elsewhere";
    }
  }
  for (OpResult result : launch->getResults())
    write(bufferOf.lookup(result), result);
  return success();
}

LogicalResult PlanChecker::runFor(scf::ForOp loop) {
  Block &body = *loop.getBody();
  SmallVector<std::pair<Value, Value>> inPlace;
  for (auto [i, init, argument, result] :
       llvm::enumerate(loop.getInitArgs(), loop.getRegionIterArgs(), loop.getResults())) {
    if (!isTensor(argument))
      continue;
    if (failed(bind(loop, argument, "ad.buffer", i)))
      return failure();
    bufferOf[result] = bufferOf.lookup(argument);
    contentOf[result] = argument;
    // Where nothing moves the start keeps its name until every carry has been given its own.
    if (bufferOf.lookup_or(init, -1) == bufferOf.lookup(argument))
      inPlace.emplace_back(init, argument);
    else if (failed(copy(loop, init, argument)))
      return failure();
  }
  for (auto [init, argument] : inPlace)
    if (failed(read(loop, init)))
      return failure();
  for (auto [init, argument] : inPlace)
    write(bufferOf.lookup(argument), argument);
  loops.emplace_back(loop, DenseMap<Value, Operation *>());
  if (failed(runBlock(body)))
    return failure();
  return failed(runYield(loop)) ? failure() : checkLoopReads(loop);
}

// First what would be overwritten moves aside, then everything to its place.
LogicalResult PlanChecker::runYield(scf::ForOp loop) {
  auto swaps = loop->getAttrOfType<DenseI64ArrayAttr>("ad.swap");
  auto swapOf = [&](size_t i) { return swaps && static_cast<int64_t>(i) < swaps.size() ? swaps[i] : -1; };
  Operation *yield = loop.getBody()->getTerminator();
  SmallVector<std::pair<Value, int64_t>> sources;
  for (auto [i, value] : llvm::enumerate(yield->getOperands())) {
    int64_t source = isTensor(value) ? bufferOf.lookup_or(value, -1) : -1;
    if (failed(read(yield, value)))
      return failure();
    if (isTensor(value) && swapOf(i) >= 0) {
      if (failed(checkBuffer(yield, value, swapOf(i))))
        return failure();
      if (source >= 0 && overlap(source, swapOf(i)))
        return wrong(yield) << "a copy overlaps what it copies";
      write(source = swapOf(i), contentOf.lookup_or(value, value));
    }
    sources.emplace_back(value, source);
  }
  // Old and new values of a carry bear one name, so that names do not say which of the two lies there.
  SmallVector<int64_t> written;
  for (auto [pair, argument] : llvm::zip_equal(sources, loop.getRegionIterArgs())) {
    Value value = pair.first;
    int64_t source = pair.second;
    if (!isTensor(value))
      continue;
    int64_t target = bufferOf.lookup(argument);
    bool moves = source >= 0 && source != target;
    if (source >= 0 && !holds(source, contentOf.lookup_or(value, value)))
      return wrong(yield) << "a yielded tensor is overwritten before it reaches its place";
    if (moves && llvm::any_of(written, [&](int64_t other) { return overlap(source, other); }))
      return wrong(yield) << "a yielded tensor is overwritten before it reaches its place";
    if (moves && overlap(source, target))
      return wrong(yield) << "a copy overlaps what it copies";
    write(target, argument);
    written.push_back(target);
  }
  return success();
}

LogicalResult PlanChecker::runWhile(scf::WhileOp loop) {
  for (auto [i, init, argument] : llvm::enumerate(loop.getInits(), loop.getBeforeArguments()))
    if (isTensor(argument) &&
        (failed(bind(loop, argument, "ad.buffer_before", i)) || failed(copy(loop, init, argument))))
      return failure();
  for (auto [i, argument, result] : llvm::enumerate(loop.getAfterArguments(), loop.getResults())) {
    if (!isTensor(argument))
      continue;
    if (failed(bind(loop, argument, "ad.buffer", i)))
      return failure();
    bufferOf[result] = bufferOf.lookup(argument);
    contentOf[result] = argument;
  }
  loops.emplace_back(loop, DenseMap<Value, Operation *>());
  scf::ConditionOp condition = loop.getConditionOp();
  if (failed(runBlock(*loop.getBeforeBody())) ||
      failed(moveTo(condition, condition.getArgs(), loop.getAfterArguments())) ||
      failed(runBlock(*loop.getAfterBody())) ||
      failed(moveTo(loop.getYieldOp(), loop.getYieldOp().getOperands(), loop.getBeforeArguments())) ||
      failed(checkLoopReads(loop)))
    return failure();
  // The loop ends behind its condition.
  for (Value argument : loop.getAfterArguments())
    if (isTensor(argument))
      write(bufferOf.lookup(argument), argument);
  return success();
}

LogicalResult PlanChecker::runIf(scf::IfOp branch) {
  for (OpResult result : branch->getResults())
    if (isTensor(result) && failed(bind(branch, result, "ad.buffer", result.getResultNumber())))
      return failure();
  State start = state, otherwise = state;
  for (Region &region : branch->getRegions()) {
    state = start;
    if (!region.empty()) {
      if (failed(runBlock(region.front())))
        return failure();
      Operation *yield = region.front().getTerminator();
      if (failed(moveTo(yield, yield->getOperands(), branch.getResults())))
        return failure();
    }
    if (&region == &branch.getThenRegion())
      otherwise = state;
  }
  // What both sides agree on is known behind the branch.
  for (auto &[home, memory] : state)
    for (auto it = memory.begin(); it != memory.end();) {
      auto other = otherwise[home].find(it->first);
      bool same = other != otherwise[home].end() && other->second == it->second;
      it = same ? std::next(it) : memory.erase(it);
    }
  return success();
}

LogicalResult PlanChecker::runReturn(Operation *op) {
  for (Value operand : op->getOperands())
    if (failed(read(op, operand)))
      return failure();
  for (auto [number, place] : llvm::enumerate(plan.places))
    if (place.home == Home::result &&
        bufferOf.lookup_or(op->getOperand(place.number), -1) != static_cast<int64_t>(number))
      return wrong(op) << "result " << place.number << " has the place of another value";
  return success();
}

LogicalResult PlanChecker::runOp(Operation &op) {
  if (auto launch = dyn_cast<LaunchOp>(op))
    return runLaunch(launch);
  if (auto loop = dyn_cast<scf::ForOp>(op))
    return runFor(loop);
  if (auto loop = dyn_cast<scf::WhileOp>(op))
    return runWhile(loop);
  if (auto branch = dyn_cast<scf::IfOp>(op))
    return runIf(branch);
  if (isAlias(&op)) {
    for (auto [result, operand] : llvm::zip(op.getResults(), op.getOperands()))
      if (bufferOf.count(operand)) {
        bufferOf[result] = bufferOf.lookup(operand);
        contentOf[result] = contentOf.lookup(operand);
      }
    return success();
  }
  if (isa<tensor::DimOp>(op))
    return success();
  for (Value operand : op.getOperands())
    if (failed(read(&op, operand)))
      return failure();
  if (!isa<FeedOp, arith::SelectOp>(op) || !isTensor(op.getResult(0)))
    return success();
  if (failed(bind(&op, op.getResult(0), "ad.buffer", 0)))
    return failure();
  int64_t buffer = bufferOf.lookup(op.getResult(0));
  for (Value operand : op.getOperands())
    if (isTensor(operand) && bufferOf.count(operand) && overlap(bufferOf.lookup(operand), buffer))
      return wrong(&op) << "a copy overlaps what it copies";
  write(buffer, op.getResult(0));
  return success();
}

LogicalResult PlanChecker::runBlock(Block &block) {
  for (Operation &op : block.without_terminator())
    if (failed(runOp(op)))
      return failure();
  return success();
}

LogicalResult PlanChecker::run() {
  for (auto [number, place] : llvm::enumerate(plan.places)) {
    if (place.home != Home::argument)
      continue;
    BlockArgument argument = function.getArgument(place.number);
    if (!function.getArgAttr(place.number, ADDialect::kDonatedAttr))
      return wrong(function) << "argument " << place.number << " is written, but not donated";
    bufferOf[argument] = number;
    contentOf[argument] = argument;
    unitOf[-1 - place.number] = pools.poolOf(argument);
    write(number, argument);
  }
  Block &body = function.getBody().front();
  return failed(runBlock(body)) ? failure() : runReturn(body.getTerminator());
}

LogicalResult ad::checkMemoryPlan(func::FuncOp function, SymbolTableCollection &symbols) {
  std::optional<MemoryPlan> plan = MemoryPlan::read(function);
  if (!plan)
    return function.emitOpError("has no valid memory plan; ") << howToReach(Stage::planned);
  if (failed(verifyHostProgram(function)))
    return failure();
  return PlanChecker(function, *plan, symbols).run();
}
