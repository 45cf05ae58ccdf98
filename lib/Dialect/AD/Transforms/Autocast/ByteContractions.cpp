// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

#include "ByteContractions.h"
#include "../Numerics/WriteContract.h"
#include "adjoint/Dialect/AD/IR/ADBuilders.h"
#include "adjoint/Dialect/AD/Transforms/NumericsLog.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Remarks.h"
#include "llvm/Support/DebugLog.h"

#define DEBUG_TYPE "ad-autocast"

using namespace mlir;
using namespace mlir::ad;

bool ad::canComputeInBytes(OperationName name) {
  return name.getStringRef() == DotOp::getOperationName() ||
         name.getStringRef() == GemmOp::getOperationName();
}

BlockArgument ad::scalesOf(FunctionOpInterface function) {
  if (function.isExternal())
    return nullptr;
  for (BlockArgument argument : function.getArguments())
    if (function.getArgAttr(argument.getArgNumber(), kScalesAttr))
      return argument;
  return nullptr;
}

//===- Calls --------------------------------------------------------------===//

// The function whose body may take the place of the call; null if the call stays.
static FailureOr<func::FuncOp> inlinable(func::CallOp call, const ResolvedPolicy *own,
                                         PolicyTable &policies) {
  auto callee = SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(call, call.getCalleeAttr());
  if (!callee || callee.isExternal() || !callee.getBody().hasOneBlock() || scalesOf(callee))
    return func::FuncOp();
  FailureOr<const ResolvedPolicy *> policy = policies.policyOf(callee);
  if (failed(policy))
    return failure();
  return *policy == own ? callee : func::FuncOp();
}

static void inlineCall(func::CallOp call, func::FuncOp callee) {
  LDBG() << "inlines " << callee.getName() << ", whose contractions have scales";
  Block &body = callee.getBody().front();
  IRMapping mapping;
  mapping.map(body.getArguments(), call.getOperands());
  OpBuilder builder(call);
  for (Operation &op : body.without_terminator())
    builder.clone(op, mapping);
  for (auto [result, returned] : llvm::zip_equal(call.getResults(), body.getTerminator()->getOperands()))
    result.replaceAllUsesWith(mapping.lookupOrDefault(returned));
  call.erase();
}

LogicalResult ad::inlineCallsUnderScales(FunctionOpInterface function, PolicyTable &policies) {
  FailureOr<const ResolvedPolicy *> own = policies.policyOf(function);
  if (failed(own))
    return failure();
  if (!scalesOf(function) || !*own || !(*own)->inBytes)
    return success();
  // A call is inlined with all that it calls before the next one; its depth is the number of calls around it.
  constexpr int64_t kMaxDepth = 1000;
  SmallVector<std::pair<func::CallOp, int64_t>> calls;
  function->walk([&](func::CallOp call) { calls.emplace_back(call, 0); });
  while (!calls.empty()) {
    auto [call, depth] = calls.pop_back_val();
    FailureOr<func::FuncOp> callee = inlinable(call, *own, policies);
    if (failed(callee))
      return failure();
    if (!*callee)
      continue;
    if (depth == kMaxDepth)
      return call.emitOpError("expected no recursion in a function with '") << kScalesAttr << "'";
    Operation *before = call->getPrevNode();
    Block *block = call->getBlock();
    Operation *after = call->getNextNode();
    inlineCall(call, *callee);
    for (Operation *op = before ? before->getNextNode() : &block->front(); op != after;
         op = op->getNextNode())
      op->walk([&, inner = depth + 1](func::CallOp made) { calls.emplace_back(made, inner); });
  }
  return success();
}

//===- Contractions -------------------------------------------------------===//

namespace {
/// The operations that are made, in their order.
struct CollectMade : OpBuilder::Listener {
  void notifyOperationInserted(Operation *op, OpBuilder::InsertPoint) override { made.push_back(op); }
  SmallVector<Operation *> made;
};

/// Replaces one contraction.
class Replacement {
public:
  Replacement(Operation *op, const ResolvedPolicy &policy, ValueRange scales, OpBuilder::Listener &listener)
      : op(op), policy(policy), scales(scales), builder(op, &listener),
        allow(op->getAttrOfType<PermissionsAttr>("allow")) {}

  Value make() {
    if (auto dot = dyn_cast<DotOp>(op))
      return product(dot.getLhsBatch(), dot.getRhsBatch(), dot.getLhsContract(), dot.getRhsContract(),
                     getElementTypeOrSelf(dot.getType()));
    auto gemm = cast<GemmOp>(op);
    bool scalesProduct = !gemm.getAlpha().isExactlyValue(1.0);
    Type element = getElementTypeOrSelf(gemm.getType());
    bool isProduct = !scalesProduct && !gemm.getBias();
    Value value = product({}, {}, {gemm.getTransA() ? 0 : 1}, {gemm.getTransB() ? 1 : 0},
                          isProduct ? element : builder.getF32Type());
    if (scalesProduct)
      value = times(value, gemm.getAlpha());
    if (gemm.getBias()) {
      Value bias = inType(gemm.getBias(), builder.getF32Type());
      if (!gemm.getBeta().isExactlyValue(1.0))
        bias = times(bias, gemm.getBeta());
      value = AddOp::create(builder, op->getLoc(), value, bias, allow);
    }
    return inType(value, element);
  }

private:
  Value product(ArrayRef<int64_t> lhsBatch, ArrayRef<int64_t> rhsBatch, ArrayRef<int64_t> lhsContract,
                ArrayRef<int64_t> rhsContract, Type element) {
    auto made = ScaledDotOp::create(builder, op->getLoc(), op->getOperand(0), op->getOperand(1), scales,
                                    {policy.narrow, policy.narrow, policy.gradient}, element, lhsBatch,
                                    rhsBatch, lhsContract, rhsContract);
    if (auto order = cast<NumericsOpInterface>(op).getSummationOrder())
      made.setOrderAttr(order);
    if (allow)
      made.setAllowAttr(allow);
    return made.getResult();
  }

  Value times(Value value, const APFloat &factor) {
    Value number = scalarConstant(builder, op->getLoc(), builder.getF32Type(), factor.convertToDouble());
    return MulOp::create(builder, op->getLoc(), value, number, allow);
  }

  Value inType(Value value, Type element) {
    auto type = cast<RankedTensorType>(value.getType());
    if (type.getElementType() == element)
      return value;
    return CastOp::create(builder, op->getLoc(), type.clone(element), value, allow);
  }

  Operation *op;
  const ResolvedPolicy &policy;
  ValueRange scales;
  OpBuilder builder;
  PermissionsAttr allow;
};
} // namespace

// The scales of lhs, rhs and cotangent in a row of the argument.
static SmallVector<Value> scalesInRow(OpBuilder &builder, Location loc, Value argument, int64_t row) {
  auto type = cast<RankedTensorType>(argument.getType());
  SmallVector<Value> scales;
  for (int64_t column = 0; column < 3; ++column) {
    Value element =
        SliceOp::create(builder, loc, type.clone({1, 1}), argument, ArrayRef<int64_t>{row, column},
                        ArrayRef<int64_t>{1, 1}, ValueRange(), PermissionsAttr());
    scales.push_back(ReshapeOp::create(builder, loc, type.clone(ArrayRef<int64_t>()), element, ValueRange(),
                                       PermissionsAttr()));
  }
  return scales;
}

static void report(const ByteContraction &contraction, const ResolvedPolicy &policy, bool hasScales) {
  Location loc = contraction.op->getLoc();
  StringRef scales = hasScales ? kScalesAttr : "current";
  LDBG() << contraction.op->getName() << " becomes ad.scaled_dot by " << contraction.source << ", scales "
         << scales;
  remark::passed(loc, remark::RemarkOpts::name("scaled-dot").category("ad-precision"))
      << remark::metric("operation", contraction.op->getName().getStringRef())
      << remark::metric("scales", scales) << remark::metric("why", contraction.source)
      << remark::metric("policy", policy.name);
  if (NumericsLog *log = NumericsLog::get(contraction.op->getContext()))
    log->record(loc, "ad-autocast", contraction.source);
}

LogicalResult ad::replaceByScaledDots(FunctionOpInterface function, ArrayRef<ByteContraction> contractions,
                                      const ResolvedPolicy &policy) {
  if (!policy.inBytes)
    return success();
  BlockArgument argument = scalesOf(function);
  int64_t count = contractions.size();
  if (argument && cast<RankedTensorType>(argument.getType()).getDimSize(0) != count)
    return emitError(argument.getLoc())
           << "expected '" << kScalesAttr << "' of type tensor<" << count << "x3xf32> for the " << count
           << (count == 1 ? " contraction" : " contractions") << " in 8 bits of @"
           << SymbolTable::getSymbolName(function).getValue() << ", but got " << argument.getType();
  SmallVector<SmallVector<Value>> rows(count);
  bool writesContract = hasWrittenContract(function);
  CollectMade listener;
  if (argument) {
    OpBuilder builder = OpBuilder::atBlockBegin(argument.getOwner(), &listener);
    for (auto [row, scales] : llvm::enumerate(rows))
      scales = scalesInRow(builder, contractions[row].op->getLoc(), argument, row);
  }
  for (auto [contraction, scales] : llvm::zip_equal(contractions, rows)) {
    report(contraction, policy, argument != nullptr);
    Value made = Replacement(contraction.op, policy, scales, listener).make();
    contraction.op->getResult(0).replaceAllUsesWith(made);
    contraction.op->erase();
  }
  if (writesContract)
    writeContract(listener.made);
  return success();
}
