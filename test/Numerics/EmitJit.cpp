// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Compiles emitted functions for this machine.
#include "EmitJit.h"
#include "adjoint/Numerics/MLIRElementType.h"
#include "mlir/Conversion/ArithToLLVM/ArithToLLVM.h"
#include "mlir/Conversion/MathToLLVM/MathToLLVM.h"
#include "mlir/Conversion/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/ExecutionEngine/OptUtils.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "llvm/ExecutionEngine/Orc/JITTargetMachineBuilder.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"

namespace mlir::ad::numerics::test {

EmitJit::EmitJit() {
  llvm::InitializeNativeTarget();
  llvm::InitializeNativeTargetAsmPrinter();
  registerBuiltinDialectTranslation(context);
  registerLLVMDialectTranslation(context);
  context.loadDialect<arith::ArithDialect, math::MathDialect, scf::SCFDialect, vector::VectorDialect,
                      LLVM::LLVMDialect>();
  module = ModuleOp::create(UnknownLoc::get(&context));
}

static Type withLanes(Type element, int lanes) {
  return lanes ? Type(VectorType::get({lanes}, element)) : element;
}

/// In memory everything is a plain integer: a boolean a byte, a float its bits.
static Value load(OpBuilder &builder, Location loc, Value pointer, ElementType type, int lanes) {
  Type memory = withLanes(builder.getIntegerType(8 * sizeInBytes(type)), lanes);
  Type element = withLanes(toMLIRType(builder.getContext(), type), lanes);
  Value value = LLVM::LoadOp::create(builder, loc, memory, pointer, /*alignment=*/1);
  if (type == ElementType::I1)
    return arith::TruncIOp::create(builder, loc, element, value);
  return memory == element ? value : Value(arith::BitcastOp::create(builder, loc, element, value));
}

static void store(OpBuilder &builder, Location loc, Value value, Value pointer, ElementType type, int lanes) {
  Type memory = withLanes(builder.getIntegerType(8 * sizeInBytes(type)), lanes);
  if (type == ElementType::I1)
    value = arith::ExtUIOp::create(builder, loc, memory, value);
  else if (value.getType() != memory)
    value = arith::BitcastOp::create(builder, loc, memory, value);
  LLVM::StoreOp::create(builder, loc, value, pointer, /*alignment=*/1);
}

void EmitJit::add(const std::string &name, ElementType from, ElementType to, int lanes,
                  const Emitter &emitter) {
  OpBuilder builder(module->getBodyRegion());
  Location loc = builder.getUnknownLoc();
  Type pointer = LLVM::LLVMPointerType::get(&context);
  auto type = LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(&context), {pointer, pointer, pointer});
  auto function = LLVM::LLVMFuncOp::create(builder, loc, name, type);
  Block *block = function.addEntryBlock(builder);
  builder.setInsertionPointToStart(block);
  Value first = load(builder, loc, block->getArgument(0), from, lanes);
  Value second = load(builder, loc, block->getArgument(1), from, lanes);
  store(builder, loc, emitter(builder, loc, first, second), block->getArgument(2), to, lanes);
  LLVM::ReturnOp::create(builder, loc, ValueRange());
}

bool EmitJit::compile() {
  PassManager manager(&context);
  manager.addPass(createSCFToControlFlowPass());
  manager.addPass(createConvertVectorToLLVMPass());
  manager.addPass(createConvertMathToLLVMPass());
  manager.addPass(createArithToLLVMConversionPass());
  manager.addPass(createConvertControlFlowToLLVMPass());
  manager.addPass(createReconcileUnrealizedCastsPass());
  if (failed(manager.run(*module))) {
    llvm::errs() << "ad-math-emit-check: the emitted operations do not lower to LLVM\n";
    return false;
  }
  auto host = llvm::orc::JITTargetMachineBuilder::detectHost();
  auto machine = host ? host->createTargetMachine() : host.takeError();
  if (!machine) {
    llvm::errs() << "ad-math-emit-check: " << llvm::toString(machine.takeError()) << "\n";
    return false;
  }
  ExecutionEngineOptions options;
  auto transformer = makeOptimizingTransformer(/*optLevel=*/2, /*sizeLevel=*/0, machine->get());
  options.transformer = transformer;
  auto created = ExecutionEngine::create(*module, options, std::move(*machine));
  if (!created) {
    llvm::errs() << "ad-math-emit-check: " << llvm::toString(created.takeError()) << "\n";
    return false;
  }
  engine = std::move(*created);
  return true;
}

Kernel EmitJit::lookup(const std::string &name) {
  auto address = engine->lookup(name);
  if (!address) {
    llvm::errs() << "ad-math-emit-check: " << llvm::toString(address.takeError()) << "\n";
    return nullptr;
  }
  return reinterpret_cast<Kernel>(*address);
}

} // namespace mlir::ad::numerics::test
