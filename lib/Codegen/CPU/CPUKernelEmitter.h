// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Code of one kernel for the CPU: vectors along the contiguous axis, tiles of contractions in registers,
// ranges of work for threads. Each of these is a component, which names the components that it uses in its
// constructor: they are declared before it. Only values need components that need values; they see the
// emitter as the source of values.

#ifndef ADJOINT_LIB_CODEGEN_CPU_CPUKERNELEMITTER_H
#define ADJOINT_LIB_CODEGEN_CPU_CPUKERNELEMITTER_H

#include "../Kernel/KernelArguments.h"
#include "../Kernel/Outputs/KernelOutputs.h"
#include "../Kernel/Reduction/PairwiseTree.h"
#include "../Kernel/Reduction/ReductionLoops.h"
#include "../Kernel/Values/AccessMaps.h"
#include "../Kernel/Values/Hoisting.h"
#include "../Kernel/Values/LaneValues.h"
#include "../Kernel/Values/MemoryAccess.h"
#include "Bytes/ByteChains.h"
#include "Bytes/ByteDotProducts.h"
#include "Bytes/ByteGroups.h"
#include "Bytes/BytePanels.h"
#include "Bytes/ByteProducts.h"
#include "Bytes/ByteRowCopies.h"
#include "CPUValues.h"
#include "Contraction/AccumulatorSpilling.h"
#include "Contraction/BlockShape.h"
#include "Contraction/ContractionBlocks.h"
#include "Contraction/DotProducts.h"
#include "Contraction/FillingTile.h"
#include "Contraction/PaddedInputs.h"
#include "Contraction/ProductGroups.h"
#include "Contraction/RegisterTranspose.h"
#include "Contraction/RowTiles.h"
#include "Contraction/TransposedOperands.h"
#include "Loops/LaneLoop.h"
#include "Loops/LineAlignment.h"
#include "Loops/LoopNests.h"
#include "Loops/SeparateNests.h"
#include "Loops/WorkDistribution.h"
#include "Movement/BlockTranspose.h"
#include "Movement/ColumnInserts.h"
#include "Movement/FlatBroadcast.h"
#include "Movement/InterleavedStores.h"
#include "Movement/OrderedWrites.h"
#include "Movement/Prefetcher.h"
#include "Packing/OperandPacking.h"
#include "Packing/OperandsToPack.h"
#include "Packing/PackedPanels.h"
#include "Packing/RowPanels.h"
#include "Reduction/CPUChains.h"
#include "Reduction/CPUReductions.h"
#include "Reduction/InterleavedBlocks.h"
#include "Reduction/InterleavedScan.h"
#include "Reduction/LaneAccumulators.h"
#include "Reduction/LaneReductions.h"
#include "Reduction/MinMaxReduction.h"
#include "Reduction/PartialReductions.h"
#include "Reduction/PartialResultTrees.h"
#include "Reduction/PartialScans.h"
#include "Reduction/StreamedReductions.h"
#include "Row/RowNests.h"
#include "Row/RowReductions.h"
#include "Row/ShortRows.h"
#include "Row/StackRowCache.h"
#include "StackMemory.h"

namespace mlir::ad::cpu {

class CPUKernelEmitter : public CPUContext, private ValueSource {
public:
  /// `lanes`: of a vector. `hasDotProducts`: the CPU has the dot-product instructions of bf16 and i8.
  CPUKernelEmitter(KernelOp kernel, FunctionOpInterface function, int64_t lanes, const TileTable &tiles,
                   bool hasDotProducts);

  /// Emits the body of the function without its terminator. Fails after a diagnostic if the kernel contains
  /// an operation that is not linalg.
  LogicalResult emit(Work toEmit);
  /// Emits the body of a function that returns the number of partial results and their bytes. Returns the
  /// minimum number of threads that gain from them; 0 if the reductions of the kernel are not to be divided.
  FailureOr<int64_t> emitSizesOfPartialReductions();
  /// Emits the body of a function that returns the estimated nanoseconds of the kernel on one thread.
  LogicalResult emitNanoseconds();
  /// The estimate, if all sizes are static; after emit().
  std::optional<int64_t> knownNanoseconds() { return distribution.knownNanoseconds(); }

private:
  FailureOr<SmallVector<Value>> evaluate(Value tensor, ArrayRef<Position> positions) override {
    return values.evaluate(tensor, positions);
  }
  FailureOr<SmallVector<Value>> evaluateBody(linalg::GenericOp generic, ArrayRef<Index> loops,
                                             const IRMapping &known, ValueRange wanted) override {
    return values.evaluateBody(generic, loops, known, wanted);
  }
  LogicalResult prepare(ValueRange outputs, ArrayRef<Position> positions) override {
    return values.prepare(outputs, positions);
  }

  LogicalResult bindArguments();
  void bindReshapedArguments();
  void bindSlicedArguments();
  void bindRange(ValueRange arguments);
  LogicalResult emitOutputs();
  std::optional<LogicalResult> emitMovement(Value output);
  LogicalResult emitFlat(CPUNest nest, unsigned space);
  LogicalResult emitOverAxes(CPUNest nest, unsigned space, bool oneShape);
  LogicalResult emitStores(const CPUNest &nest);

  //===- Values and memory --------------------------------------------===//

  LaneValues laneValues{*this};
  MemoryAccess memoryAccess{*this, laneValues};
  AccessMaps maps{*this, laneValues};
  KernelArguments kernelArguments{*this, *this};
  StackMemory stackMemory{*this};
  InterleavedStores interleavedStores{*this, laneValues, memoryAccess};
  KernelOutputs kernelOutputs{*this, *this, interleavedStores};
  ReductionLoops reductionLoops{*this, laneValues, kernelArguments};
  Hoisting hoisting{*this, *this, maps, reductionLoops};
  PairwiseTree tree{*this};
  FlatBroadcast flatBroadcast{*this, laneValues, kernelOutputs};
  StackRowCache rowCache{*this, laneValues, memoryAccess, reductionLoops, hoisting, stackMemory};
  AccumulatorSpilling spilling{*this, *this, memoryAccess, maps, reductionLoops, stackMemory};
  PaddedInputs paddedInputs{*this, laneValues, stackMemory};
  WindowLoads windowLoads{*this, memoryAccess, maps, paddedInputs};

  //===- Operands of contractions -------------------------------------===//

  ByteProducts byteProducts{*this, stackMemory};
  ProductGroups productGroups{*this, byteProducts};
  PackedPanels panels{*this, memoryAccess, maps};
  TransposedOperands transposedOperands{*this, maps, productGroups, panels};
  DotProducts dotProducts{*this, *this, laneValues, memoryAccess, maps, transposedOperands, panels};
  ByteGroups byteGroups{*this, laneValues, memoryAccess};
  ByteRowCopies byteRowCopies{*this, laneValues, memoryAccess, stackMemory, byteProducts, byteGroups};
  ByteDotProducts byteDotProducts{*this,  laneValues,   maps,       transposedOperands,
                                  panels, byteProducts, byteGroups, byteRowCopies};
  RowPanels rowPanels{*this, laneValues, memoryAccess, maps, stackMemory, productGroups};
  BlockShape blockShape{*this, transposedOperands, byteProducts};

  //===- Reductions ---------------------------------------------------===//

  Prefetcher prefetcher{*this, memoryAccess, maps, rowCache, transposedOperands, productGroups};
  LineAlignment lineAlignment{*this, memoryAccess};
  CPUChainSteps chainSteps{*this,         *this,       laneValues,      reductionLoops,
                           productGroups, dotProducts, byteDotProducts, prefetcher};
  RegisterTranspose registerTranspose{*this,         *this,          laneValues,  memoryAccess,
                                      maps,          reductionLoops, chainSteps,  stackMemory,
                                      prefetcher,    lineAlignment,  dotProducts, transposedOperands,
                                      productGroups, byteGroups};
  ByteChains byteChains{*this,        laneValues, chainSteps,     registerTranspose, transposedOperands,
                        byteProducts, byteGroups, byteDotProducts};
  CPUReductionChains reductionChains{*this,       hoisting,           chainSteps,       productGroups,
                                     dotProducts, transposedOperands, registerTranspose};
  LaneAccumulators laneAccumulators{*this,      *this,        laneValues, reductionLoops,
                                    prefetcher, memoryAccess, stackMemory};
  MinMaxReduction minMax{*this, *this, laneValues, maps, reductionLoops, laneAccumulators};
  LaneReductions laneReductions{*this,       laneValues,       memoryAccess, hoisting,
                                stackMemory, laneAccumulators, minMax};
  RowReductions rowReductions{*this,    *this,       laneValues,        memoryAccess,     reductionLoops,
                              hoisting, stackMemory, interleavedStores, laneAccumulators, transposedOperands};
  PartialResultTrees partialTrees{*this, laneValues, memoryAccess, reductionLoops, tree, productGroups};
  InterleavedBlocks interleavedBlocks{*this, hoisting,     chainSteps,         reductionChains,
                                      tree,  partialTrees, transposedOperands, panels};
  CPUReductions reductions{*this,           *this,         laneValues,    maps,        reductionLoops,
                           reductionChains, tree,          memoryAccess,  stackMemory, rowCache,
                           laneReductions,  rowReductions, productGroups, byteChains,  interleavedBlocks,
                           partialTrees};
  CPUValues values{*this,        laneValues, memoryAccess,       maps,          reductions, interleavedStores,
                   rowCache,     panels,     transposedOperands, flatBroadcast, spilling,   windowLoads,
                   paddedInputs, rowPanels};

  //===- Loops --------------------------------------------------------===//

  WorkDistribution distribution{*this, reductionLoops, blockShape};
  LaneLoop laneLoop{*this, laneValues, hoisting, lineAlignment, byteDotProducts};
  ShortRows shortRows{*this, *this, reductionLoops, kernelOutputs, interleavedStores};
  BytePanels bytePanels{*this, laneValues, panels, byteGroups};
  OperandPacking operandPacking{*this,        *this,       laneValues, memoryAccess, kernelOutputs,
                                distribution, dotProducts, panels,     bytePanels};
  OperandsToPack operandsToPack{*this, stackMemory, transposedOperands, productGroups, panels, byteProducts};
  RowTiles rowTiles{*this};
  FillingTile fillingTile{*this, laneLoop, rowTiles, blockShape, panels, operandPacking};
  ContractionBlocks contractionBlocks{*this,        laneLoop,      distribution,   rowTiles,
                                      fillingTile,  panels,        operandPacking, operandsToPack,
                                      byteProducts, byteRowCopies, rowPanels};
  LoopNests loopNests{*this, laneLoop, distribution, shortRows, contractionBlocks};

  //===- Kinds of results ---------------------------------------------===//

  BlockTranspose blockTranspose{*this, memoryAccess, maps, kernelOutputs, interleavedStores, distribution};
  OrderedWrites orderedWrites{*this,         *this,     memoryAccess, reductionLoops,
                              kernelOutputs, loopNests, distribution};
  InterleavedScan scans{*this, *this,           stackMemory,    prefetcher,       laneValues,
                        maps,  kernelArguments, reductionLoops, interleavedStores};
  ColumnInserts inserts{*this, *this,     kernelArguments,   hoisting, kernelOutputs,
                        scans, loopNests, interleavedStores, shortRows};
  StreamedReductions streamedReductions{*this,    *this,       laneValues,    memoryAccess,
                                        maps,     chainSteps,  kernelOutputs, interleavedStores,
                                        laneLoop, partialTrees};
  PartialReductions partialReductions{*this,
                                      kernelArguments,
                                      reductionLoops,
                                      hoisting,
                                      reductions,
                                      kernelOutputs,
                                      interleavedStores,
                                      loopNests,
                                      distribution,
                                      partialTrees,
                                      streamedReductions,
                                      blockShape,
                                      transposedOperands};
  PartialScans partialScans{*this, memoryAccess, reductionLoops, scans, distribution};
  RowNests rowNests{*this, hoisting, kernelOutputs, prefetcher, loopNests, distribution, rowCache, shortRows};
  SeparateNests separateNests{*this, hoisting, kernelOutputs, scans, inserts, loopNests, distribution};
};

} // namespace mlir::ad::cpu

#endif // ADJOINT_LIB_CODEGEN_CPU_CPUKERNELEMITTER_H
