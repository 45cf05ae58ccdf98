// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Operations that write elements of a tensor at computed indices, several times perhaps.

#ifndef ADJOINT_INTERFACES_ORDEREDWRITEOPINTERFACE
#define ADJOINT_INTERFACES_ORDEREDWRITEOPINTERFACE

include "mlir/IR/OpBase.td"

def OrderedWriteOpInterface : OpInterface<"OrderedWriteOpInterface"> {
  let cppNamespace = "::mlir::ad";
  let description = [{
    An operation without side effects whose one result is a tensor operand, the destination, with elements updated by a
    nest of loops: a scatter. Each iteration updates the element of the destination at its index, which other operands
    may hold. Iterations that update one element do so in ascending order, the last loop fastest, on every target.

    The update works on an accumulator, so that sums of 16- and 8-bit floats can be kept in f32 and be rounded once.

    The operation implements FusableOpInterface, too, whose defaults follow from this interface. docs/ordered-writes.md
    has an example.
  }];
  let methods = [
    InterfaceMethod<"The number of the operand whose elements are updated.", "unsigned", "getDestination", (ins)>,
    InterfaceMethod<"The number of loops.", "unsigned", "getLoopCount", (ins)>,
    InterfaceMethod<[{
        Which element an iteration accesses, for each operand that is a ranked tensor: of the destination the one that it
        updates, of all others the one that it reads.
      }],
      "::llvm::SmallVector<::mlir::ad::ElementAccess>", "getAccesses", (ins)>,
    InterfaceMethod<[{
        The number of iterations of each loop, before the operation. By default the size of an operand other than the
        destination along an axis whose index is the loop alone.
      }],
      "::llvm::SmallVector<::mlir::OpFoldResult>", "getLoopSizes", (ins "::mlir::OpBuilder &":$builder), [{}], [{
        return ::mlir::ad::defaultWriteSizes($_op, builder);
      }]>,
    InterfaceMethod<"The accumulator of an element of the destination before all updates; by default the element.",
      "::mlir::Value", "emitStart",
      (ins "::mlir::OpBuilder &":$builder, "::mlir::Location":$loc, "::mlir::Value":$element), [{}], [{
        return element;
      }]>,
    InterfaceMethod<[{
        The accumulator after the update of one iteration. `scalars` has the element of each operand, or the operand
        itself if it is a scalar; in the place of the destination it has the accumulator. `indices` has the number of the
        iteration along each loop, of type index.
      }],
      "::mlir::Value", "emitUpdate",
      (ins "::mlir::OpBuilder &":$builder, "::mlir::Location":$loc, "::mlir::ValueRange":$scalars,
           "::mlir::ValueRange":$indices)>,
    InterfaceMethod<"The element of the result from its last accumulator, which it is by default.",
      "::mlir::Value", "emitResult",
      (ins "::mlir::OpBuilder &":$builder, "::mlir::Location":$loc, "::mlir::Value":$accumulator), [{}], [{
        return accumulator;
      }]>
  ];
  let verify = [{ return ::mlir::ad::verifyOrderedWrite($_op); }];
}

#endif // ADJOINT_INTERFACES_ORDEREDWRITEOPINTERFACE
