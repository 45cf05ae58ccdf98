// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Verifies the memory plan and the operations of a host program.

#include "VerifyPlannedProgram.h"
#include "PlanReader.h"
#include "adjoint/Dialect/AD/Transforms/Stages.h"
#include "adjoint/Transforms/HostProgram.h"

using namespace mlir;
using namespace mlir::ad;
using namespace mlir::ad::host;

LogicalResult host::verifyPlannedProgram(func::FuncOp function, const HostOptions &options) {
  std::optional<PlanReader> plan = PlanReader::read(function);
  if (!plan)
    return function.emitOpError("has no memory plan; ") << howToReach(Stage::planned);
  if (failed(verifyHostProgram(function)))
    return failure();
  WalkResult result = function.walk([&](Operation *op) -> WalkResult {
    if (failed(plan->verify(op)))
      return WalkResult::interrupt();
    auto launch = dyn_cast<LaunchOp>(op);
    return WalkResult(launch ? verifyLaunch(launch, options) : success());
  });
  return failure(result.wasInterrupted());
}
