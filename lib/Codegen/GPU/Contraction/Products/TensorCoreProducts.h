// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Contractions by `mma.sync`: each warp has a part of the tile, whose accumulators stay in registers until
// all K tiles are multiplied. Where the instruction's sums are promoted, a second set of registers has the
// sums of the steps before.

#ifndef ADJOINT_LIB_CODEGEN_GPU_CONTRACTION_PRODUCTS_TENSORCOREPRODUCTS_H
#define ADJOINT_LIB_CODEGEN_GPU_CONTRACTION_PRODUCTS_TENSORCOREPRODUCTS_H

#include "../Epilogue.h"
#include "../Staging/CopyPipeline.h"
#include "../Staging/TmaPipeline.h"
#include "MmaFragments.h"

namespace mlir::ad::device {

class TensorCoreProducts : public ContractionComponent {
public:
  TensorCoreProducts(ContractionEmitter &emitter, TileMapping &tileMapping, OperandStaging &staging,
                     CopyPipeline &copies, TmaPipeline &tma, Epilogue &epilogue)
      : ContractionComponent(emitter), tileMapping(tileMapping), staging(staging), tma(tma),
        pipeline(tile.loadsByTma ? static_cast<KTilePipeline &>(tma) : copies), epilogue(epilogue),
        swizzled(emitter, tileMapping, staging), fragments(emitter, swizzled) {}

  /// Computes and stores a tile of the result.
  LogicalResult emit(const TileOrigin &origin);

private:
  /// The part of a tile that a warp has.
  struct WarpTile {
    int64_t rows, columns; // how many
    Value m, n;            // the first
    Value warpM;           // number of the warp along M
  };
  /// Of both operands at one step of the instruction, for all of a warp's part.
  struct Fragments {
    SmallVector<SmallVector<Value>> a, b;
  };

  WarpTile warpTile();
  LogicalResult loadKTile(const TileOrigin &origin, Value kTile);
  SmallVector<Value> multiplyKTile(Value kTile, ValueRange accumulators);
  Fragments loadFragments(Value stage, int64_t k, const WarpTile &part);
  SmallVector<Value> multiplyFragments(const Fragments &loaded, const WarpTile &part,
                                       ValueRange accumulators);
  SmallVector<Value> promoteAt(Value kTile, int64_t end, ValueRange accumulators);
  SmallVector<Value> addPromoted(ValueRange accumulators);
  Value zero();
  LogicalResult emitEpilogue(const TileOrigin &origin, ValueRange accumulators);
  void stage(const StagedAccumulators &staged, const WarpTile &part, ValueRange accumulators);

  TileMapping &tileMapping;
  OperandStaging &staging;
  TmaPipeline &tma;
  KTilePipeline &pipeline;
  Epilogue &epilogue;
  SwizzledStaging swizzled;
  MmaFragments fragments;
};

} // namespace mlir::ad::device

#endif // ADJOINT_LIB_CODEGEN_GPU_CONTRACTION_PRODUCTS_TENSORCOREPRODUCTS_H
