// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

#include "SortKernel.h"
#include "adjoint/Codegen/Kernel/KernelFunctions.h"
#include "adjoint/Codegen/Kernel/WorkUnits.h"
#include "adjoint/Dialect/AD/IR/ADSortingOps.h"
#include "adjoint/Numerics/MLIRElementType.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;
using namespace mlir::ad;

// include/adjoint/Runtime/Host/Argsort.h
static constexpr llvm::StringLiteral kSortFunction = "adrt_argsort";

// Of one element, with positions and counts in the caches.
static constexpr int64_t kNanosecondsPerElement = 10;

namespace {
/// The function of one kernel. Its arguments are those of KernelFunctions.h.
class SortFunction {
public:
  explicit SortFunction(KernelOp kernel)
      : kernel(kernel), loc(kernel.getLoc()), builder(kernel),
        sort(cast<ArgsortOp>(kernel.getBody().front().front())), type(sort.getInput().getType()) {}

  void emit() {
    func::FuncOp function = defineHostFunction(kernel, "", {index(), index()}, {});
    UnitSpace rows;
    for (int64_t axis = 0; axis < type.getRank() - 1; ++axis)
      rows.loops.push_back({{axis}, /*step=*/1});
    function->setAttr(kUnitsAttr, unitsToAttribute(builder.getContext(), rows));
    if (type.hasStaticShape())
      function->setAttr(kNanosecondsAttr,
                        builder.getI64IntegerAttr(type.getNumElements() * kNanosecondsPerElement));
    else
      emitEstimate();
    emitCall(function.getBody().front());
  }

private:
  Type index() { return builder.getIndexType(); }
  Value constant(int64_t value) { return arith::ConstantIndexOp::create(builder, loc, value); }

  /// The size of an axis of the input, whose dynamic sizes follow the pointer to it.
  Value sizeOf(Block &entry, int64_t axis) {
    if (!type.isDynamicDim(axis))
      return constant(type.getDimSize(axis));
    return entry.getArgument(1 + type.getDynamicDimIndex(axis));
  }

  void emitEstimate() {
    func::FuncOp function = defineHostFunction(kernel, kNanosecondsSuffix, {}, index());
    Block &entry = function.getBody().front();
    builder.setInsertionPointToEnd(&entry);
    Value time = constant(kNanosecondsPerElement);
    for (int64_t axis = 0; axis < type.getRank(); ++axis)
      time = arith::MulIOp::create(builder, loc, time, sizeOf(entry, axis));
    func::ReturnOp::create(builder, loc, time);
  }

  void emitCall(Block &entry) {
    builder.setInsertionPointToEnd(&entry);
    unsigned result = 1 + type.getNumDynamicDims(), range = entry.getNumArguments() - 2;
    auto i64 = [&](Value value) -> Value {
      return arith::IndexCastOp::create(builder, loc, builder.getI64Type(), value);
    };
    auto i32 = [&](int64_t value) -> Value {
      return arith::ConstantIntOp::create(builder, loc, value, /*width=*/32);
    };
    auto element = static_cast<int64_t>(*numerics::elementTypeOf(type.getElementType()));
    SmallVector<Value> arguments = {entry.getArgument(0),
                                    entry.getArgument(result),
                                    i64(entry.getArgument(range)),
                                    i64(entry.getArgument(range + 1)),
                                    i64(sizeOf(entry, type.getRank() - 1)),
                                    i32(element),
                                    i32(sort.getDescending())};
    LLVM::CallOp::create(builder, loc, declare(ValueRange(arguments).getTypes()), arguments);
    func::ReturnOp::create(builder, loc);
  }

  LLVM::LLVMFuncOp declare(TypeRange arguments) {
    auto module = kernel->getParentOfType<ModuleOp>();
    if (auto known = module.lookupSymbol<LLVM::LLVMFuncOp>(kSortFunction))
      return known;
    OpBuilder atStart(module.getBodyRegion());
    auto nothing = LLVM::LLVMVoidType::get(builder.getContext());
    return LLVM::LLVMFuncOp::create(atStart, module.getLoc(), kSortFunction,
                                    LLVM::LLVMFunctionType::get(nothing, llvm::to_vector(arguments)));
  }

  KernelOp kernel;
  Location loc;
  OpBuilder builder;
  ArgsortOp sort;
  RankedTensorType type;
};
} // namespace

void cpu::emitSort(KernelOp kernel) { SortFunction(kernel).emit(); }
