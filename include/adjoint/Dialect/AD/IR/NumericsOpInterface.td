// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// The part of the numerics contract that is attached to an operation.

#ifndef ADJOINT_INTERFACES_NUMERICSOPINTERFACE
#define ADJOINT_INTERFACES_NUMERICSOPINTERFACE

include "mlir/IR/OpBase.td"

def NumericsOpInterface : OpInterface<"NumericsOpInterface"> {
  let cppNamespace = "::mlir::ad";
  let description = [{
    Permissions and summation order of an operation, as inherent attributes. An operation without the attribute
    has no permissions; an operation that sums and has no order yet gets one from `ad-set-numerics`.
  }];
  let methods = [
    InterfaceMethod<"What rewrites and lowerings may change about this operation.",
      "::mlir::ad::Permissions", "getPermissions", (ins), [{}], [{
        auto attr = $_op->template getAttrOfType<::mlir::ad::PermissionsAttr>("allow");
        return attr ? attr.getValue() : ::mlir::ad::Permissions::none;
      }]>,
    InterfaceMethod<"Replaces the permissions.",
      "void", "setPermissions", (ins "::mlir::ad::Permissions":$permissions), [{}], [{
        $_op->setAttr("allow", ::mlir::ad::PermissionsAttr::get($_op->getContext(), permissions));
      }]>,
    InterfaceMethod<"True once permissions have been set, even to none.",
      "bool", "hasPermissions", (ins), [{}], [{ return $_op->hasAttr("allow"); }]>,
    InterfaceMethod<[{
        The operand that broadcasts to the shape of the result while the other operands do not, as the bias of a
        contraction; null if there is none. `ad-set-numerics` makes this broadcast explicit.
      }],
      "::mlir::OpOperand *", "getBroadcastOperand", (ins), [{}], [{ return nullptr; }]>,
    InterfaceMethod<"The canonical summation order of this operation, null when it sums nothing.",
      "::mlir::ad::OrderAttr", "getCanonicalOrder", (ins), [{}], [{ return nullptr; }]>,
    InterfaceMethod<"The summation order written on the operation, null when none is.",
      "::mlir::ad::OrderAttr", "getSummationOrder", (ins), [{}], [{
        return $_op->template getAttrOfType<::mlir::ad::OrderAttr>("order");
      }]>,
    InterfaceMethod<"Writes the summation order.",
      "void", "setSummationOrder", (ins "::mlir::ad::OrderAttr":$order), [{}], [{
        $_op->setAttr("order", order);
      }]>
  ];
  let verify = "return ::mlir::ad::verifySummationOrder($_op);";
}

#endif // ADJOINT_INTERFACES_NUMERICSOPINTERFACE
