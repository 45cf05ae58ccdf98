// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Verifies the kernels of launches: code, functions next to the kernel, launch configuration.

#include "../VerifyPlannedProgram.h"
#include "KernelFunctions.h"
#include "adjoint/Codegen/Kernel/LaunchStages.h"
#include "adjoint/Codegen/Kernel/SortedRuns.h"
#include "adjoint/Codegen/Kernel/WorkUnits.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;
using namespace mlir::ad;
using namespace mlir::ad::host;

namespace {
class LaunchVerifier {
public:
  LaunchVerifier(LaunchOp launch, const HostOptions &options) : launch(launch), options(options) {}
  LogicalResult verify();

private:
  LogicalResult verifyUnits(func::FuncOp kernel);
  LogicalResult verifyCompanions(func::FuncOp kernel);
  LogicalResult verifyDivided(func::FuncOp kernel);
  LogicalResult verifySort(func::FuncOp kernel);
  LogicalResult verifyStages(func::FuncOp kernel);
  LogicalResult verifyConfig(func::FuncOp kernel);
  LogicalResult verifyMap(TensorMapAttr map);
  LogicalResult expectCompanions(func::FuncOp kernel);

  LaunchOp launch;
  const HostOptions &options;
};
} // namespace

LogicalResult LaunchVerifier::verify() {
  auto kernel = SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(launch, launch.getKernelAttr());
  if (!kernel || !(options.device ? bool(launchConfigOf(kernel)) : kernel->hasAttr(kUnitsAttr)))
    return launch.emitOpError("launches a kernel without code; run ")
           << (options.device ? "ad-emit-gpu" : "ad-emit-cpu") << " first";
  if (launch.getKernel().starts_with("ad_") || launch.getKernel().starts_with("adrt_"))
    return launch.emitOpError("launches a kernel with a name like those of the runtime and of its data; run "
                              "ad-outline-kernels first, which renames it");
  if (launch.getNumResults() == 0)
    return launch.emitOpError("has no results; the host program expects tensors, not destinations");
  if (!options.device)
    return verifyUnits(kernel);
  return failure(failed(verifyDivided(kernel)) || failed(verifySort(kernel)) ||
                 failed(verifyStages(kernel)) || failed(verifyConfig(kernel)));
}

LogicalResult LaunchVerifier::expectCompanions(func::FuncOp kernel) {
  return launch.emitOpError(
             "launches a kernel that has ad.partial_reductions, but not the functions next to it; expected @")
         << kernel.getSymName() << " with " << kPartialSizesSuffix << ", " << kPartialSuffix << " and "
         << kMergeSuffix;
}

// The arguments of a kernel before its tensor maps.
static ArrayRef<Type> argumentsBeforeMaps(func::FuncOp kernel) {
  LaunchConfigAttr config = launchConfigOf(kernel);
  size_t maps = config ? config.getTensorMaps().size() : 0;
  ArrayRef<Type> arguments = kernel.getArgumentTypes();
  return arguments.drop_back(std::min(maps, arguments.size()));
}

// The functions next to a kernel whose reductions a grid computes in parts (DeviceLaunches.cpp).
LogicalResult LaunchVerifier::verifyDivided(func::FuncOp kernel) {
  if (!kernel->hasAttr(kPartialReductionsAttr))
    return success();
  auto when = kernel->getAttrOfType<StringAttr>(kPartialReductionsAttr);
  if (!when || (when.getValue() != "always" && when.getValue() != "sizes"))
    return launch.emitOpError(
        "launches a kernel whose ad.partial_reductions does not say when; expected \"always\" or \"sizes\"");
  Type index = IndexType::get(kernel.getContext()), pointer = LLVM::LLVMPointerType::get(kernel.getContext());
  SmallVector<Type> sized(argumentsBeforeMaps(kernel)), divided(sized), three(3, index);
  sized.push_back(index);
  divided.append({pointer, index});
  func::FuncOp sizes = companionOf(kernel, kPartialSizesSuffix);
  auto isPart = [&](StringRef suffix) {
    func::FuncOp part = companionOf(kernel, suffix);
    return part && launchConfigOf(part) && argumentsBeforeMaps(part) == ArrayRef(divided);
  };
  if (!sizes || sizes.isExternal() || sizes.getArgumentTypes() != ArrayRef(sized) ||
      sizes.getResultTypes() != ArrayRef(three) || !isPart(kPartialSuffix) || !isPart(kMergeSuffix))
    return expectCompanions(kernel);
  for (StringRef suffix : {kPartialSuffix, kMergeSuffix})
    if (failed(verifyConfig(companionOf(kernel, suffix))))
      return failure();
  return success();
}

// The functions next to a kernel that sorts long lines.
LogicalResult LaunchVerifier::verifySort(func::FuncOp kernel) {
  if (!kernel->hasAttr(kSortedRunsAttr))
    return success();
  Type index = IndexType::get(kernel.getContext()), pointer = LLVM::LLVMPointerType::get(kernel.getContext());
  SmallVector<Type> operands(kernel.getArgumentTypes()), withRuns(operands), two(2, index);
  withRuns.append({pointer, index});
  func::FuncOp sizes = companionOf(kernel, kRunSizesSuffix);
  auto isPart = [&](StringRef suffix) {
    func::FuncOp part = companionOf(kernel, suffix);
    return part && launchConfigOf(part) && part.getArgumentTypes() == ArrayRef(withRuns);
  };
  if (!sizes || sizes.isExternal() || sizes.getArgumentTypes() != ArrayRef(operands) ||
      sizes.getResultTypes() != ArrayRef(two) || !isPart(kSortTilesSuffix) || !isPart(kMergeRunsSuffix))
    return launch.emitOpError(
               "launches a kernel that has ad.sorted_runs, but not the functions next to it; expected @")
           << kernel.getSymName() << " with " << kRunSizesSuffix << ", " << kSortTilesSuffix << " and "
           << kMergeRunsSuffix;
  return failure(failed(verifyConfig(companionOf(kernel, kSortTilesSuffix))) ||
                 failed(verifyConfig(companionOf(kernel, kMergeRunsSuffix))));
}

// The functions next to a kernel of several launches.
LogicalResult LaunchVerifier::verifyStages(func::FuncOp kernel) {
  if (!kernel->hasAttr(kLaunchStagesAttr))
    return success();
  auto suffixes = kernel->getAttrOfType<ArrayAttr>(kLaunchStagesAttr);
  if (!suffixes || suffixes.empty() || !llvm::all_of(suffixes, llvm::IsaPred<StringAttr>))
    return launch.emitOpError("launches a kernel whose ad.launch_stages is no array of suffixes");
  SmallVector<Type> operands(kernel.getArgumentTypes()), withMemory(operands);
  withMemory.push_back(LLVM::LLVMPointerType::get(kernel.getContext()));
  SmallVector<Type> results(1 + suffixes.size(), IndexType::get(kernel.getContext()));
  func::FuncOp sizes = companionOf(kernel, kStageSizesSuffix);
  auto isStage = [&](StringRef suffix) {
    func::FuncOp stage = companionOf(kernel, suffix);
    return stage && launchConfigOf(stage) && stage.getArgumentTypes() == ArrayRef(withMemory);
  };
  auto names = suffixes.getAsValueRange<StringAttr>();
  if (!sizes || sizes.isExternal() || sizes.getArgumentTypes() != ArrayRef(operands) ||
      sizes.getResultTypes() != ArrayRef(results) || !llvm::all_of(names, isStage))
    return launch.emitOpError(
               "launches a kernel that has ad.launch_stages, but not the functions next to it; expected @")
           << kernel.getSymName() << " with " << kStageSizesSuffix << " and with each suffix";
  return success(llvm::all_of(
      names, [&](StringRef suffix) { return succeeded(verifyConfig(companionOf(kernel, suffix))); }));
}

// Whether the units are those of some results of the launch, each named once, and of axes of theirs.
static bool namesAxesOf(LaunchOp launch, func::FuncOp kernel) {
  std::optional<WorkUnits> units = unitsFromAttribute(kernel->getAttr(kUnitsAttr));
  llvm::SmallDenseSet<int64_t> results;
  auto isSpace = [&](const UnitSpace &space) {
    if (space.result >= launch.getNumResults() || !results.insert(space.result).second)
      return false;
    int64_t rank = cast<RankedTensorType>(launch.getResult(space.result).getType()).getRank();
    llvm::SmallDenseSet<int64_t> axes;
    return llvm::all_of(space.loops, [&](const UnitLoop &loop) {
      return llvm::all_of(loop.axes, [&](int64_t axis) { return axis < rank && axes.insert(axis).second; });
    });
  };
  return units && !units->empty() && llvm::all_of(*units, isSpace);
}

LogicalResult LaunchVerifier::verifyUnits(func::FuncOp kernel) {
  if (!namesAxesOf(launch, kernel))
    return launch.emitOpError("launches a kernel whose ad.units names no axes of its results; expected "
                              "[[RESULT, array<i64: STEP, AXIS, …>, …], …]");
  return verifyCompanions(kernel);
}

// The functions next to a kernel take its operands. Some take the memory of partial results and a range after
// them.
LogicalResult LaunchVerifier::verifyCompanions(func::FuncOp kernel) {
  Type index = IndexType::get(kernel.getContext()), pointer = LLVM::LLVMPointerType::get(kernel.getContext());
  ArrayRef<Type> arguments = kernel.getArgumentTypes();
  if (kernel.getNumResults() > 0)
    return launch.emitOpError(
        "launches a kernel that returns values; expected it to write its results to memory");
  if (arguments.size() < 2 || llvm::any_of(arguments.take_back(2), [&](Type type) { return type != index; }))
    return launch.emitOpError(
        "launches a kernel that takes no range of units; expected two index arguments last");
  SmallVector<Type> operands(arguments.drop_back(2)), range(operands);
  range.append({pointer, index, index});
  auto has = [&](StringRef suffix, ArrayRef<Type> inputs, ArrayRef<Type> results) {
    func::FuncOp companion = companionOf(kernel, suffix);
    return companion && companion.getArgumentTypes() == inputs && companion.getResultTypes() == results;
  };
  auto nanoseconds = kernel->getAttrOfType<IntegerAttr>(kNanosecondsAttr);
  bool isKnown = nanoseconds && nanoseconds.getType().isInteger(64) && nanoseconds.getInt() >= 0;
  if (!isKnown && !has(kNanosecondsSuffix, operands, index))
    return launch.emitOpError(
               "launches a kernel without an estimate of its time; expected ad.nanoseconds, an i64, "
               "or a function @")
           << kernel.getSymName() << kNanosecondsSuffix << " of its operands that returns an index";
  if (!kernel->hasAttr(kPartialReductionsAttr))
    return success();
  auto minThreads = kernel->getAttrOfType<IntegerAttr>(kPartialReductionsAttr);
  if (!minThreads || !minThreads.getType().isInteger(64) || minThreads.getInt() < 1)
    return launch.emitOpError(
        "launches a kernel whose ad.partial_reductions is no number of threads; expected an "
        "i64 from 1 on");
  if (!has(kPartialSizesSuffix, operands, {index, index}) || !has(kPartialSuffix, range, {}) ||
      !has(kMergeSuffix, range, {}))
    return expectCompanions(kernel);
  if (!namesAxesOf(launch, companionOf(kernel, kMergeSuffix)))
    return launch.emitOpError("launches a kernel whose function @")
           << kernel.getSymName() << kMergeSuffix << " has no ad.units of the results";
  return success();
}

// What the verifier of the attribute cannot know: the results and operands of the launch.
LogicalResult LaunchVerifier::verifyConfig(func::FuncOp kernel) {
  LaunchConfigAttr config = launchConfigOf(kernel);
  if (config.getResult() >= launch.getNumResults())
    return launch.emitOpError("expected the launch_config of its kernel to name one of ")
           << launch.getNumResults() << " results, but got " << config.getResult();
  int64_t rank = cast<RankedTensorType>(launch.getResult(config.getResult()).getType()).getRank();
  if (config.getAxes() > rank)
    return launch.emitOpError("expected the launch_config of its kernel to enumerate at most ")
           << rank << " axes of result " << config.getResult() << ", but got " << config.getAxes();
  return success(
      llvm::all_of(config.getTensorMaps(), [&](TensorMapAttr map) { return succeeded(verifyMap(map)); }));
}

LogicalResult LaunchVerifier::verifyMap(TensorMapAttr map) {
  auto expected = [&] { return launch.emitOpError("expected tensor maps of its kernel to describe "); };
  int64_t operands = launch.getInputs().size(), boxAxes = map.getBox().size();
  if (map.getOperand() >= operands)
    return expected() << "one of " << operands << " operands, but got " << map.getOperand();
  Type operand = launch.getInputs()[map.getOperand()].getType();
  auto type = dyn_cast<RankedTensorType>(operand);
  if (!type)
    return expected() << "tensors, but got " << operand;
  if (type.getRank() != boxAxes)
    return expected() << "all " << type.getRank() << " axes of " << type << ", but got a box of " << boxAxes;
  if (map.getTf32() && !type.getElementType().isF32())
    return expected() << "f32 elements where they round to tf32, but got " << type.getElementType();
  return success();
}

LogicalResult host::verifyLaunch(LaunchOp launch, const HostOptions &options) {
  return LaunchVerifier(launch, options).verify();
}
