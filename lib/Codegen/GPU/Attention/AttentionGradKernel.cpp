// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

#include "AttentionGradKernel.h"
#include "Fma/FmaGradKeys.h"
#include "Fma/FmaGradQueries.h"
#include "Mma/MmaGradKeys.h"
#include "Mma/MmaGradQueries.h"

using namespace mlir;
using namespace mlir::ad;
using namespace mlir::ad::device;

template <typename Keys, typename Queries, typename Shape>
static void emitParts(FunctionOpInterface function, KernelOp kernel, const AttentionShape &attention,
                      const Shape &shape) {
  OpBuilder builder = OpBuilder::atBlockBegin(&function.getFunctionBody().front());
  AttentionCode code(builder, function, attention.accumulator);
  AttentionMemory memory(code, kernel);
  if (memory.keyGrad.pointer || memory.valueGrad.pointer)
    Keys(code, attention, shape, memory).emit();
  if (memory.queryGrad.pointer)
    Queries(code, attention, shape, memory).emit();
}

void device::emitFmaGrad(FunctionOpInterface function, KernelOp kernel, const AttentionShape &attention,
                         const FmaGradShape &shape) {
  emitParts<FmaGradKeys, FmaGradQueries>(function, kernel, attention, shape);
}

void device::emitMmaGrad(FunctionOpInterface function, KernelOp kernel, const AttentionShape &attention,
                         const MmaGradShape &shape) {
  emitParts<MmaGradKeys, MmaGradQueries>(function, kernel, attention, shape);
}
