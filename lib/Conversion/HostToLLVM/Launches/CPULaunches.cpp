// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Calls and parallel loops over the units of CPU kernels.

#include "CPULaunches.h"
#include "KernelFunctions.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "llvm/Support/DebugLog.h"

#define DEBUG_TYPE "convert-host-to-llvm"

using namespace mlir;
using namespace mlir::ad;
using namespace mlir::ad::host;

bool CPULaunch::hasOneUnit() const { return getConstantIntValue(getAsOpFoldResult(units)) == 1; }

int64_t CPULaunch::nanoseconds() const {
  return kernel->getAttrOfType<IntegerAttr>(kNanosecondsAttr).getInt();
}

CPULaunch CPULaunches::prepare(LaunchOp op, func::FuncOp kernel, SmallVector<Value> operands) {
  return {op, kernel, std::move(operands), unitsOf(op, kernel)};
}

void CPULaunches::emit(const CPULaunch &launch) {
  auto minThreads = launch.kernel->getAttrOfType<IntegerAttr>(kPartialReductionsAttr);
  if (!minThreads)
    return runUnits(launch);
  Value nanoseconds = nanosecondsOf(launch.kernel, launch.operands);
  if (minThreads.getInt() == 1)
    return entry.guardMemory(runPartialReductions(launch, nanoseconds), loc);
  // Few threads gain nothing from partial results, and more threads need none if there are units for all of
  // them.
  Value threads = call("adrt_threads_for", builder.getI64Type(), {context, nanoseconds});
  Value enough = arith::SelectOp::create(
      builder, loc,
      arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::sge, threads, i64(minThreads.getInt())),
      arith::MulIOp::create(builder, loc, threads, i64(2)), i64(0));
  Value several = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ult, toI64(launch.units), enough);
  auto branch = scf::IfOp::create(builder, loc, pointerType, several, /*withElseRegion=*/true);
  {
    OpBuilder::InsertionGuard insertion(builder);
    builder.setInsertionPointToStart(branch.elseBlock());
    runUnits(launch);
    scf::YieldOp::create(builder, loc, context); // anything but null
    builder.setInsertionPointToStart(branch.thenBlock());
    scf::YieldOp::create(builder, loc, runPartialReductions(launch, nanoseconds));
  }
  entry.guardMemory(branch.getResult(0), loc);
}

void CPULaunches::runUnits(const CPULaunch &launch) {
  if (launch.hasOneUnit())
    runOnThisThread(launch);
  else
    runOnThreads(launch.kernel, launch.operands, launch.units, nanosecondsOf(launch.kernel, launch.operands));
}

// Returns the memory of the partial results, null if there was none.
Value CPULaunches::runPartialReductions(const CPULaunch &launch, Value nanoseconds) {
  func::FuncOp kernel = launch.kernel, merge = companionOf(kernel, kMergeSuffix);
  auto sizes = func::CallOp::create(builder, loc, companionOf(kernel, kPartialSizesSuffix), launch.operands);
  Value scratch = buffers.scratch(sizes.getResult(1));
  Value null = LLVM::ZeroOp::create(builder, loc, pointerType);
  Value isThere = LLVM::ICmpOp::create(builder, loc, LLVM::ICmpPredicate::ne, scratch, null);
  auto branch = scf::IfOp::create(builder, loc, isThere);
  OpBuilder::InsertionGuard insertion(builder);
  builder.setInsertionPointToStart(branch.thenBlock());
  auto withScratch = llvm::to_vector(launch.operands);
  withScratch.push_back(scratch);
  runOnThreads(companionOf(kernel, kPartialSuffix), withScratch, sizes.getResult(0), nanoseconds);
  runOnThreads(merge, withScratch, unitsOf(launch.op, merge), i64(0));
  return scratch;
}

Value CPULaunches::nanosecondsOf(func::FuncOp kernel, ArrayRef<Value> operands) {
  if (auto known = kernel->getAttrOfType<IntegerAttr>(kNanosecondsAttr))
    return i64(known.getInt());
  func::FuncOp estimate = companionOf(kernel, kNanosecondsSuffix);
  return toI64(func::CallOp::create(builder, loc, estimate, operands).getResult(0));
}

Value CPULaunches::unitsOf(LaunchOp op, func::FuncOp kernel) {
  WorkUnits spaces = *unitsFromAttribute(kernel->getAttr(kUnitsAttr));
  Value units = indexConstant(0);
  for (const UnitSpace &space : spaces)
    units = builder.createOrFold<arith::AddIOp>(
        loc, units, unitsAround(space, values.tensor(op.getResult(space.result))));
  return units;
}

// The product of the units of the loops around a result.
Value CPULaunches::unitsAround(const UnitSpace &space, const HostTensor &result) {
  Value units = indexConstant(1);
  for (const UnitLoop &loop : space.loops) {
    Value elements = indexConstant(1);
    for (int64_t axis : loop.axes)
      elements = builder.createOrFold<arith::MulIOp>(loc, elements, result.sizes[axis]);
    Value steps = builder.createOrFold<arith::CeilDivUIOp>(loc, elements, indexConstant(loop.step));
    units = builder.createOrFold<arith::MulIOp>(loc, units, steps);
  }
  return units;
}

void CPULaunches::runOnThreads(func::FuncOp kernel, ArrayRef<Value> operands, Value units,
                               Value nanoseconds) {
  auto [function, closure] = closures.functionAndClosure(kernel, operands);
  call("adrt_parallel_for", nullptr, {context, toI64(units), nanoseconds, function, closure});
}

void CPULaunches::runOnThisThread(const CPULaunch &launch) {
  func::FuncOp kernel = launch.kernel;
  auto operands = llvm::to_vector(launch.operands);
  operands.push_back(indexConstant(0));
  operands.push_back(launch.units);
  if (!launch.op->getParentOfType<LoopLikeOpInterface>() || !module.isInlinable(kernel)) {
    LDBG() << "@" << kernel.getSymName() << " is called";
    module.markCalled(kernel);
    func::CallOp::create(builder, loc, kernel, operands);
    return;
  }
  LDBG() << "@" << kernel.getSymName() << " has no loops and is inlined into the host's loop";
  IRMapping mapping;
  mapping.map(kernel.getArguments(), operands);
  for (Operation &op : kernel.getBody().front().without_terminator())
    builder.clone(op, mapping);
}
