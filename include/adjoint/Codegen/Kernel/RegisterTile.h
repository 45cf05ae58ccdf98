// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// The register tile of a contraction (gemm) on the CPU: the rows and columns of the result whose accumulators
// stay in registers over the whole reduction, the micro-kernel of BLIS and oneDNN. The tile tables are in
// Codegen/Target/CPUs.h.

#ifndef ADJOINT_CODEGEN_KERNEL_REGISTERTILE_H
#define ADJOINT_CODEGEN_KERNEL_REGISTERTILE_H

#include "adjoint/Codegen/Target/CPUs.h"
#include "mlir/IR/Types.h"

namespace mlir::ad {

/// The tile has `rows` by `vectors` accumulators, each a vector of columns.
struct RegisterTile {
  int64_t rows, vectors;
};

/// The register tile for a result of `rows` by `columns` elements, which may be dynamic sizes. A vector has
/// `lanes` lanes; `sum` is the type of an accumulator.
RegisterTile chooseRegisterTile(const TileTable &table, int64_t rows, int64_t columns, int64_t lanes,
                                Type sum);

} // namespace mlir::ad

#endif // ADJOINT_CODEGEN_KERNEL_REGISTERTILE_H
