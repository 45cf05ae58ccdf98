// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Turns one planned host function into an entry of the C ABI `adrt`. Tensors become a pointer and sizes;
// everything else is cloned.

#ifndef ADJOINT_LIB_CONVERSION_HOSTTOLLVM_HOSTEMITTER_H
#define ADJOINT_LIB_CONVERSION_HOSTTOLLVM_HOSTEMITTER_H

#include "adjoint/Codegen/Kernel/WorkUnits.h"
#include "adjoint/Dialect/AD/IR/ADLaunchAttributes.h"
#include "adjoint/Transforms/MemoryPlan.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"

namespace mlir::ad {

/// Some microseconds of one core, in steps of the kernel's innermost code over single elements. A poll takes
/// some nanoseconds.
constexpr int64_t kWorkBetweenPolls = 1 << 21;

struct HostOptions {
  bool profile = false; ///< kernels are bracketed with calls that take the time
  bool device = false;  ///< tensors lie in the memory of a device, which runs the kernels
};

/// Of every entry: context, arguments, results; a status.
FunctionType entryType(MLIRContext *context);

/// The function beside a kernel, with a suffix of WorkUnits.h; null if there is none.
func::FuncOp companionOf(func::FuncOp kernel, StringRef suffix);

/// Whether HostEmitter can lower the function: every tensor has its place and every kernel its code.
LogicalResult verifyPlan(func::FuncOp function, const HostOptions &options);
/// How to launch the GPU kernel that the function declares (ad-emit-gpu); null if it declares none.
LaunchConfigAttr launchConfigOf(func::FuncOp function);

/// Globals and declarations that the entries of a module share.
class HostModule {
public:
  explicit HostModule(ModuleOp module) : module(module) {}

  LLVM::LLVMFuncOp runtimeFunction(StringRef name, Type result, ArrayRef<Type> arguments);
  /// Address of a zero-terminated string.
  Value string(OpBuilder &builder, Location loc, StringRef text);
  /// Address of an adrt_site for an operation.
  Value site(OpBuilder &builder, Location loc, StringRef operation);
  /// Address of constant data as it lies in memory.
  Value data(OpBuilder &builder, Location loc, ElementsAttr value);
  /// Number of a kernel in the order of first use.
  int64_t kernelNumber(StringRef kernel);
  ArrayRef<std::string> kernelNames() const { return kernels; }
  /// The function (closure, begin, end) that runs a kernel over a range of units with operands from memory.
  func::FuncOp rangeFunction(func::FuncOp kernel, Type closureType);
  /// Whether the kernel is so short, and without loops, that it becomes a part of a loop that launches it.
  bool isStraight(func::FuncOp kernel);
  void noteCall(func::FuncOp kernel) { called.insert(kernel.getSymName()); }
  /// Erases kernels that became parts of loops and that nothing else calls.
  void eraseInlined();

private:
  Value addressOf(OpBuilder &builder, Location loc, LLVM::GlobalOp global);
  ModuleOp module;
  llvm::StringMap<LLVM::GlobalOp> strings, sites;
  DenseMap<Attribute, LLVM::GlobalOp> constants;
  SmallVector<std::string> kernels;
  llvm::StringMap<func::FuncOp> ranges;
  llvm::StringMap<bool> straight;
  llvm::StringSet<> called;
};

class HostEmitter {
public:
  HostEmitter(func::FuncOp source, HostModule &shared, const HostOptions &options);
  LogicalResult emit();

private:
  struct HostTensor {
    Value pointer;
    SmallVector<Value> sizes;
    RankedTensorType type;
    int64_t buffer = -1;
    bool isZero = false; // a constant whose bytes are all 0
  };

  void declareEntry();
  void bindArguments();
  void bindResults();
  Value resultSlot(unsigned number);
  Value allocateResult(unsigned number, const HostTensor &like);
  bool isDonated(int64_t argument, int64_t result);
  LogicalResult emitBlock(Block &block);
  LogicalResult emitOp(Operation &op);
  void forwardOperands(Operation &op);
  void emitConstant(ConstantOp constant);
  LogicalResult emitDim(tensor::DimOp dim);
  void emitLaunch(LaunchOp launch);
  /// Polls when there would be too much work since the last poll.
  void pollBefore(int64_t work);
  /// Leaves the program when the host has asked it to stop.
  void poll();
  void pollEvery(Value iteration, int64_t iterations);
  SmallVector<Value> operandsOf(LaunchOp launch);
  void launchOnProcessor(LaunchOp launch, func::FuncOp kernel, ArrayRef<Value> operands);
  Value launchPartialReductions(LaunchOp launch, func::FuncOp kernel, ArrayRef<Value> operands,
                                Value nanoseconds);
  Value nanosecondsOf(func::FuncOp kernel, ArrayRef<Value> operands);
  Value unitsOf(LaunchOp launch, func::FuncOp kernel);
  Value unitsAround(const UnitSpace &space, const HostTensor &result);
  void callOnThreads(func::FuncOp kernel, ArrayRef<Value> operands, Value units, Value nanoseconds);
  /// A function for a loop of the runtime, and its closure.
  std::pair<Value, Value> bodyOf(func::FuncOp kernel, ArrayRef<Value> operands);
  Type closureType(ArrayRef<Value> operands);
  void storeFields(Value slot, ArrayRef<Value> fields);
  /// The operands in memory, each as a kernel takes it from there.
  Value closureOf(ArrayRef<Value> operands);

  // --- HostGroups.cpp: kernels side by side
  struct GroupedLaunch {
    LaunchOp launch;
    func::FuncOp kernel;
    SmallVector<Value> operands;
    Value units;

    bool isNarrow() const;       ///< a single unit
    int64_t nanoseconds() const; ///< of a kernel that says how many
  };
  static bool touchesNoElement(Operation &op);
  static int64_t nanosecondsOf(ArrayRef<GroupedLaunch> launches);
  SmallVector<PlannedPlace> placesOf(ValueRange values);
  bool dependsOnGroup(LaunchOp launch);
  bool joinsGroup(const GroupedLaunch &launch);
  void addToGroup(GroupedLaunch launch);
  void describeInto(Value slot, const GroupedLaunch &launch);
  /// Launches what waits in the group.
  void launchGroup();
  void launchUnits(const GroupedLaunch &launch);

  // --- HostInline.cpp: small tensors in loops
  void runWhole(LaunchOp launch, func::FuncOp kernel, SmallVector<Value> operands, Value units);
  Value slotOf(int64_t buffer);
  void returnSlots();

  // --- HostDevice.cpp: tensors in the memory of a device
  void bindDevice();
  Value deviceArgument(unsigned number);
  Value deviceConstant(Value data, const HostTensor &described);
  void readFromDevice(Value target, Value source, Value bytes);
  void returnDonated(Value argument, const HostTensor &tensor);
  Value tileCount(LaunchOp launch, LaunchConfigAttr config);
  std::pair<Value, Value> blocksFor(LaunchConfigAttr config, Value threads);
  Value roomFor(int64_t persistent, int64_t cluster);
  Value countedBlocks(LaunchOp launch, LaunchConfigAttr config);
  Value gridFor(LaunchOp launch, LaunchConfigAttr config);
  Value gridOfThreads(LaunchConfigAttr config, Value threads);
  Value gridOf(Value blocks, Value threads, int64_t sharedBytes);
  SmallVector<Value> tensorMapsFor(LaunchOp launch, LaunchConfigAttr config);
  void launchOnDevice(LaunchOp launch, func::FuncOp kernel, ArrayRef<Value> operands);
  void launchOnDevice(LaunchOp launch, func::FuncOp kernel, ArrayRef<Value> operands, Value grid);
  // HostDivided.cpp: reductions that a grid shares
  void launchDivided(LaunchOp launch, func::FuncOp kernel, ArrayRef<Value> operands);
  void launchNodes(LaunchOp launch, func::FuncOp kernel, ArrayRef<Value> operands, ValueRange sizes);

  /// Says in a remark whether turns of the loop wait for the host.
  void reportTurns(Operation *loop);
  /// What those of the values became that are no tensors, and the other way round.
  SmallVector<Value> loweredScalars(ValueRange values);
  void bindScalars(ValueRange values, ValueRange lowered);

  // --- HostFor.cpp
  struct ForCarries {
    SmallVector<HostTensor> tensors;
    SmallVector<Value> scalars;
  };
  enum class Polls { inEachIteration, outside };
  /// Bounds of the work, in steps as kWorkBetweenPolls counts them, and at most that.
  int64_t workOf(LaunchOp launch);
  int64_t workOf(Operation &op);
  int64_t workOf(Block &block);
  /// Iterations of so much work that may run between two polls.
  int64_t stripOf(int64_t work) const;
  SmallVector<HostTensor> placeCarries(scf::ForOp loop);
  LogicalResult emitWholeFor(scf::ForOp loop, const ForCarries &carries, Polls polls);
  LogicalResult emitIteration(scf::ForOp loop, scf::ForOp lowered, Value index, const ForCarries &carries);
  Value tripCount(scf::ForOp loop);
  LogicalResult emitStrips(scf::ForOp loop, const ForCarries &carries, int64_t strip, int64_t work);

  HostTensor placeCarry(Value argument, Value init, int64_t buffer);
  SmallVector<HostTensor> placeConditionArguments(scf::WhileOp loop);
  FailureOr<SmallVector<HostTensor>> placeResults(scf::WhileOp loop);
  LogicalResult emitFor(scf::ForOp loop);
  LogicalResult emitIf(scf::IfOp branch);
  /// Moves what a side of a branch yields into the places of the results; returns what the lowered side
  /// yields.
  SmallVector<Value> yieldOfBranch(scf::IfOp branch, ValueRange yielded);
  void bindResults(scf::IfOp branch, ValueRange given);
  LogicalResult emitWhile(scf::WhileOp loop);
  void emitFeed(FeedOp feed);
  void emitReceive(ReceiveOp receive);
  void emitCheck(Operation *check);
  void emitRequire(RequireOp require);
  void emitReturn(func::ReturnOp op);
  void emitReshape(ReshapeOp reshape);
  void emitExtract(Operation *extract);
  void emitSelect(Operation *select);

  /// Moves `source` into the place of `target`; nothing when they are one buffer.
  void copy(const HostTensor &target, const HostTensor &source);
  void copyBytes(Value target, Value source, Value bytes);
  /// Moves the yielded tensors into the places of `targets`; `swaps` names a temporary buffer per yielded
  /// value, or -1.
  void yieldTensors(ValueRange yielded, ArrayRef<HostTensor> targets, ArrayRef<int64_t> swaps);
  void requireSameCarry(int64_t carry, int64_t axis, Value before, Value after);
  HostTensor place(RankedTensorType type, ArrayRef<Value> sizes, int64_t buffer);
  HostTensor withPlaceOf(RankedTensorType type, const HostTensor &like, int64_t buffer);
  static int32_t elementNumber(Type element);
  SmallVector<Value> sizesOf(RankedTensorType type, ValueRange dynamic);
  Value elementCount(const HostTensor &tensor);
  Value byteCount(const HostTensor &tensor);
  Value saturatedProduct(Value a, Value b);
  Value unitOf(const HostTensor &tensor);
  /// Address of an array of adrt_tensor that describes the values.
  Value describe(ArrayRef<HostTensor> tensors);
  void describeInto(Value slot, const HostTensor &tensor);
  Value shapeArray(const HostTensor &tensor);
  Value stackSlot(Type type, int64_t count, unsigned alignment = 8);
  Value call(StringRef name, Type result, ValueRange operands);
  void guard(Value status);
  void guardMemory(Value pointer, Location user);
  Location userOf(function_ref<bool(const PlannedPlace &)> wanted);
  Value i32(int64_t value);
  Value i64(int64_t value);
  Value toI64(Value index);
  Value indexConstant(int64_t value);
  int64_t bufferNumber(Operation *op, unsigned result) const;

  func::FuncOp source, entry;
  HostModule &shared;
  const HostOptions options;
  OpBuilder builder;
  Location loc;
  Type pointerType, tensorType;
  Value context, arena, processors;
  IRMapping scalars;
  DenseMap<Value, HostTensor> tensors;
  MemoryPlan plan;
  SmallVector<GroupedLaunch> group; // launches whose code is not emitted yet
  int64_t workSincePoll = 0;        // of the launches, in the order of the program
  SmallVector<Value> resultData;    // memory of the results that have a place in the plan
  DenseMap<int64_t, Value> slots;   // buffers on the stack; null for those that have no room there
  int64_t bytesOfSlots = 0;
};

} // namespace mlir::ad

#endif // ADJOINT_LIB_CONVERSION_HOSTTOLLVM_HOSTEMITTER_H
