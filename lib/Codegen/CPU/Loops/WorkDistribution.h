// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// The distribution of a kernel's work over threads: loops whose iterations are units of work, the range of
// units of one call, and the estimated time.

#ifndef ADJOINT_LIB_CODEGEN_CPU_LOOPS_WORKDISTRIBUTION_H
#define ADJOINT_LIB_CODEGEN_CPU_LOOPS_WORKDISTRIBUTION_H

#include "../../Kernel/Reduction/ReductionLoops.h"
#include "../CPUComponent.h"
#include "../Contraction/BlockShape.h"

namespace mlir::ad::cpu {

class WorkDistribution : public CPUComponent {
public:
  WorkDistribution(CPUContext &context, ReductionLoops &reductionLoops, BlockShape &blockShape)
      : CPUComponent(context), reductionLoops(reductionLoops), blockShape(blockShape) {}

  /// The time of one kind of step: picoseconds times the static sizes, and the dynamic sizes.
  struct Cost {
    int64_t picoseconds;
    SmallVector<Value> sizes;
    /// By a size of a type, or, when that is dynamic, by the value.
    void multiply(int64_t size, Value value);
  };
  /// The estimate, if all sizes are static; after emit().
  std::optional<int64_t> knownNanoseconds();
  Value estimatedNanoseconds();
  bool isTooShort();
  void chooseUnits(CPUNest &nest);
  void chooseFlatUnits(CPUNest &nest);
  /// Makes one axis of all.
  void flatten(CPUNest &nest);
  void chooseUnitsOfRows(CPUNest &rows);
  void declareUnits(ArrayRef<UnitSpace> spaces);
  /// The product of the units of the loops from that one on.
  Value unitsFrom(const CPUNest &nest, unsigned loop);
  bool hasUnitsInside(const CPUNest &nest, int64_t axis);
  LogicalResult overUnits(const CPUNest &nest, int64_t axis, UnitRange units,
                          function_ref<LogicalResult(Value index, UnitRange inside)> body);
  std::pair<Value, Value> boundsOf(const CPUNest &nest, ArrayRef<int64_t> axes, UnitRange units);

  UnitRange unitsOfCall; // arguments of the function

private:
  SmallVector<Cost> costs();
  int64_t addUnitLoops(CPUNest &nest, int64_t axes);
  void chooseUnitsOfBlocks(CPUNest &nest);
  int64_t columnsOfUnit(const CPUNest &nest, int64_t units);
  Value elementsAlong(const CPUNest &nest, ArrayRef<int64_t> axes);
  std::optional<unsigned> unitLoopOf(const CPUNest &nest, int64_t axis);

  ReductionLoops &reductionLoops;
  BlockShape &blockShape;
};

} // namespace mlir::ad::cpu

#endif // ADJOINT_LIB_CODEGEN_CPU_LOOPS_WORKDISTRIBUTION_H
