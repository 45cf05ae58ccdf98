// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// What the parts of the lowering share: building calls of the machine's functions, sites, and the table of
// instructions. Pointers keep their address spaces until everything that depends on them has been emitted.
#ifndef ADJOINT_LIB_EMULATOR_LOWERING_LOWERING_H
#define ADJOINT_LIB_EMULATOR_LOWERING_LOWERING_H

#include "Sites.h"
#include "adjoint/Emulator/Abi.h"
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

/// Where variables of a module lie in shared memory, and what its functions keep in their frames.
struct SharedLayout {
  llvm::StringMap<uint64_t> offsets;
  uint64_t staticBytes = 0;           ///< dynamic shared memory begins behind them
  llvm::StringMap<uint64_t> ofKernel; ///< the same for kernels that have variables of their own
  uint64_t localBytes = 0;
};

/// Emits code in front of one operation at a time.
class Lowering {
public:
  Lowering(ModuleOp module, SiteTable &sites, const DataLayout &layout);

  /// All that follows is emitted before `op`, at its location, as part of its site.
  void setOperation(Operation *op);

  Value self() const;
  Value constant(int64_t value);
  Value constant64(int64_t value);
  Value site() { return constant(siteIndex); }
  Value null();
  /// A call of `function`, with the running thread in front of `arguments`.
  Value call(StringRef function, Type result, ValueRange arguments);
  /// The same with the site behind them.
  Value callAt(StringRef function, Type result, SmallVector<Value> arguments);

  /// Memory of the thread's frame for `count` words of 32 bits.
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
/// The few intrinsics of LLVM that NVVM has no operation for.
LogicalResult lowerIntrinsic(Lowering &l, LLVM::CallIntrinsicOp op);
/// Special registers, which are read from the thread's state.
LogicalResult lowerRegister(Lowering &l, Operation *op, StringRef name);

/// The flags of an access through `pointer` that an operation of `alignment` makes.
uint32_t accessFlags(Value pointer, uint64_t alignment, uint32_t more = 0);
/// Calls of the checks in front of loads, stores, atomics and integer divisions.
LogicalResult instrument(Lowering &l, Operation *op);
/// Finds the accumulators of each `wgmma` in the function, and puts checks in front of what else reads or
/// writes them.
void watchAccumulators(Lowering &l, LLVM::LLVMFuncOp function);
/// The number of a `wgmma`'s accumulators, as watchAccumulators has given it.
int64_t accumulatorsOf(NVVM::WgmmaMmaAsyncOp op);
/// Float operations that the host would compute otherwise.
LogicalResult expandFloats(Lowering &l, Operation *op);

bool isKernel(LLVM::LLVMFuncOp function);
FailureOr<SharedLayout> layOutShared(gpu::GPUModuleOp module, const DataLayout &layout);
/// Memory of one thread in the frame of `function`.
uint64_t frameBytes(LLVM::LLVMFuncOp function, const DataLayout &layout);
/// The entry and the description of a kernel, behind the functions of `module`.
void emitKernel(ModuleOp module, LLVM::LLVMFuncOp kernel, StringRef name, const SharedLayout &shared,
                SiteTable &sites, ArrayRef<LLVM::GlobalOp> memory, const DataLayout &layout);

} // namespace mlir::ad::emulator

#endif // ADJOINT_LIB_EMULATOR_LOWERING_LOWERING_H
