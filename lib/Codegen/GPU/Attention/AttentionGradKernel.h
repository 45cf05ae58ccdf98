// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// The kernel of ad.attention_grad: by FMA for every type and every mode, and by tensor cores for 16-bit
// floats where products may use them. Each block of threads has tiles of keys, and then tiles of queries:
// both compute the scores that they need again, so that no two blocks add to one result.

#ifndef ADJOINT_LIB_CODEGEN_GPU_ATTENTION_ATTENTIONGRADKERNEL_H
#define ADJOINT_LIB_CODEGEN_GPU_ATTENTION_ATTENTIONGRADKERNEL_H

#include "Fma/FmaGradShape.h"
#include "Mma/MmaGradShape.h"
#include "adjoint/Dialect/AD/IR/ADOps.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

namespace mlir::ad::device {

/// Emit the body of the function.
void emitFmaGrad(FunctionOpInterface function, KernelOp kernel, const AttentionShape &attention,
                 const FmaGradShape &shape);
void emitMmaGrad(FunctionOpInterface function, KernelOp kernel, const AttentionShape &attention,
                 const MmaGradShape &shape);

} // namespace mlir::ad::device

#endif // ADJOINT_LIB_CODEGEN_GPU_ATTENTION_ATTENTIONGRADKERNEL_H
