// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// The scalar code of a reduction: the value of an iteration, and how two values are combined.

#ifndef ADJOINT_INTERFACES_REDUCTIONOPINTERFACE
#define ADJOINT_INTERFACES_REDUCTIONOPINTERFACE

include "mlir/IR/OpBase.td"

def ReductionOpInterface : OpInterface<"ReductionOpInterface"> {
  let cppNamespace = "::mlir::ad";
  let description = [{
    An operation that combines values along one axis into its one result. FusableOpInterface has its loops and
    accesses: parallel loops, then one reduction loop. The value of an iteration is scalar code over the elements of
    the operands. Values are converted to the accumulator's type (f32 for 16- and 8-bit floats; maxima and minima keep
    the operand's type or f32), combined in the order that NumericsOpInterface gives, and rounded once to the type of
    the result.
  }];
  let methods = [
    InterfaceMethod<"How two values are combined. It also gives the value that an empty axis has.",
      "::mlir::ad::Combiner", "getCombiner", (ins)>,
    InterfaceMethod<[{
        Builds the value of one iteration. `scalars` has the element of each operand, of the operand's element type.
        The code consists of the operations that `ElementwiseOpInterface::emitScalar` may use. By default the first
        element.
      }],
      "::mlir::Value", "emitElement",
      (ins "::mlir::OpBuilder &":$builder, "::mlir::Location":$loc, "::mlir::ValueRange":$scalars), [{}], [{
        return scalars.front();
      }]>,
    InterfaceMethod<"Roughly the instructions of one iteration, in tens. Fusion bounds the sum over a kernel.",
      "int64_t", "getElementCost", (ins), [{}], [{ return 1; }]>
  ];
}

#endif // ADJOINT_INTERFACES_REDUCTIONOPINTERFACE
