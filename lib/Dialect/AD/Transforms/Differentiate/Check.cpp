// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// The check that every active operation has a derivative, and that no derivative is lost in memory or in a
// cast. It never stops at the first one: users see the whole list.

#include "Check.h"
#include "Loops.h"
#include "adjoint/Dialect/AD/IR/ADOps.h"
#include "adjoint/Interfaces/DerivativeTypeInterface.h"
#include "adjoint/Support/TripCount.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/CastInterfaces.h"

using namespace mlir;
using namespace mlir::ad;

namespace {
class Checker {
public:
  Checker(const Activity &activity, Operation *request) : activity(activity), request(request) {}

  void check(Block &block);
  LogicalResult result() const { return failure(!reported.empty()); }

private:
  void checkOperation(Operation *op);
  void checkRule(DifferentiableOpInterface op);
  void checkSum(Value value);
  void checkLoop(scf::ForOp loop);
  void checkEffects(Operation *op);
  void checkMemory(Operation *op);
  void checkLostBits(Operation *op);
  /// One error for each operation: later ones are dropped.
  InFlightDiagnostic report(Operation *op);

  const Activity &activity;
  Operation *request;
  llvm::SmallPtrSet<Operation *, 8> reported;
};
} // namespace

InFlightDiagnostic Checker::report(Operation *op) {
  InFlightDiagnostic diagnostic = op->emitOpError();
  diagnostic.attachNote(request->getLoc()) << "needed for this derivative";
  if (!reported.insert(op).second)
    diagnostic.abandon();
  return diagnostic;
}

void Checker::check(Block &block) {
  for (Operation &op : block) {
    bool isActive = activity.hasActiveResult(&op);
    if (isa<scf::ForOp, scf::IfOp>(op)) {
      if (auto loop = dyn_cast<scf::ForOp>(op); loop && isActive)
        checkLoop(loop);
      if (isActive)
        checkEffects(&op);
      for (Value result : op.getResults())
        checkSum(result);
      for (Region &region : op.getRegions())
        if (!region.empty())
          check(region.front());
    } else if (isActive) {
      checkOperation(&op);
    } else {
      checkMemory(&op);
      checkLostBits(&op);
    }
  }
}

void Checker::checkOperation(Operation *op) {
  if (auto rule = dyn_cast<DifferentiableOpInterface>(op)) {
    checkRule(rule);
  } else if (isa<scf::WhileOp>(op)) {
    report(op) << "has no reverse: the reverse of scf.while needs a bound on the number of iterations; "
                  "use scf.for (in Python adjoint.fori_loop or adjoint.scan)";
  } else {
    InFlightDiagnostic diagnostic = report(op) << "has no derivative rule";
    if (isa<FusionOp, KernelOp, LaunchOp>(op))
      diagnostic << "; run --ad-differentiate before operations become kernels, that is before --ad-fuse";
    else if (isa<CallOpInterface>(op))
      diagnostic << "; expected a call of a function with a body";
  }
}

//===- Types -===//

static bool isNumber(Type type) {
  return isa<Float64Type, Float32Type, Float16Type, BFloat16Type, Float8E4M3FNType, Float8E5M2Type>(type);
}

// Whether cotangents of the type can be zero and be added.
static bool hasSums(Type type) {
  if (auto tensor = dyn_cast<RankedTensorType>(type))
    return isNumber(tensor.getElementType()) && !tensor.getEncoding();
  if (auto vector = dyn_cast<VectorType>(type))
    return isNumber(vector.getElementType());
  return isNumber(type);
}

static bool isOfFloats(Type type) {
  return isa<FloatType, VectorType, TensorType>(type) && isa<FloatType>(getElementTypeOrSelf(type));
}

// Rules of upstream operations compute with the floats that `ad` knows. Values of other types may pass
// through operations whose rules know them.
void Checker::checkRule(DifferentiableOpInterface op) {
  for (ValueRange values : {ValueRange(op->getOperands()), ValueRange(op->getResults())})
    for (Value value : values)
      if (activity.isActive(value) && isOfFloats(value.getType()) && !hasSums(value.getType()))
        report(op)
            << "has no derivative for values of type " << value.getType()
            << "; expected f64, f32, f16, bf16, f8E4M3FN, f8E5M2, or vectors or ranked tensors of these";
  for (Value result : op->getResults())
    checkSum(result);
  if (!activity.activeCaptures(op).empty())
    report(op) << "has no derivative for values that its regions capture; expected them as operands";
}

// A value with one use in its own block needs no sum.
void Checker::checkSum(Value value) {
  if (!activity.isActive(value) || hasSums(value.getType()))
    return;
  auto isInBlock = [&](Operation *user) { return user->getBlock() == value.getParentBlock(); };
  if (!value.hasOneUse() || !llvm::all_of(value.getUsers(), isInBlock))
    report(value.getDefiningOp())
        << "has no derivative: expected one use of its result in the same block, since "
           "cotangents of type "
        << value.getType() << " cannot be added";
}

//===- Loops and branches -===//

void Checker::checkLoop(scf::ForOp loop) {
  Type index = loop.getInductionVar().getType();
  if (!index.isIndex() && index.getIntOrFloatBitWidth() > 64)
    report(loop) << "has no reverse: expected an index of at most 64 bits, but got " << index;
  std::optional<uint64_t> trips = staticTripCount(loop);
  if (trips && *trips > static_cast<uint64_t>(std::numeric_limits<int64_t>::max()))
    report(loop) << "has no reverse: expected fewer than 2^63 iterations, but got " << *trips;
  LoopRange range{APInt(), APInt(), APInt(), loop.getUnsignedCmp()};
  if (matchPattern(loop.getStep(), m_ConstantInt(&range.step)) && !range.hasPositiveStep())
    report(loop) << "has no reverse: expected a positive step, but got " << range.step.getSExtValue();
  for (Value argument : loop.getRegionIterArgs())
    if (!canBeSaved(argument.getType()))
      report(loop) << "has no reverse: expected carried values to be numbers or tensors of numbers, but got "
                   << argument.getType();
}

// Effects with results are saved. That is possible where each iteration has each effect once; sizes may not
// change.
void Checker::checkEffects(Operation *op) {
  auto loop = dyn_cast<scf::ForOp>(op);
  op->walk([&](Operation *nested) {
    if (nested == op || nested->getNumRegions() != 0 || nested->getNumResults() == 0 ||
        isMemoryEffectFree(nested))
      return;
    if (!isa<FeedOp>(nested))
      report(nested)
          << "has no reverse: expected a pure operation or 'ad.feed' in differentiated control flow";
    else if (!loop || nested->getParentOp() != op)
      report(nested) << "has no reverse: expected it directly in the body of a differentiated scf.for";
    else if (!llvm::all_of(nested->getOperands(),
                           [&](Value size) { return loop.isDefinedOutsideOfLoop(size); }))
      report(nested) << "has no reverse: expected sizes that are the same in all iterations";
  });
}

//===- Memory -===//

namespace {
/// Whether an operation may read or write memory; both if its effects are unknown.
struct MemoryUse {
  bool reads = false, writes = false;
};
} // namespace

// Without what operations in its regions do.
static MemoryUse memoryUse(Operation *op) {
  if (auto effects = dyn_cast<MemoryEffectOpInterface>(op))
    return {effects.hasEffect<MemoryEffects::Read>(), effects.hasEffect<MemoryEffects::Write>()};
  bool isKnown = op->hasTrait<OpTrait::HasRecursiveMemoryEffects>() || op->hasTrait<OpTrait::IsTerminator>();
  return {!isKnown, !isKnown};
}

// Memory is not followed: what depends on an argument may not be written, and what is needed may not be read.
// An operation with a rule says itself what its results depend on.
void Checker::checkMemory(Operation *op) {
  bool isDependent = activity.isDependent(op), isNeeded = activity.isNeeded(op);
  if (!isDependent && !isNeeded)
    return;
  op->walk([&](Operation *nested) {
    MemoryUse use = memoryUse(nested);
    if (isa<DifferentiableOpInterface>(nested))
      return;
    if (isDependent && use.writes)
      report(nested)
          << "has no derivative rule, but may write to memory what depends on a differentiated argument";
    else if (isNeeded && use.reads)
      report(nested)
          << "has no derivative rule, but a differentiated result depends on what it may read from memory";
  });
}

// A cast to integers is constant only if it rounds, and then it has a rule. One that keeps the bits does not
// lose the dependence.
void Checker::checkLostBits(Operation *op) {
  if (!isa<CastOpInterface>(op) || isa<DifferentiableOpInterface>(op) || op->use_empty())
    return;
  if (!carriesDerivative(op->getResult(0).getType()) && activity.isDependent(op))
    report(op) << "has no derivative rule for its result of type " << op->getResult(0).getType();
}

LogicalResult ad::checkDifferentiable(Block &body, const Activity &activity, Operation *request) {
  Checker checker(activity, request);
  checker.check(body);
  return checker.result();
}
