// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Upper bounds of the work of launches, loops and branches.

#include "WorkEstimate.h"
#include "adjoint/Support/TripCount.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::ad;
using namespace mlir::ad::host;

// Steps that reading operands and writing one element of a result count as.
static constexpr int64_t kStepsPerElement = 8;
// Work that has no bound: operations that wait for the host, and loops of unknown length.
static constexpr int64_t kUnbounded = kWorkBetweenPolls;
// A launch that is short takes longer than its elements say.
static constexpr int64_t kMinLaunchWork = 256;

int64_t host::saturatedWork(uint64_t iterations, int64_t work) {
  uint64_t product = llvm::SaturatingMultiply<uint64_t>(iterations, work);
  return static_cast<int64_t>(std::min<uint64_t>(product, kUnbounded));
}

// A dynamic shape may be large.
static int64_t elementsOf(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor)
    return 1;
  return tensor.hasStaticShape() ? tensor.getNumElements() : kUnbounded;
}

static int64_t workOnResults(LaunchOp launch, func::FuncOp kernel) {
  auto reduction = kernel->getAttrOfType<IntegerAttr>("ad.k");
  int64_t steps = kStepsPerElement + (reduction ? reduction.getInt() : 0), elements = 1;
  for (Type type : launch.getResultTypes())
    elements = std::max(elements, elementsOf(type));
  int64_t work;
  return llvm::MulOverflow(elements, steps, work) ? INT64_MAX : work;
}

int64_t host::workOf(LaunchOp launch) {
  auto kernel = SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(launch, launch.getKernelAttr());
  int64_t work = workOnResults(launch, kernel);
  for (Type type : launch.getInputs().getTypes())
    work = std::max(work, elementsOf(type));
  return std::min(work, kWorkBetweenPolls);
}

int64_t host::workOf(Operation &op) {
  if (auto launch = dyn_cast<LaunchOp>(op))
    return std::max(kMinLaunchWork, workOf(launch));
  if (auto loop = dyn_cast<scf::ForOp>(op)) {
    std::optional<uint64_t> trips = staticTripCount(loop);
    return trips ? saturatedWork(*trips, workOf(*loop.getBody())) : kUnbounded;
  }
  if (auto branch = dyn_cast<scf::IfOp>(op)) {
    int64_t work = 1;
    for (Region &region : branch->getRegions())
      work += region.empty() ? 0 : workOf(region.front());
    return std::min(work, kUnbounded);
  }
  if (isa<BufferOp, CopyOp>(op))
    return 0;
  bool waits =
      op.getNumRegions() > 0 || isa<FeedOp, ReceiveOp>(op) || op.getName().getDialectNamespace() == "check";
  return waits ? kUnbounded : 1;
}

int64_t host::workOf(Block &block) {
  int64_t work = 1;
  for (Operation &op : block)
    work = std::min(work + workOf(op), kUnbounded);
  return work;
}
