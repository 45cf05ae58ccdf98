// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// The passes `ad-plan-memory` and `ad-verify-memory-plan`.

#include "Planner.h"
#include "Report.h"
#include "VerifyMemoryPlan.h"
#include "adjoint/Support/TextFile.h"
#include "adjoint/Transforms/HostProgram.h"
#include "adjoint/Transforms/Passes.h"
#include "mlir/IR/Remarks.h"
#include "llvm/Support/DebugLog.h"

#define DEBUG_TYPE "ad-plan-memory"

namespace mlir::ad {
#define GEN_PASS_DEF_PLANMEMORYPASS
#define GEN_PASS_DEF_VERIFYMEMORYPLANPASS
#include "adjoint/Transforms/Passes.h.inc"
} // namespace mlir::ad

using namespace mlir;
using namespace mlir::ad;

static std::string textOf(Operation *op) {
  std::string text = op->getName().getStringRef().str();
  if (auto launch = dyn_cast<LaunchOp>(op))
    text += " @" + launch.getKernel().str();
  return text;
}

static std::string nameOf(Operation *op) {
  auto launch = dyn_cast<LaunchOp>(op);
  return launch ? launch.getKernel().str() : op->getName().getStringRef().str();
}

static PlannedFunction assignOffsets(func::FuncOp function, MemoryPlanner &planner) {
  PlannedFunction planned;
  const ProgramOrder &order = planner.getOrder();
  planned.name = function.getName().str();
  planned.end = order.getEnd();
  for (int64_t number = 0; number < planned.end; ++number)
    planned.operations.push_back(nameOf(order.getOperation(number)));
  SmallVector<SmallVector<PlannedBuffer *>> pools(planner.getPoolCount());
  for (PlannedBuffer &buffer : planner.getBuffers().getAll())
    if (buffer.isInPool())
      pools[buffer.number].push_back(&buffer);
  for (auto [number, buffers] : llvm::enumerate(pools)) {
    planned.pools.push_back(assignOffsets(buffers, number == 0 ? kArenaAlignment : 1));
    planned.peaks.push_back(textOf(order.getOperation(planned.pools.back().liveAt)));
    LDBG() << "pool " << number << ", " << planned.pools.back().order << ": " << planned.pools.back().used
           << " bytes for " << buffers.size() << " buffers of " << planned.pools.back().total;
  }
  planned.buffers = SmallVector<PlannedBuffer>(planner.getBuffers().getAll());
  return planned;
}

static void report(func::FuncOp function, const PoolSummary &arena) {
  if (arena.total > 0)
    remark::analysis(function.getLoc(), remark::RemarkOpts::name("arena").category("ad-memory"))
        << remark::metric("used", std::to_string(arena.used))
        << remark::metric("total", std::to_string(arena.total))
        << remark::metric("live", std::to_string(arena.live));
}

static LogicalResult verifySizes(func::FuncOp function) {
  WalkResult result = function.walk([](Operation *op) {
    for (Value value : op->getResults())
      if (auto type = dyn_cast<RankedTensorType>(value.getType()); type && !fitsInMemory(type)) {
        op->emitError("the result of type ")
            << type << " is larger than all memory"; // launches are not the program's
        return WalkResult::interrupt();
      }
    return WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}

static FailureOr<PlannedFunction> plan(func::FuncOp function, SymbolTableCollection &symbols) {
  if (failed(verifyHostProgram(function, Stage::outlined)) || failed(verifySizes(function)))
    return failure();
  eraseMemoryPlan(function);
  OverwriteAnalysis overwrites(symbols);
  scheduleUpdates(function, overwrites);
  MemoryPlanner planner(function, overwrites);
  planner.assign();
  PlannedFunction planned = assignOffsets(function, planner);
  writeMemoryPlan(function, planner.getBuffers(), planner.getTemporaries());
  report(function, planned.pools.front());
  if (failed(verifyMemoryPlan(function, symbols)))
    return failure();
  return planned;
}

namespace {
class PlanMemoryPass : public ad::impl::PlanMemoryPassBase<PlanMemoryPass> {
public:
  using PlanMemoryPassBase::PlanMemoryPassBase;

private:
  void runOnOperation() override {
    SymbolTableCollection symbols;
    SmallVector<PlannedFunction, 1> functions;
    for (auto function : getOperation().getOps<func::FuncOp>()) {
      if (function.isExternal())
        continue;
      FailureOr<PlannedFunction> planned = plan(function, symbols);
      if (failed(planned))
        return signalPassFailure();
      functions.push_back(std::move(*planned));
    }
    bool written = write("report", reportFile, [&](raw_ostream &os) { printReport(functions, os); }) &&
                   write("picture", pictureFile, [&](raw_ostream &os) { drawPicture(functions, os); });
    if (!written)
      signalPassFailure();
  }

  bool write(StringRef option, StringRef file, function_ref<void(raw_ostream &)> print) {
    return file.empty() ||
           succeeded(writeTextFile(getOperation(), (option + " of ad-plan-memory").str(), file, print));
  }
};

class VerifyMemoryPlanPass : public ad::impl::VerifyMemoryPlanPassBase<VerifyMemoryPlanPass> {
  void runOnOperation() override {
    markAllAnalysesPreserved();
    SymbolTableCollection symbols;
    for (auto function : getOperation().getOps<func::FuncOp>())
      if (!function.isExternal() && failed(verifyMemoryPlan(function, symbols)))
        return signalPassFailure();
  }
};
} // namespace
