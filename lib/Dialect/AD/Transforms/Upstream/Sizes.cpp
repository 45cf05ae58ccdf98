// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Rewrites of sizes and of types with known sizes. They compute no elements.

#include "Tables.h"

using namespace mlir::ad::upstream;

static constexpr PatternRow kPatterns[] = {
    {"tensor.dim", "DimOfCastOp", kAdmitted},
    {"tensor.dim", "DimOfDestStyleOp", kAdmitted},
    {"tensor.dim", "DimOfReshapeOp", kAdmitted},
    {"tensor.dim", "DimOfReifyRankedShapedTypeOpInterface<mlir::tensor::DimOp>", kAdmitted},
    // A carry has the sizes of its initial value in every iteration: a run-time check of scf.for.
    {"tensor.dim", "IterArgsToInitArgs", kAdmitted},
    {"tensor.cast", "ChainedTensorCast", kAdmitted},
    {"tensor.cast", "TensorCastExtractSlice",
     "it gives a slice the sizes that the cast claims, so that the claim is not checked any more"},
    {"memref.dim", "DimOfReifyRankedShapedTypeOpInterface<mlir::memref::DimOp>",
     "programs in ad have no memrefs"},
};

static constexpr FolderRow kFolders[] = {
    {"tensor.dim", kAdmitted},
    {"tensor.cast", kAdmitted},
};

Table mlir::ad::upstream::sizesTable() { return {kPatterns, kFolders}; }
