// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Verifies the memory plan and the operations of a host program.

#include "VerifyPlannedProgram.h"
#include "adjoint/Transforms/HostProgram.h"
#include "adjoint/Transforms/MemoryPlan.h"

using namespace mlir;
using namespace mlir::ad;
using namespace mlir::ad::host;

LogicalResult host::verifyPlannedProgram(func::FuncOp function, const HostOptions &options) {
  if (failed(verifyHostProgram(function, Stage::planned)) || failed(MemoryPlan::read(function)))
    return failure();
  WalkResult result =
      function.walk([&](LaunchOp launch) { return WalkResult(verifyLaunch(launch, options)); });
  return failure(result.wasInterrupted());
}
