// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Where the tiles of a kernel for attention are. A row is a query of one of the heads that share a group of
// keys; a tile has adjacent rows of a block of the decomposition, and some columns of the result.

#ifndef ADJOINT_LIB_CODEGEN_GPU_ATTENTION_ATTENTIONTILES_H
#define ADJOINT_LIB_CODEGEN_GPU_ATTENTION_ATTENTIONTILES_H

#include "AttentionMemory.h"

namespace mlir::ad::device {

class AttentionTiles {
public:
  /// Beyond all sizes a window sees everything, and its sums must not wrap.
  static constexpr int64_t kFarthest = int64_t(1) << 40;

  /// Of a result with rows of so many elements: by default, as many as the values have.
  AttentionTiles(AttentionCode &code, const AttentionShape &shape, const AttentionMemory &memory,
                 int64_t rowsOfTile, int64_t columnsOfTile, std::optional<int64_t> columns = std::nullopt);

  struct Tile {
    Value number;              ///< i64
    Value batch, group;        ///< i64
    Value firstQuery, queries; ///< of the block (i64)
    Value firstRow, rows;      ///< of the tile in its block, and of the block (i32)
    Value firstColumn;         ///< of the result (i64)
  };
  /// Blocks of threads take tiles by turns, so that every grid computes all of them. Those with most keys
  /// come first where causal hides keys.
  void forEach(function_ref<void(const Tile &)> body);
  Tile tileAt(Value number);
  /// All tiles (i64), those without rows included.
  Value count() { return code.binary<arith::MulIOp>(tilesOfBlocks, blocks); }
  /// The same tile, which is computed again from its number.
  Tile again(const Tile &tile) { return tileAt(code.hiddenCopy(tile.number)); }

  struct Row {
    Value number; ///< among all queries of all heads (i64)
    Value query;  ///< in its sequence (i64)
    Value mask;   ///< the first element of the mask for it (i64), or null
  };
  /// A row of the tile (i32). Behind the last one of the block comes the last one again.
  Row rowOf(const Tile &tile, Value row);
  Value isThere(const Tile &tile, Value row) { return code.isBelow(code.add(tile.firstRow, row), tile.rows); }
  /// Among all keys of all groups (i64).
  Value numberOfKey(const Tile &tile, Value key);

  /// The keys of a chunk, without regard to how many there are (i64).
  Value keysOfChunk();

private:
  Value minimum(Value x, Value y) { return code.binary<arith::MinUIOp>(x, y); }

  AttentionCode &code;
  const AttentionShape &shape;
  const AttentionMemory &memory;
  const int64_t rowsOfTile, columnsOfTile, panels;
  Value tilesOfBlock, blocks, tilesOfBlocks; // of a sequence; of all sequences those of one block (i64)
};

} // namespace mlir::ad::device

#endif // ADJOINT_LIB_CODEGEN_GPU_ATTENTION_ATTENTIONTILES_H
