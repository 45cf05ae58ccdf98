// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Groups of launches: kernels that follow each other, do not depend on each other and are each too short, or
// too narrow, for threads. A launch waits until an operation comes that may depend on it; then all that wait
// become one loop of the runtime, whose threads share the kernels.

#include "HostEmitter.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace mlir::ad;

// In nanoseconds. Kernels shorter than kShortest take about as long as handing them over, those of several
// units that are longer than kLongest are divided by themselves. The host may want the program to stop before
// a group, not inside.
static constexpr int64_t kShortest = 500, kLongest = 20000, kLeastOfGroup = 4000, kMostOfGroup = 20000000;
static constexpr size_t kMostLaunches = 32;

// Launches may wait behind operations that neither read nor write elements of tensors.
bool HostEmitter::touchesNoElement(Operation &op) {
  if (isa<tensor::DimOp, tensor::CastOp, ReshapeOp, ConstantOp>(op))
    return true;
  return op.getNumRegions() == 0 && !op.hasTrait<OpTrait::IsTerminator>() && isPure(&op) &&
         llvm::none_of(op.getOperandTypes(), llvm::IsaPred<TensorType>) &&
         llvm::none_of(op.getResultTypes(), llvm::IsaPred<TensorType>);
}

static bool overlaps(const PlannedPlace &a, const PlannedPlace &b) {
  if (a.home != b.home || a.number != b.number)
    return false;
  return a.home != Home::pool || (a.offset < b.offset + b.bytes && b.offset < a.offset + a.bytes);
}

// The places of the results or of the operands. Constants and arguments that are not donated have none, and
// nothing writes to them.
SmallVector<PlannedPlace> HostEmitter::placesOf(ValueRange values) {
  SmallVector<PlannedPlace> places;
  for (Value value : values)
    if (int64_t buffer = tensors.lookup(value).buffer; buffer >= 0)
      places.push_back(plan.places[buffer]);
  return places;
}

static bool hasDynamicResults(LaunchOp launch) {
  return llvm::any_of(launch.getResultTypes(),
                      [](Type type) { return !cast<RankedTensorType>(type).hasStaticShape(); });
}

// Whether the launch and one in the group write what the other one reads or writes. Memory of dynamic size
// may move when there is more of it.
bool HostEmitter::dependsOnGroup(LaunchOp launch) {
  if (group.empty() || hasDynamicResults(launch))
    return !group.empty();
  SmallVector<PlannedPlace> written, read = placesOf(launch.getInputs());
  for (OpResult result : launch->getResults())
    written.push_back(plan.places[bufferNumber(launch, result.getResultNumber())]);
  auto meet = [](ArrayRef<PlannedPlace> some, ArrayRef<PlannedPlace> others) {
    return llvm::any_of(some, [&](const PlannedPlace &a) {
      return llvm::any_of(others, [&](const PlannedPlace &b) { return overlaps(a, b); });
    });
  };
  return llvm::any_of(group, [&](GroupedLaunch &other) {
    SmallVector<PlannedPlace> writtenBefore = placesOf(other.launch->getResults());
    return meet(written, writtenBefore) || meet(written, placesOf(other.launch.getInputs())) ||
           meet(read, writtenBefore);
  });
}

bool HostEmitter::GroupedLaunch::isNarrow() const {
  return getConstantIntValue(getAsOpFoldResult(units)) == 1;
}

int64_t HostEmitter::GroupedLaunch::nanoseconds() const {
  return kernel->getAttrOfType<IntegerAttr>(kNanosecondsAttr).getInt();
}

int64_t HostEmitter::nanosecondsOf(ArrayRef<GroupedLaunch> launches) {
  int64_t sum = 0;
  for (const GroupedLaunch &launch : launches)
    sum += launch.nanoseconds();
  return sum;
}

// Whether the launch waits in the group: a short kernel, or one of a single unit.
bool HostEmitter::joinsGroup(const GroupedLaunch &grouped) {
  if (options.profile || !grouped.kernel->hasAttr(kNanosecondsAttr) || hasDynamicResults(grouped.launch) ||
      grouped.kernel->hasAttr(kPartialReductionsAttr))
    return false;
  int64_t nanoseconds = grouped.nanoseconds();
  return nanoseconds >= kShortest && nanoseconds <= (grouped.isNarrow() ? kMostOfGroup : kLongest);
}

void HostEmitter::addToGroup(GroupedLaunch launch) {
  if (group.size() == kMostLaunches || launch.nanoseconds() > kMostOfGroup - nanosecondsOf(group))
    launchGroup();
  group.push_back(std::move(launch));
}

// Addresses and numbers as `adrt_loop` has them.
void HostEmitter::describeInto(Value slot, const GroupedLaunch &launch) {
  auto [body, closure] = bodyOf(launch.kernel, launch.operands);
  SmallVector<Value> fields = {body, closure, toI64(launch.units),
                               nanosecondsOf(launch.kernel, launch.operands)};
  storeFields(slot, fields);
}

void HostEmitter::launchGroup() {
  SmallVector<GroupedLaunch> launches = std::exchange(group, {});
  Location after = loc;
  if (launches.size() < 2 || nanosecondsOf(launches) < kLeastOfGroup) {
    for (GroupedLaunch &launch : launches) {
      loc = launch.launch.getLoc();
      launchUnits(launch);
    }
    loc = after;
    return;
  }
  loc = launches.front().launch.getLoc();
  Type type = LLVM::LLVMStructType::getLiteral(
      builder.getContext(), {pointerType, pointerType, builder.getI64Type(), builder.getI64Type()});
  Value slots = stackSlot(type, launches.size());
  for (auto [i, launch] : llvm::enumerate(launches))
    describeInto(LLVM::GEPOp::create(builder, loc, pointerType, type, slots,
                                     ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(i)}),
                 launch);
  call("adrt_parallel_loops", nullptr, {context, i64(launches.size()), slots});
  loc = after;
}
