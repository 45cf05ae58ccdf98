// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

#include "VerifyMemoryPlan.h"
#include "Pools.h"
#include "adjoint/Dialect/AD/IR/ADBuilders.h"
#include "adjoint/Transforms/HostProgram.h"
#include "adjoint/Transforms/MemoryPlan.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

#include <map>

using namespace mlir;
using namespace mlir::ad;

namespace {
/// The value that was written at an offset, and the offset after its last byte.
struct Content {
  int64_t end;
  Value value;
  bool operator==(const Content &other) const { return end == other.end && value == other.value; }
};

/// The contents of all memory at one point of the program.
class MemoryState {
public:
  /// Returns the values that the buffer no longer has.
  SmallVector<Value> write(BufferAttr buffer, Value value);
  bool holds(BufferAttr buffer, Value value) const;
  /// Forgets contents that the other state does not hold too.
  void intersect(const MemoryState &other);

private:
  using Storage = std::pair<StorageKind, int64_t>;
  static Storage storageOf(BufferAttr buffer) { return {buffer.getStorage(), buffer.getNumber()}; }
  std::map<Storage, std::map<int64_t, Content>> contents; // by offset
};

class PlanVerifier {
public:
  PlanVerifier(func::FuncOp function, const MemoryPlan &plan, SymbolTableCollection &symbols,
               std::optional<PlanConflict> *conflict)
      : function(function), plan(plan), symbols(symbols), conflict(conflict) {}

  LogicalResult run();

private:
  LogicalResult runBlock(Block &block);
  LogicalResult runOp(Operation &op);
  LogicalResult runLaunch(LaunchOp launch);
  LogicalResult runCopy(CopyOp copy);
  LogicalResult runFor(scf::ForOp loop);
  LogicalResult runWhile(scf::WhileOp loop);
  LogicalResult runIf(scf::IfOp branch);
  LogicalResult runReturn(Operation *op);

  LogicalResult verifyAlignment();
  LogicalResult verifyBuffer(Operation *op, Value value);
  LogicalResult verifyOwnMemory(Operation *op, Value value);
  LogicalResult verifyShapesOfResults(Operation *op, ValueRange values);
  bool hasOwnMemory(Value value);
  LogicalResult define(Operation *op, Value value);
  LogicalResult read(Operation *op, Value value);
  LogicalResult readAll(Operation *op, ValueRange values);
  LogicalResult rename(Operation *op, ValueRange values, ValueRange names);
  LogicalResult verifyNextIteration(Operation *loop);
  void forward(Value value, Value result);
  void write(Value value) {
    for (Value lost : state.write(bufferOf(value), value))
      overwriters[lost] = value;
  }
  /// Fails, and names the operations that compute, overwrite and read the value.
  LogicalResult overwritten(Operation *op, Value value, StringRef message);
  LogicalResult overwritesOperand(LaunchOp launch, Value result, unsigned operand);
  Location placeOf(Value value);
  Location placeOfRead(Operation *op, Value value);
  BufferAttr bufferOf(Value value) const { return plan.getBuffer(plan.bufferOf(value)); }
  bool isPlanned(Value value) const { return isTensor(value) && plan.bufferOf(value) >= 0; }
  bool isIntact(Value value) const { return state.holds(bufferOf(value), contentOf.lookup(value)); }
  static InFlightDiagnostic wrong(Operation *op) { return op->emitOpError("memory plan is wrong: "); }

  func::FuncOp function;
  const MemoryPlan &plan;
  SymbolTableCollection &symbols;
  std::optional<PlanConflict> *conflict;
  PoolAnalysis pools;
  MemoryState state;
  DenseMap<Value, Value> contentOf;   // the value that names the content, for aliases and results of loops
  DenseMap<Value, Value> overwriters; // of contents: what was last written over them
  /// By pool, or argument as a negative number: the pool analysis' number for the tensors in it.
  DenseMap<int64_t, int64_t> unitOf;
  /// For each loop around the current operation, the values from outside that it has read.
  SmallVector<std::pair<Operation *, DenseMap<Value, Operation *>>> loops;
};
} // namespace

SmallVector<Value> MemoryState::write(BufferAttr buffer, Value value) {
  SmallVector<Value> lost;
  std::map<int64_t, Content> &memory = contents[storageOf(buffer)];
  int64_t begin = buffer.getOffset(), end = buffer.getEnd();
  auto it = memory.lower_bound(begin);
  if (it != memory.begin() && std::prev(it)->second.end > begin)
    --it;
  while (it != memory.end() && it->first < end) {
    lost.push_back(it->second.value);
    it = memory.erase(it);
  }
  memory[begin] = {end, value};
  return lost;
}

bool MemoryState::holds(BufferAttr buffer, Value value) const {
  auto memory = contents.find(storageOf(buffer));
  if (memory == contents.end())
    return false;
  auto it = memory->second.find(buffer.getOffset());
  return it != memory->second.end() && it->second.value == value;
}

void MemoryState::intersect(const MemoryState &other) {
  for (auto &[storage, memory] : contents) {
    auto theirs = other.contents.find(storage);
    for (auto it = memory.begin(); it != memory.end();) {
      bool isKnown = theirs != other.contents.end() && theirs->second.count(it->first) > 0 &&
                     theirs->second.at(it->first) == it->second;
      it = isKnown ? std::next(it) : memory.erase(it);
    }
  }
}

// Whether the value is in the memory of a result of dynamic shape.
bool PlanVerifier::hasOwnMemory(Value value) {
  return isPlanned(value) && bufferOf(value).getStorage() == StorageKind::result &&
         !cast<RankedTensorType>(function.getResultTypes()[bufferOf(value).getNumber()]).hasStaticShape();
}

// What is returned, or yielded by a branch, must have the shape with which its memory was allocated: it may
// be an alias of what was written there.
LogicalResult PlanVerifier::verifyShapesOfResults(Operation *op, ValueRange values) {
  for (Value value : values)
    if (hasOwnMemory(value) && !haveSameShape(value, contentOf.lookup(value)))
      return wrong(op) << "a result has another shape than the value in its memory";
  return success();
}

// The memory of a result of dynamic shape is allocated with the shape of the value, where this is written.
LogicalResult PlanVerifier::verifyOwnMemory(Operation *op, Value value) {
  auto type = cast<RankedTensorType>(value.getType());
  auto result = cast<RankedTensorType>(function.getResultTypes()[bufferOf(value).getNumber()]);
  if (type.getElementType() != result.getElementType() ||
      failed(verifyCompatibleShape(type.getShape(), result.getShape())))
    return wrong(op) << "expected " << result << " in the memory of a result, but got " << type;
  if (isa<LoopLikeOpInterface>(op) || op->getParentOfType<LoopLikeOpInterface>())
    return wrong(op)
           << "a loop writes the memory of a result of dynamic shape, which would be allocated each "
              "time";
  return success();
}

// Whether the value fits into its buffer at run time, whatever the dynamic sizes are.
LogicalResult PlanVerifier::verifyBuffer(Operation *op, Value value) {
  BufferAttr buffer = bufferOf(value);
  if (hasOwnMemory(value))
    return verifyOwnMemory(op, value);
  if (buffer.getBytes() < bytesPerUnit(cast<RankedTensorType>(value.getType())))
    return wrong(op) << "a buffer is smaller than its tensor";
  if (buffer.getStorage() == StorageKind::pool && cast<RankedTensorType>(value.getType()).hasStaticShape())
    return wrong(op) << "a pool holds tensors of dynamic shape, but got " << value.getType();
  int64_t unit = buffer.getStorage() == StorageKind::pool       ? buffer.getNumber()
                 : buffer.getStorage() == StorageKind::argument ? -1 - buffer.getNumber()
                                                                : 0;
  int64_t known = unit == 0 ? 0 : unitOf.try_emplace(unit, pools.poolOf(value)).first->second;
  if (known != pools.poolOf(value))
    return wrong(op)
           << "the dynamic sizes of tensors in one memory may differ by more than a constant factor";
  return success();
}

LogicalResult PlanVerifier::define(Operation *op, Value value) {
  if (failed(verifyBuffer(op, value)))
    return failure();
  contentOf[value] = value;
  return success();
}

// Of a launch, the operation of the kernel that computes the value.
Location PlanVerifier::placeOf(Value value) {
  auto launch = value.getDefiningOp<LaunchOp>();
  auto kernel = launch ? symbols.lookupNearestSymbolFrom<KernelOp>(launch, launch.getKernelAttr()) : nullptr;
  if (!kernel)
    return value.getLoc();
  unsigned number = cast<OpResult>(value).getResultNumber();
  Operation *inner = kernel.getBody().front().getTerminator()->getOperand(number).getDefiningOp();
  return inner ? inner->getLoc() : launch.getLoc();
}

Location PlanVerifier::placeOfRead(Operation *op, Value value) {
  auto launch = dyn_cast<LaunchOp>(op);
  auto kernel = launch ? symbols.lookupNearestSymbolFrom<KernelOp>(launch, launch.getKernelAttr()) : nullptr;
  if (!kernel)
    return op->getLoc();
  for (auto [input, argument] : llvm::zip_equal(launch.getInputs(), kernel.getBody().getArguments()))
    if (input == value)
      for (Operation *user : argument.getUsers())
        return user->getLoc();
  return op->getLoc();
}

LogicalResult PlanVerifier::overwritten(Operation *op, Value value, StringRef message) {
  InFlightDiagnostic diagnostic = wrong(op) << message;
  Value content = contentOf.lookup(value), overwriter = overwriters.lookup(content);
  if (!overwriter)
    return diagnostic;
  diagnostic.attachNote(placeOf(content)) << "the operand is computed here";
  diagnostic.attachNote(placeOf(overwriter)) << "this is written over it";
  if (conflict)
    *conflict = PlanConflict{placeOf(overwriter), placeOf(content), placeOfRead(op, value)};
  return diagnostic;
}

LogicalResult PlanVerifier::overwritesOperand(LaunchOp launch, Value result, unsigned operand) {
  Value input = launch.getInputs()[operand], content = contentOf.lookup(input);
  if (conflict && content)
    *conflict = PlanConflict{placeOf(result), placeOf(content), placeOfRead(launch, input)};
  return wrong(launch) << "the kernel overwrites operand " << operand << ", which it reads elsewhere";
}

LogicalResult PlanVerifier::read(Operation *op, Value value) {
  if (!isPlanned(value))
    return success();
  if (!isIntact(value))
    return overwritten(op, value, "an operand was overwritten before it is read here");
  // What counts is where the content was computed: an alias of it that was made inside of the loop is as old.
  Operation *origin = contentOf.lookup(value).getParentRegion()->getParentOp();
  for (auto &[loop, reads] : loops)
    if (!loop->isAncestor(origin))
      reads[value] = op;
  return success();
}

LogicalResult PlanVerifier::readAll(Operation *op, ValueRange values) {
  return success(llvm::all_of(values, [&](Value value) { return succeeded(read(op, value)); }));
}

// A value from outside that a loop reads must still be in its buffer in the next iteration.
LogicalResult PlanVerifier::verifyNextIteration(Operation *loop) {
  auto reads = loops.pop_back_val().second;
  for (auto [value, reader] : reads)
    if (!isIntact(value))
      return overwritten(reader, value,
                         "an operand is overwritten before the next iteration of the loop reads it");
  return success();
}

void PlanVerifier::forward(Value value, Value result) {
  if (Value content = contentOf.lookup(value))
    contentOf[result] = content;
}

// The values are in the buffers of the names already: only the names of contents change, after all are read.
LogicalResult PlanVerifier::rename(Operation *op, ValueRange values, ValueRange names) {
  for (auto [value, name] : llvm::zip_equal(values, names))
    if (isTensor(name) && (failed(read(op, value)) || failed(define(op, name))))
      return failure();
  for (Value name : names)
    if (isTensor(name))
      write(name);
  return success();
}

LogicalResult PlanVerifier::runLaunch(LaunchOp launch) {
  if (failed(readAll(launch, launch.getInputs())))
    return failure();
  auto kernel = symbols.lookupNearestSymbolFrom<KernelOp>(launch, launch.getKernelAttr());
  SmallVector<BufferAttr> written;
  for (OpResult result : launch->getResults()) {
    if (failed(define(launch, result)))
      return failure();
    BufferAttr buffer = bufferOf(result);
    if (llvm::any_of(written, [&](BufferAttr other) { return buffer.overlaps(other); }))
      return wrong(launch) << "two results of a kernel overlap";
    written.push_back(buffer);
    for (auto [i, input] : llvm::enumerate(launch.getInputs())) {
      if (!isPlanned(input) || !buffer.overlaps(bufferOf(input)))
        continue;
      if (buffer != bufferOf(input) || !kernel || !mayWriteOver(kernel, i, result.getResultNumber()))
        return overwritesOperand(launch, result, i);
    }
  }
  for (OpResult result : launch->getResults())
    write(result);
  return success();
}

// Both tensors of `arith.select` may be the source. A tensor that is carried or yielded has the
// size of its target, which the lowered program checks at run time: only the target must fit into the buffer.
LogicalResult PlanVerifier::runCopy(CopyOp copy) {
  SmallVector<Value> sources = {copy.getSource()};
  auto select = copy.getSource().getDefiningOp<arith::SelectOp>();
  if (select)
    sources = {select.getTrueValue(), select.getFalseValue()};
  bool isPassed =
      !select &&
      llvm::all_of(copy->getUsers(), llvm::IsaPred<scf::ForOp, scf::WhileOp, scf::YieldOp, scf::ConditionOp>);
  if (failed(readAll(copy, sources)) || (!isPassed && failed(verifyBuffer(copy, copy.getResult()))))
    return failure();
  contentOf[copy.getResult()] = copy.getResult();
  BufferAttr target = bufferOf(copy.getResult());
  for (Value source : sources)
    if (isPlanned(source) && target.overlaps(bufferOf(source)))
      return wrong(copy) << "a copy overlaps its source";
  write(copy.getResult());
  return success();
}

LogicalResult PlanVerifier::runFor(scf::ForOp loop) {
  if (failed(rename(loop, loop.getInitArgs(), loop.getRegionIterArgs())))
    return failure();
  for (auto [argument, result] : llvm::zip_equal(loop.getRegionIterArgs(), loop.getResults()))
    forward(argument, result);
  loops.emplace_back(loop, DenseMap<Value, Operation *>());
  Operation *yield = loop.getBody()->getTerminator();
  if (failed(runBlock(*loop.getBody())) ||
      failed(rename(yield, yield->getOperands(), loop.getRegionIterArgs())))
    return failure();
  return verifyNextIteration(loop);
}

LogicalResult PlanVerifier::runWhile(scf::WhileOp loop) {
  if (failed(rename(loop, loop.getInits(), loop.getBeforeArguments())))
    return failure();
  loops.emplace_back(loop, DenseMap<Value, Operation *>());
  scf::ConditionOp condition = loop.getConditionOp();
  scf::YieldOp yield = loop.getYieldOp();
  if (failed(runBlock(*loop.getBeforeBody())) ||
      failed(rename(condition, condition.getArgs(), loop.getAfterArguments())))
    return failure();
  for (auto [argument, result] : llvm::zip_equal(loop.getAfterArguments(), loop.getResults()))
    forward(argument, result);
  if (failed(runBlock(*loop.getAfterBody())) ||
      failed(rename(yield, yield.getOperands(), loop.getBeforeArguments())) ||
      failed(verifyNextIteration(loop)))
    return failure();
  // The loop ends after its condition.
  for (Value argument : loop.getAfterArguments())
    if (isTensor(argument))
      write(argument);
  return success();
}

LogicalResult PlanVerifier::runIf(scf::IfOp branch) {
  MemoryState start = state, afterThen = state;
  for (Region &region : branch->getRegions()) {
    state = start;
    if (!region.empty()) {
      Operation *yield = region.front().getTerminator();
      if (failed(runBlock(region.front())) || failed(verifyShapesOfResults(yield, yield->getOperands())) ||
          failed(rename(yield, yield->getOperands(), branch.getResults())))
        return failure();
    }
    if (&region == &branch.getThenRegion())
      afterThen = state;
  }
  state.intersect(afterThen);
  return success();
}

LogicalResult PlanVerifier::runReturn(Operation *op) {
  // A view of a result that is returned as another result is copied there, with a shape of its own.
  SmallVector<Value> inOwnPlace;
  for (auto [number, value] : llvm::enumerate(op->getOperands()))
    if (isPlanned(value) && bufferOf(value).getNumber() == static_cast<int64_t>(number))
      inOwnPlace.push_back(value);
  if (failed(readAll(op, op->getOperands())) || failed(verifyShapesOfResults(op, inOwnPlace)))
    return failure();
  for (auto [number, buffer] : llvm::enumerate(plan.getBuffers()))
    if (buffer.getStorage() == StorageKind::result &&
        plan.bufferOf(op->getOperand(buffer.getNumber())) != static_cast<int64_t>(number))
      return wrong(op) << "the memory of result " << buffer.getNumber() << " holds another value";
  return success();
}

LogicalResult PlanVerifier::runOp(Operation &op) {
  if (auto launch = dyn_cast<LaunchOp>(op))
    return runLaunch(launch);
  if (auto copy = dyn_cast<CopyOp>(op))
    return runCopy(copy);
  if (auto loop = dyn_cast<scf::ForOp>(op))
    return runFor(loop);
  if (auto loop = dyn_cast<scf::WhileOp>(op))
    return runWhile(loop);
  if (auto branch = dyn_cast<scf::IfOp>(op))
    return runIf(branch);
  if (isAlias(&op)) {
    for (auto [result, operand] : llvm::zip(op.getResults(), op.getOperands()))
      forward(operand, result);
    return success();
  }
  bool readsNothing = isa<tensor::DimOp>(op) || (isa<arith::SelectOp>(op) && isTensor(op.getResult(0)));
  if (readsNothing)
    return success();
  if (failed(readAll(&op, op.getOperands())))
    return failure();
  if (auto feed = dyn_cast<FeedOp>(op)) {
    if (failed(define(feed, feed.getResult())))
      return failure();
    write(feed.getResult());
  }
  return success();
}

LogicalResult PlanVerifier::runBlock(Block &block) {
  for (Operation &op : block.without_terminator())
    if (failed(runOp(op)))
      return failure();
  return success();
}

// Code for tensors in the arena loads and stores whole vectors at their first element.
LogicalResult PlanVerifier::verifyAlignment() {
  for (auto op : function.getOps<BufferOp>()) {
    BufferAttr buffer = op.getAllocation();
    if (buffer.getStorage() == StorageKind::arena && buffer.getOffset() % kArenaAlignment != 0)
      return wrong(op) << "expected an offset in the arena that is a multiple of " << kArenaAlignment
                       << ", but got " << buffer.getOffset();
  }
  return success();
}

LogicalResult PlanVerifier::run() {
  if (failed(verifyAlignment()))
    return failure();
  for (BufferAttr buffer : plan.getBuffers()) {
    if (buffer.getStorage() != StorageKind::argument)
      continue;
    BlockArgument argument = function.getArgument(buffer.getNumber());
    if (!donatedResult(function, buffer.getNumber()))
      return wrong(function) << "argument " << buffer.getNumber() << " is written, but not donated";
    if (failed(define(function, argument)))
      return failure();
    write(argument);
  }
  Block &body = function.getBody().front();
  return failed(runBlock(body)) ? failure() : runReturn(body.getTerminator());
}

LogicalResult ad::verifyMemoryPlan(func::FuncOp function, SymbolTableCollection &symbols,
                                   std::optional<PlanConflict> *conflict) {
  if (failed(verifyHostProgram(function, Stage::planned)))
    return failure();
  FailureOr<MemoryPlan> plan = MemoryPlan::read(function);
  return failed(plan) ? failure() : PlanVerifier(function, *plan, symbols, conflict).run();
}
