// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

#include "SlowKernels.h"
#include "../../Kernel/Reduction/ScanEmitter.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"

using namespace mlir;
using namespace mlir::ad;

// Up to these lengths the generic class is about as fast as the memory.
static constexpr int64_t kLongProduct = 32, kLongChain = 512, kLongRow = 8192;

// The number of elements that each element of the result is made from.
static int64_t lengthOf(linalg::GenericOp reduction) {
  int64_t length = 1;
  SmallVector<int64_t> sizes = reduction.getStaticLoopRanges();
  SmallVector<unsigned> reduced;
  reduction.getReductionDims(reduced);
  for (unsigned loop : reduced)
    length = ShapedType::isDynamic(length) || ShapedType::isDynamic(sizes[loop]) ? ShapedType::kDynamic
                                                                                 : length * sizes[loop];
  return length;
}

// Two operands of which neither has all loops: both are read many times.
static bool isProduct(linalg::GenericOp reduction) {
  return llvm::count_if(reduction.getDpsInputOperands(), [&](OpOperand *operand) {
           AffineMap map = reduction.getMatchingIndexingMap(operand);
           return llvm::any_of(llvm::seq<unsigned>(0, map.getNumDims()),
                               [&](unsigned loop) { return !map.isFunctionOfDim(loop); });
         }) >= 2;
}

std::string device::whySlowInGenericClass(KernelOp kernel) {
  OrderAttr order = kernel.getOrderAttr();
  for (auto generic : kernel.getBody().getOps<linalg::GenericOp>()) {
    if (generic.getNumReductionLoops() == 0)
      continue;
    int64_t length = lengthOf(generic);
    bool isOpen = ShapedType::isDynamic(length);
    std::string size = isOpen ? "a dynamic number of" : std::to_string(length);
    if (isProduct(generic) && (isOpen || length > kLongProduct))
      return "each thread reads its operands for " + size + " products per element";
    if (codegen::scanOf(generic.getResult(0)) && (isOpen || length > kLongChain))
      return "each thread has a running reduction of " + size + " steps";
    // Rows of dynamic length are divided when they are long.
    if (order && order.hasLanes() && length > kLongRow)
      return "each warp sums a row of " + size + " elements";
  }
  return "";
}
