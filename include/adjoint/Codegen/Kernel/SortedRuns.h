// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// How the host launches a GPU kernel that sorts lines which may have several tiles.

#ifndef ADJOINT_CODEGEN_KERNEL_SORTEDRUNS_H
#define ADJOINT_CODEGEN_KERNEL_SORTEDRUNS_H

#include "mlir/Support/LLVM.h"
#include "llvm/ADT/StringRef.h"

namespace mlir::ad {

/// Such a kernel has that attribute, no function of its own, and three functions next to it. The first one,
/// of the host, returns for the operands the bytes of the memory of runs, and how many launches merge them.
/// The second one sorts tiles: it writes runs, or the result where each line is a tile. The third one merges
/// runs, and the last of its launches writes the result. Kernels take the operands, the memory of runs and
/// the number of the merging launch.
constexpr llvm::StringLiteral kSortedRunsAttr = "ad.sorted_runs", kRunSizesSuffix = "$run_sizes",
                              kSortTilesSuffix = "$sort_tiles", kMergeRunsSuffix = "$merge_runs";

} // namespace mlir::ad

#endif // ADJOINT_CODEGEN_KERNEL_SORTEDRUNS_H
