// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Tables of the sizes in which kernels work through memory. Code depends on them, results never do.

#ifndef ADJOINT_CODEGEN_TARGET_TILES_H
#define ADJOINT_CODEGEN_TARGET_TILES_H

#include "llvm/ADT/StringRef.h"
#include <cstdint>
#include <optional>

namespace mlir::ad {

struct TileTable {
  int64_t rows, vectors;    ///< at most so many of a result together
  int64_t registers;        ///< of the processor, for vectors
  int64_t accumulators;     ///< registers that hold sums: enough to hide the latency of a multiply-add
  int64_t blockBytes;       ///< of an operand's block of columns, for the second-level cache
  int64_t straightBytes;    ///< an operand up to this size is read in place
  int64_t shortNanoseconds; ///< a kernel that takes less, about, is one unit of work
  int64_t tileSteps;        ///< a unit of a contraction has so many multiply-adds, if there are enough
  int64_t unitElements;     ///< and one of a kernel that does little for each element so many elements
};

/// The table of that name for vectors of so many bytes: `large` for current cores, `small` for tests, in
/// which short programs meet blocks, packed operands and what is left over.
inline std::optional<TileTable> findTiles(llvm::StringRef name, int64_t vectorBytes) {
  constexpr int64_t kAvx512Bytes = 64;
  bool isLarge = name == "large";
  if (isLarge && vectorBytes >= kAvx512Bytes)
    return TileTable{8, 16, 32, 16, 512 * 1024, 1024 * 1024, 3000, 1 << 16, 1024};
  if (isLarge)
    return TileTable{6, 8, 16, 12, 512 * 1024, 1024 * 1024, 3000, 1 << 16, 1024};
  if (name == "small")
    return TileTable{3, 2, 32, 12, 16 * 1024, 256, 0, 256, 64};
  return std::nullopt;
}

} // namespace mlir::ad

#endif // ADJOINT_CODEGEN_TARGET_TILES_H
