// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Which launches wait, which operations depend on them, and the loop that they become.

#include "LaunchGroups.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace mlir::ad;
using namespace mlir::ad::host;

// In nanoseconds. A kernel shorter than kMinKernel takes about as long as its launch; a kernel of
// several units that is longer than kMaxKernel has a parallel loop of its own. Polls are before a group,
// never inside, so that kMaxGroup bounds the time until the program stops.
static constexpr int64_t kMinKernel = 500, kMaxKernel = 20000, kMinGroup = 4000, kMaxGroup = 20000000;
static constexpr size_t kMaxLaunches = 32;

// Launches may be moved after operations that neither read nor write elements of tensors.
static bool touchesNoElement(Operation &op) {
  if (isa<tensor::DimOp, tensor::CastOp, ReshapeOp, ConstantOp>(op))
    return true;
  return op.getNumRegions() == 0 && !op.hasTrait<OpTrait::IsTerminator>() && isPure(&op) &&
         llvm::none_of(op.getOperandTypes(), llvm::IsaPred<TensorType>) &&
         llvm::none_of(op.getResultTypes(), llvm::IsaPred<TensorType>);
}

void LaunchGroups::flushBefore(LaunchOp launch) {
  if (dependsOnGroup(launch))
    flush();
}

void LaunchGroups::flushBeforeOther(Operation &op) {
  if (!touchesNoElement(op))
    flush();
}

static bool overlap(ArrayRef<BufferAttr> some, ArrayRef<BufferAttr> others) {
  return llvm::any_of(
      some, [&](BufferAttr a) { return llvm::any_of(others, [&](BufferAttr b) { return a.overlaps(b); }); });
}

// Constants and arguments that are not donated have no buffer, and nothing writes to them.
SmallVector<BufferAttr> LaunchGroups::buffersOf(ValueRange tensors) const {
  SmallVector<BufferAttr> found;
  for (Value value : tensors)
    if (int64_t buffer = values.tensor(value).buffer; buffer >= 0)
      found.push_back(buffers.plan.getBuffer(buffer));
  return found;
}

static bool hasDynamicResults(LaunchOp launch) {
  return llvm::any_of(launch.getResultTypes(),
                      [](Type type) { return !cast<RankedTensorType>(type).hasStaticShape(); });
}

// Whether the launch writes a buffer that a waiting launch reads or writes, or reads a buffer that one
// writes. A pool of dynamic size may move when it grows.
bool LaunchGroups::dependsOnGroup(LaunchOp launch) const {
  if (waiting.empty() || hasDynamicResults(launch))
    return !waiting.empty();
  SmallVector<BufferAttr> written, read = buffersOf(launch.getInputs());
  for (OpResult result : launch->getResults())
    written.push_back(buffers.plan.getBuffer(buffers.plan.bufferOf(result)));
  return llvm::any_of(waiting, [&](const CPULaunch &other) {
    LaunchOp before = other.op;
    SmallVector<BufferAttr> writtenBefore = buffersOf(before->getResults());
    return overlap(written, writtenBefore) || overlap(written, buffersOf(before.getInputs())) ||
           overlap(read, writtenBefore);
  });
}

static int64_t nanosecondsOf(ArrayRef<CPULaunch> group) {
  int64_t sum = 0;
  for (const CPULaunch &launch : group)
    sum += launch.nanoseconds();
  return sum;
}

bool LaunchGroups::accepts(const CPULaunch &launch) const {
  func::FuncOp kernel = launch.kernel;
  if (options.profile || !kernel->hasAttr(kNanosecondsAttr) || hasDynamicResults(launch.op) ||
      kernel->hasAttr(kPartialReductionsAttr))
    return false;
  int64_t nanoseconds = launch.nanoseconds();
  return nanoseconds >= kMinKernel && nanoseconds <= (launch.hasOneUnit() ? kMaxGroup : kMaxKernel);
}

void LaunchGroups::add(CPULaunch launch) {
  if (waiting.size() == kMaxLaunches || launch.nanoseconds() > kMaxGroup - nanosecondsOf(waiting))
    flush();
  waiting.push_back(std::move(launch));
}

void LaunchGroups::flush() {
  SmallVector<CPULaunch> group = std::exchange(waiting, {});
  Location after = loc;
  if (group.size() >= 2 && nanosecondsOf(group) >= kMinGroup) {
    emitAsOneLoop(group);
  } else {
    for (CPULaunch &launch : group) {
      loc = launch.op.getLoc();
      launches.runUnits(launch);
    }
  }
  loc = after;
}

// An `adrt_loop` for each kernel: function, closure, units and nanoseconds.
void LaunchGroups::emitAsOneLoop(ArrayRef<CPULaunch> group) {
  loc = LaunchOp(group.front().op).getLoc();
  Type type = LLVM::LLVMStructType::getLiteral(
      builder.getContext(), {pointerType, pointerType, builder.getI64Type(), builder.getI64Type()});
  Value loops = entry.stackSlot(type, group.size());
  for (auto [i, launch] : llvm::enumerate(group)) {
    Value slot = entry.elementAddress(type, loops, i);
    auto [function, closure] = closures.functionAndClosure(launch.kernel, launch.operands);
    Value units = toI64(launch.units), nanoseconds = launches.nanosecondsOf(launch.kernel, launch.operands);
    closures.store(slot, {function, closure, units, nanoseconds});
  }
  call("adrt_parallel_loops", nullptr, {context, i64(group.size()), loops});
}
