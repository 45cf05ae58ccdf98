// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// What every pass needs to know about an elementwise operation: its scalar code, and how much that costs. Foreign
// dialects attach models of it, so that no pass lists operations.

#ifndef ADJOINT_INTERFACES_ELEMENTWISEOPINTERFACE
#define ADJOINT_INTERFACES_ELEMENTWISEOPINTERFACE

include "mlir/IR/OpBase.td"

def ElementwiseOpInterface : OpInterface<"ElementwiseOpInterface"> {
  let cppNamespace = "::mlir::ad";
  let description = [{
    An operation that computes each element of its one result from the elements of its operands at the same position.
    Operands are ranked tensors that broadcast together like NumPy arrays. Fusion, the conversion to linalg, folding and
    the reference interpreter treat all such operations alike.
  }];
  let methods = [
    InterfaceMethod<[{
        Builds the scalar code of one element. `scalars` has one value per operand, of the operand's element type; the
        returned value has the element type of the result. The code consists of operations of `arith` and `math`, of
        `ad.elementary` and of `ad.convert`. Code of 16- and 8-bit floats converts the operands to f32, computes, and
        converts the result once.
      }],
      "::mlir::Value", "emitScalar",
      (ins "::mlir::OpBuilder &":$builder, "::mlir::Location":$loc, "::mlir::ValueRange":$scalars)>,
    InterfaceMethod<[{
        Roughly the instructions of the scalar code, in tens. Fusion bounds the sum over a kernel.
      }],
      "int64_t", "getScalarCost", (ins), [{}], [{ return 1; }]>,
    InterfaceMethod<[{
        The same function on the bits of elements, for folding and for the reference interpreter. It gives the bits that
        compiled code gives. Null where the operation has none: then it is not folded, and the reference interpreter
        executes the code that `emitScalar` builds.
      }],
      "::mlir::ad::ScalarEvaluator", "getScalarEvaluator", (ins), [{}], [{ return nullptr; }]>
  ];
}

#endif // ADJOINT_INTERFACES_ELEMENTWISEOPINTERFACE
