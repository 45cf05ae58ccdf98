// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// What fusion, kernel selection and the conversion to linalg need to know about an operation: its loops, the elements
// that each iteration reads and writes, and whether it only moves data. The scalar code is in ElementwiseOpInterface
// and ReductionOpInterface.

#ifndef ADJOINT_INTERFACES_FUSABLEOPINTERFACE
#define ADJOINT_INTERFACES_FUSABLEOPINTERFACE

include "mlir/IR/OpBase.td"

def FusableOpInterface : OpInterface<"FusableOpInterface"> {
  let cppNamespace = "::mlir::ad";
  let description = [{
    Operations that may be in an `ad.fusion`. Fusion knows them by this interface only, so operations of any dialect
    fuse.
  }];
  let methods = [
    InterfaceMethod<[{
        What kind of fusion this operation starts. `dot` is a contraction: it reads each element of its operands once
        per tile of its result, so that nothing is computed inside of it. By default that of the other interfaces that
        the operation implements.
      }],
      "::mlir::ad::FusionKind", "getFusionKind", (ins), [{}], [{ return ::mlir::ad::defaultFusionKind($_op); }]>,
    InterfaceMethod<[{
        The loops over the iteration space, from the outermost to the innermost. Empty for an operation that is not
        such a nest of loops, as `ad.concat`. An elementwise operation has one parallel loop per axis of its result.
      }],
      "::llvm::SmallVector<::mlir::utils::IteratorType>", "getIteratorTypes", (ins), [{}], [{
        return ::mlir::ad::defaultIteratorTypes($_op);
      }]>,
    InterfaceMethod<[{
        For each operand that is a ranked tensor, then for each result: the map from the loops to the indices of the
        element that an iteration accesses. A null map: which element it is depends on dynamic sizes. An elementwise
        operation has identities, since `ad-set-numerics` gives its operands the shape of its result.
      }],
      "::llvm::SmallVector<::mlir::AffineMap>", "getAccessMaps", (ins), [{}], [{
        return ::mlir::ad::defaultAccessMaps($_op);
      }]>,
    InterfaceMethod<[{
        How an operation that computes nothing reads its first operand.
      }],
      "::mlir::ad::ViewKind", "getViewKind", (ins), [{}], [{ return ::mlir::ad::ViewKind::none; }]>,
    InterfaceMethod<[{
        Whether a kernel that reads the result can read the operand in its place at no cost: strides and repeated axes
        are known when compiling. Fusion copies such operations into each kernel that uses them.
      }],
      "bool", "isFreeView", (ins), [{}], [{ return false; }]>,
    InterfaceMethod<[{
        The operands of an operation whose result is the first with one part replaced by the second; null values for any
        other operation. Memory planning makes such an update in place.
      }],
      "::mlir::ad::PartialUpdate", "getPartialUpdate", (ins), [{}], [{ return {}; }]>
  ];
}

#endif // ADJOINT_INTERFACES_FUSABLEOPINTERFACE
