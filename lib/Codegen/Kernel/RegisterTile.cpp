// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

#include "adjoint/Codegen/Kernel/RegisterTile.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/bit.h"
#include <algorithm>

using namespace mlir;
using namespace mlir::ad;

// The registers of one accumulator.
static int64_t registersPerVector(Type sum) {
  return std::max<int64_t>(1, getElementTypeOrSelf(sum).getIntOrFloatBitWidth() / kLaneBits);
}

// Besides the accumulators, a step holds the elements of the rows or of the vectors, one of the other, and,
// without an FMA instruction, a product.
static bool fitsRegisters(const TileTable &table, const RegisterTile &tile, Type sum) {
  int64_t others = isa<FloatType>(getElementTypeOrSelf(sum)) ? 2 : 3;
  int64_t vectors = tile.rows * tile.vectors + std::min(tile.rows, tile.vectors);
  return vectors * registersPerVector(sum) + others <= table.registers;
}

// Enough accumulators to hide the latency of an FMA, few enough for the registers, rows and columns in the
// proportion that the result has. A tile of r rows and v vectors loads r + v values for r * v FMAs.
RegisterTile ad::chooseRegisterTile(const TileTable &table, int64_t rows, int64_t columns, int64_t lanes,
                                    Type sum) {
  auto upTo = [](int64_t size, int64_t limit) {
    return ShapedType::isDynamic(size) ? limit : std::clamp<int64_t>(size, 1, limit);
  };
  RegisterTile tile;
  tile.rows = upTo(rows, table.rows);
  tile.vectors = upTo(ShapedType::isDynamic(columns) ? columns : columns / lanes, table.vectors);
  int64_t registers = registersPerVector(sum);
  // All rows of a short operand are one tile, so that the other operand is read once.
  bool oneTile = rows == tile.rows;
  int64_t widest = oneTile
                       ? llvm::bit_floor<uint64_t>(table.accumulators / rows)
                       : llvm::bit_floor<uint64_t>(table.accumulators) / llvm::bit_floor<uint64_t>(tile.rows);
  tile.vectors = std::clamp<int64_t>(widest / registers, 1, tile.vectors);
  tile.rows = std::min(tile.rows, table.accumulators / (tile.vectors * registers));
  // Up to three rows are kept.
  while (tile.rows * tile.vectors > 1 && !fitsRegisters(table, tile, sum))
    --(tile.vectors > 2 || tile.rows <= 3 ? tile.vectors : tile.rows);
  return tile;
}
