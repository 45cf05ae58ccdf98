// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Cotangents that are zero but for a part of the tensor. Without this interface a loop that reads one row of a
// tensor per iteration would add a whole tensor of zeros per iteration.

#ifndef ADJOINT_INTERFACES_PARTIALREADOPINTERFACE
#define ADJOINT_INTERFACES_PARTIALREADOPINTERFACE

include "mlir/IR/OpBase.td"

def PartialReadOpInterface : OpInterface<"PartialReadOpInterface"> {
  let cppNamespace = "::mlir::ad";
  let description = [{
    A differentiable operation that reads only a part of an operand. The cotangent of that operand is zero outside of
    the part, so that it can be added to a sum in place, with work for the part alone.
  }];
  let methods = [
    InterfaceMethod<[{
        Whether the operation reads only a part of the operand.
      }],
      "bool", "readsPart", (ins "unsigned":$operand)>,
    InterfaceMethod<[{
        Builds `sum` with the cotangent of the operand added, for an operand of which the operation reads a part.
        `sum` has the shape of the operand and the element type of the cotangents, which is f32 in place of 8 or 16
        bits where a function has `ad.cotangent_sums`. Elements outside of the part stay as they are. A null `sum`
        means zeros. `cotangents` has one value per result; a null value is a zero cotangent.
      }],
      "::mlir::Value", "accumulate",
      (ins "::mlir::OpBuilder &":$builder, "::mlir::ValueRange":$cotangents, "unsigned":$operand, "::mlir::Value":$sum)>
  ];
}

#endif // ADJOINT_INTERFACES_PARTIALREADOPINTERFACE
