// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Shared by the files of the lowering: calls of the machine's functions, sites, and the table of
// instructions. Pointers keep their address spaces until all code that depends on them has been emitted.
#ifndef ADJOINT_LIB_EMULATOR_LOWERING_LOWERING_H
#define ADJOINT_LIB_EMULATOR_LOWERING_LOWERING_H

#include "../Abi.h"
#include "Sites.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Interfaces/DataLayoutInterfaces.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringMap.h"

#include <functional>

namespace mlir::ad::emulator {

/// Address spaces of NVVM.
enum AddressSpace : unsigned {
  GenericSpace = 0,
  GlobalSpace = 1,
  SharedSpace = 3,
  ConstantSpace = 4,
  LocalSpace = 5,
  ClusterSpace = 7,
  ParameterSpace = 101
};

/// The offsets of a module's variables in shared memory, and the sizes of shared and local memory.
struct SharedLayout {
  llvm::StringMap<uint64_t> offsets;
  uint64_t staticBytes = 0;           ///< dynamic shared memory begins after them
  llvm::StringMap<uint64_t> ofKernel; ///< the same for kernels that have variables of their own
  uint64_t localBytes = 0;
};

/// Emits code before one operation at a time.
class Lowering {
public:
  Lowering(ModuleOp module, SiteTable &sites, const DataLayout &layout);

  /// From now on, code is emitted before `op`, with its location and its site.
  void setOperation(Operation *op);

  Value self() const;
  Value constant(int64_t value);
  Value constant64(int64_t value);
  Value site() { return constant(siteIndex); }
  Value null();
  /// A call of `function` with the running thread and `arguments`.
  Value call(StringRef function, Type result, ValueRange arguments);
  /// The same with the site as the last argument.
  Value callAt(StringRef function, Type result, SmallVector<Value> arguments);

  /// Allocates `count` 32-bit words in the thread's frame.
  Value words(unsigned count);
  void putWord(Value memory, unsigned index, Value value);
  Value getWord(Value memory, unsigned index, Type type);
  /// Values of at most 64 bits as integers, and back.
  Value asInteger(Value value, unsigned bits);
  Value fromInteger(Value value, Type type);
  /// A struct whose elements are the words of `memory`, each of its type.
  Value structFromWords(Value memory, LLVM::LLVMStructType type);

  /// Replaces the operation by `value`, if it has a result.
  void replace(Value value = {});
  LogicalResult refuse(const Twine &why);

  Operation *op() const { return operation; }
  Location loc() const { return operation->getLoc(); }
  MLIRContext *context() const { return builder.getContext(); }
  const DataLayout &getLayout() const { return layout; }

  OpBuilder builder;
  Type i1, i16, i32, i64, f32, pointer;

private:
  ModuleOp module;
  SiteTable &sites;
  const DataLayout &layout;
  Operation *operation = nullptr;
  int64_t siteIndex = 0;
};

using LowerInstruction = std::function<LogicalResult(Lowering &, Operation *)>;
using InstructionTable = llvm::StringMap<LowerInstruction>;

template <typename Op> void addInstruction(InstructionTable &table, LogicalResult (*lower)(Lowering &, Op)) {
  table[Op::getOperationName()] = [lower](Lowering &l, Operation *op) { return lower(l, cast<Op>(op)); };
}

void addSynchronization(InstructionTable &table);
void addWarpInstructions(InstructionTable &table);
void addMBarriers(InstructionTable &table);
void addCopies(InstructionTable &table);
void addMatrices(InstructionTable &table);
void addScalars(InstructionTable &table);
/// Intrinsics for which the NVVM dialect has no operation.
LogicalResult lowerIntrinsic(Lowering &l, LLVM::CallIntrinsicOp op);
/// A call of an intrinsic for mma.sync.
LogicalResult lowerMmaIntrinsic(Lowering &l, LLVM::CallIntrinsicOp op);
/// Special registers, which are read from the thread's state.
LogicalResult lowerRegister(Lowering &l, Operation *op, StringRef name);

/// The AccessFlags of an access through `pointer` with `alignment`.
uint32_t accessFlags(Value pointer, uint64_t alignment, uint32_t more = 0);
/// Emits calls of the checks before loads, stores, atomics and integer divisions.
LogicalResult instrument(Lowering &l, Operation *op);
/// Finds the accumulators of each `wgmma` in the function, and emits checks before other operations that read
/// or write them.
void watchAccumulators(Lowering &l, LLVM::LLVMFuncOp function);
/// The number that watchAccumulators has given to the accumulators of a `wgmma`.
int64_t accumulatorsOf(NVVM::WgmmaMmaAsyncOp op);
/// Expands float operations that give other bits on the host.
LogicalResult expandFloats(Lowering &l, Operation *op);

bool isKernel(LLVM::LLVMFuncOp function);
FailureOr<SharedLayout> layOutShared(gpu::GPUModuleOp module, const DataLayout &layout);
/// The size of the frame of `function`, for one thread.
uint64_t frameBytes(LLVM::LLVMFuncOp function, const DataLayout &layout);
/// Emits the entry and the description of a kernel at the end of `module`.
void emitKernel(ModuleOp module, LLVM::LLVMFuncOp kernel, StringRef name, const SharedLayout &shared,
                SiteTable &sites, ArrayRef<LLVM::GlobalOp> memory, const DataLayout &layout);

} // namespace mlir::ad::emulator

#endif // ADJOINT_LIB_EMULATOR_LOWERING_LOWERING_H
