// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Reductions with few results, divided into partial results for threads or for the caches.

#ifndef ADJOINT_LIB_CODEGEN_CPU_REDUCTION_PARTIALREDUCTIONS_H
#define ADJOINT_LIB_CODEGEN_CPU_REDUCTION_PARTIALREDUCTIONS_H

#include "../../Kernel/KernelArguments.h"
#include "../../Kernel/Outputs/ElementStores.h"
#include "../../Kernel/Outputs/KernelOutputs.h"
#include "../../Kernel/Reduction/ReductionEmitter.h"
#include "../../Kernel/Reduction/ReductionLoops.h"
#include "../../Kernel/Values/Hoisting.h"
#include "../CPUComponent.h"
#include "../Contraction/BlockShape.h"
#include "../Contraction/TransposedOperands.h"
#include "../Loops/LoopNests.h"
#include "../Loops/WorkDistribution.h"
#include "PartialResultTrees.h"
#include "StreamedReductions.h"

namespace mlir::ad::cpu {

class PartialReductions : public CPUComponent {
public:
  PartialReductions(CPUContext &context, KernelArguments &kernelArguments, ReductionLoops &reductionLoops,
                    Hoisting &hoisting, ReductionEmitter &reductions, KernelOutputs &kernelOutputs,
                    ElementStores &stores, LoopNests &loopNests, WorkDistribution &distribution,
                    PartialResultTrees &partialTrees, StreamedReductions &streamedReductions,
                    BlockShape &blockShape, TransposedOperands &transposedOperands)
      : CPUComponent(context), kernelArguments(kernelArguments), reductionLoops(reductionLoops),
        hoisting(hoisting), reductions(reductions), kernelOutputs(kernelOutputs), stores(stores),
        loopNests(loopNests), distribution(distribution), partialTrees(partialTrees),
        streamedReductions(streamedReductions), blockShape(blockShape),
        transposedOperands(transposedOperands) {}

  int64_t threadsForPartials(ArrayRef<linalg::GenericOp> reductions);
  SmallVector<linalg::GenericOp> divisibleReductions(ValueRange outputs);
  Value bindPartialResults(ArrayRef<linalg::GenericOp> reductions);
  LogicalResult emitPartialReductions(ArrayRef<linalg::GenericOp> reductions);
  SmallVector<Value> emitPartialSizes(ArrayRef<linalg::GenericOp> reductions);

  Value memory; // of all partial results; null in the function that computes their sizes

private:
  int64_t tilesOfResult(const CPUNest &nest);
  bool isReadInPlace(OpOperand &operand, const CPUNest &nest);
  bool isDeep(const CPUNest &nest);
  void choosePart(CPUNest &nest, const PartialResults &partial);
  LogicalResult emitPartialBlocks(linalg::GenericOp generic, CPUNest &nest, Buffer &result, UnitRange units);
  LogicalResult emitPartialReduction(linalg::GenericOp generic, UnitRange units);

  KernelArguments &kernelArguments;
  ReductionLoops &reductionLoops;
  Hoisting &hoisting;
  ReductionEmitter &reductions;
  KernelOutputs &kernelOutputs;
  ElementStores &stores;
  LoopNests &loopNests;
  WorkDistribution &distribution;
  PartialResultTrees &partialTrees;
  StreamedReductions &streamedReductions;
  BlockShape &blockShape;
  TransposedOperands &transposedOperands;
};

} // namespace mlir::ad::cpu

#endif // ADJOINT_LIB_CODEGEN_CPU_REDUCTION_PARTIALREDUCTIONS_H
