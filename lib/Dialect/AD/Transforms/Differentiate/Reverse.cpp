// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// The reverse of straight-line code by the rules of its operations.

#include "Reverse.h"
#include "adjoint/Dialect/AD/IR/ADBuilders.h"
#include "adjoint/Dialect/AD/Transforms/NumericsLog.h"
#include "adjoint/Interfaces/PartialReadOpInterface.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Remarks.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/Support/DebugLog.h"

#define DEBUG_TYPE "ad-differentiate"

using namespace mlir;
using namespace mlir::ad;

bool ad::readsPart(OpOperand &use) {
  auto reader = dyn_cast<PartialReadOpInterface>(use.getOwner());
  return reader && reader.readsPart(use.getOperandNumber());
}

void Cotangents::addInOrder(ValueRange of, ValueRange added) {
  for (size_t index = of.size(); index-- > 0;)
    if (added[index])
      add(of[index], added[index]);
}

void Cotangents::addPart(OpOperand &use, ArrayRef<Value> resultCotangents) {
  contributions[use.get()].push_back({nullptr, &use, SmallVector<Value, 1>(resultCotangents)});
}

// The value with the element type of `type`.
static Value convert(Value value, Type type, OpBuilder &builder, Location loc) {
  return value.getType() == type ? value : castTo(builder, loc, value, getElementTypeOrSelf(type));
}

static Value addCotangents(Value lhs, Value rhs, OpBuilder &builder, Location loc) {
  if (isa<RankedTensorType>(lhs.getType()))
    return AddOp::create(builder, loc, lhs, rhs, PermissionsAttr());
  return arith::AddFOp::create(builder, loc, lhs, rhs);
}

Value Cotangents::Contribution::addTo(Value sum, Type type, OpBuilder &builder, Location loc) const {
  if (!use) {
    Value added = convert(value, type, builder, loc);
    return sum ? addCotangents(sum, added, builder, loc) : added;
  }
  SmallVector<Value, 1> added = resultCotangents;
  for (Value &cotangent : added)
    if (cotangent && sum)
      cotangent = castTo(builder, loc, cotangent, getElementTypeOrSelf(type));
  auto reader = cast<PartialReadOpInterface>(use->getOwner());
  return convert(reader.accumulate(builder, added, use->getOperandNumber(), sum), type, builder, loc);
}

Type Cotangents::sumTypeOf(Value of) const {
  auto element = dyn_cast<FloatType>(getElementTypeOrSelf(of.getType()));
  if (!element || element.getWidth() > 16 || sums == SumType::ofValue)
    return of.getType();
  Type wide = Float32Type::get(of.getContext());
  auto shaped = dyn_cast<ShapedType>(of.getType());
  return shaped ? Type(shaped.clone(wide)) : wide;
}

Value Cotangents::zeroSum(OpBuilder &builder, Location loc, Value of) const {
  return zerosLike(builder, loc, of, getElementTypeOrSelf(sumTypeOf(of)));
}

bool Cotangents::dependsOnSumType(Value of) const {
  auto entry = contributions.find(of);
  if (sumsSoFar.contains(of) || entry == contributions.end())
    return true;
  return entry->second.size() > 2 || llvm::any_of(entry->second, [&](const Contribution &one) {
           return one.value && one.value.getType() != of.getType();
         });
}

void Cotangents::reportSum(Value of, size_t count) const {
  if (count < 2 || sumTypeOf(of) == of.getType())
    return;
  LDBG() << "adds " << count << " cotangents of " << of << " in f32";
  std::string type;
  llvm::raw_string_ostream(type) << getElementTypeOrSelf(of.getType());
  remark::passed(of.getLoc(), remark::RemarkOpts::name("cotangent-sum").category("ad-precision"))
      << remark::metric("cotangents", count) << remark::metric("type", type)
      << remark::metric("added-in", "f32");
  if (NumericsLog *log = NumericsLog::get(of.getContext()))
    log->record(of.getLoc(), "ad-differentiate", ADDialect::kCotangentSumsAttr);
}

Value Cotangents::take(OpBuilder &builder, Location loc, Value of) {
  Value sum = takeIn(dependsOnSumType(of) ? sumTypeOf(of) : of.getType(), builder, loc, of);
  return sum ? convert(sum, of.getType(), builder, loc) : sum;
}

Value Cotangents::takeSum(OpBuilder &builder, Location loc, Value of) {
  return takeIn(sumTypeOf(of), builder, loc, of);
}

Value Cotangents::takeIn(Type type, OpBuilder &builder, Location loc, Value of) {
  Value soFar = sumsSoFar.lookup(of);
  sumsSoFar.erase(of);
  auto entry = contributions.find(of);
  if (entry == contributions.end())
    return soFar;
  SmallVector<Contribution, 2> inUseOrder(llvm::reverse(entry->second));
  contributions.erase(entry);
  if (type != of.getType())
    reportSum(of, inUseOrder.size() + (soFar ? 1 : 0));

  auto *whole = llvm::find_if(inUseOrder, [](const Contribution &one) { return !one.use; });
  if (soFar && whole == inUseOrder.end()) {
    for (const Contribution &part : inUseOrder)
      soFar = part.addTo(soFar, type, builder, loc);
    return soFar;
  }
  // The first contribution to the whole value moves to the front, so that parts need no tensor of zeros.
  if (whole != inUseOrder.end())
    std::rotate(inUseOrder.begin(), whole, std::next(whole));
  Value sum;
  for (const Contribution &one : inUseOrder)
    sum = one.addTo(sum, type, builder, loc);
  return soFar ? addCotangents(soFar, sum, builder, loc) : sum;
}

void ad::addSums(Cotangents &cotangents, ArrayRef<Value> captured, ArrayRef<Value> sumsSoFar,
                 ValueRange sums) {
  for (size_t index = captured.size(); index-- > 0;)
    if (sumsSoFar[index])
      cotangents.continueFrom(captured[index], sums[index]);
    else
      cotangents.add(captured[index], sums[index]);
}

LogicalResult Reverser::reverse(ArrayRef<Operation *> ops, Cotangents &cotangents, OpBuilder &builder) {
  for (Operation *op : llvm::reverse(ops)) {
    if (!activity.hasActiveResult(op))
      continue;
    LogicalResult done = success();
    if (auto branch = dyn_cast<scf::IfOp>(op))
      done = reverseIf(branch, cotangents, builder);
    else if (auto loop = dyn_cast<scf::ForOp>(op))
      done = reverseFor(loop, cotangents, builder);
    else
      done = reverseByRule(op, cotangents, builder);
    if (failed(done))
      return failure();
  }
  return success();
}

// Calls the rule of the operation and checks what it gives; unwanted cotangents are null.
static LogicalResult cotangentsOfOperands(DifferentiableOpInterface rule, ArrayRef<Value> ofResults,
                                          ArrayRef<bool> wanted, OpBuilder &builder,
                                          SmallVectorImpl<Value> &ofOperands) {
  Operation *op = rule;
  if (!llvm::is_contained(wanted, true)) {
    ofOperands.resize(op->getNumOperands());
    return success();
  }
  if (failed(rule.vjp(builder, ofResults, wanted, ofOperands)))
    return failure();
  if (ofOperands.size() != op->getNumOperands())
    return op->emitOpError("expected its derivative rule to give ")
           << op->getNumOperands() << " cotangents, but got " << ofOperands.size();
  for (auto [index, operand] : llvm::enumerate(op->getOperands())) {
    Value &cotangent = ofOperands[index];
    if (!wanted[index])
      cotangent = nullptr;
    if (cotangent && cotangent.getType() != operand.getType())
      return op->emitOpError("expected its derivative rule to give a cotangent of type ")
             << operand.getType() << " for operand " << index << ", but got " << cotangent.getType();
  }
  return success();
}

LogicalResult Reverser::reverseByRule(Operation *op, Cotangents &cotangents, OpBuilder &builder) {
  auto rule = cast<DifferentiableOpInterface>(op);
  SmallVector<Value> ofResults;
  for (Value result : op->getResults())
    ofResults.push_back(cotangents.take(builder, op->getLoc(), result));
  if (llvm::none_of(ofResults, [](Value value) { return static_cast<bool>(value); }))
    return success();

  SmallVector<bool> wanted;
  SmallVector<OpOperand *> parts(op->getNumOperands());
  for (auto [index, operand] : llvm::enumerate(op->getOpOperands())) {
    bool isWanted = activity.isActive(operand.get()) && rule.isDifferentiable(index);
    if (isWanted && readsPart(operand))
      parts[index] = &operand;
    wanted.push_back(isWanted && !parts[index]);
  }
  SmallVector<Value> ofOperands;
  if (failed(cotangentsOfOperands(rule, ofResults, wanted, builder, ofOperands)))
    return failure();
  for (size_t index = op->getNumOperands(); index-- > 0;)
    if (parts[index])
      cotangents.addPart(*parts[index], ofResults);
    else if (ofOperands[index])
      cotangents.add(op->getOperand(index), ofOperands[index]);
  return success();
}

bool Reverser::readsOnlyParts(Operation *op, Value captured) {
  bool found = false;
  for (OpOperand &use : captured.getUses()) {
    Operation *user = use.getOwner();
    if (!op->isProperAncestor(user))
      continue;
    auto rule = dyn_cast<DifferentiableOpInterface>(user);
    bool isYield = user->hasTrait<OpTrait::IsTerminator>();
    if (!isYield &&
        (!activity.hasActiveResult(user) || (rule && !rule.isDifferentiable(use.getOperandNumber()))))
      continue;
    if (!readsPart(use))
      return false;
    found = true;
  }
  return found;
}

SmallVector<Value> Reverser::takeSumsOfParts(Operation *op, ArrayRef<Value> captured, Cotangents &cotangents,
                                             OpBuilder &builder) {
  SmallVector<Value> sums(captured.size());
  for (auto [value, sum] : llvm::zip(captured, sums)) {
    if (!readsOnlyParts(op, value))
      continue;
    sum = cotangents.takeSum(builder, op->getLoc(), value);
    if (!sum)
      sum = cotangents.zeroSum(builder, op->getLoc(), value);
  }
  return sums;
}

//===- Recomputation -===//

static bool onlyHasEffects(Operation *op) {
  return op->getNumResults() == 0 && op->getNumRegions() == 0 && !op->hasTrait<OpTrait::IsTerminator>() &&
         !isMemoryEffectFree(op);
}

SmallVector<Operation *> Reverser::recompute(Block &block, IRMapping &copies, OpBuilder &builder) {
  SmallVector<Operation *> copied;
  for (Operation &op : block.without_terminator()) {
    bool isGiven = op.getNumResults() != 0 && copies.contains(op.getResult(0));
    if (isGiven || onlyHasEffects(&op))
      continue;
    Operation *copy = builder.clone(op, copies);
    SmallVector<Operation *> effects;
    copy->walk([&](Operation *nested) {
      if (onlyHasEffects(nested))
        effects.push_back(nested);
    });
    for (Operation *effect : effects)
      effect->erase();
    copied.push_back(copy);
  }
  activity.extendTo(copies);
  return copied;
}

static void forgetValues(Operation *op, Activity &activity) {
  op->walk([&](Operation *nested) {
    for (Value result : nested->getResults())
      activity.forget(result);
    for (Region &region : nested->getRegions())
      for (Block &block : region)
        for (Value argument : block.getArguments())
          activity.forget(argument);
  });
}

void ad::eraseDead(Block &block, Activity *activity) {
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(block))) {
    for (Region &region : op.getRegions())
      for (Block &nested : region)
        eraseDead(nested, activity);
    if (!isOpTriviallyDead(&op))
      continue;
    if (activity)
      forgetValues(&op, *activity);
    op.erase();
  }
}
