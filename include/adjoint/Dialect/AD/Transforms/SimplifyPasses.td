// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Passes that simplify a program: for sizes that are equal at run time, and by rewrites.

#ifndef ADJOINT_DIALECT_AD_TRANSFORMS_SIMPLIFYPASSES
#define ADJOINT_DIALECT_AD_TRANSFORMS_SIMPLIFYPASSES

include "mlir/Pass/PassBase.td"

def SpecializeSizesPass : Pass<"ad-specialize-sizes", "::mlir::func::FuncOp"> {
  let summary = "A version of each function for arguments of which none is broadcast at run time";
  let description = [{
    Why: whether `?` is broadcast to another `?` is known at run time only. A broadcast that may happen keeps its
    operand out of the kernel that reads it, and its adjoint sums an axis that hardly ever has to be summed.

    The pass traces the sizes that ad.broadcast and ad.sum_to_shape compare to dimensions of the arguments, and puts
    those that are compared into classes. If all members of each class have one size, nothing is broadcast. One scf.if
    at the entry of the function tests this. Its first region computes on arguments that are reshaped to their own
    shape, with one value for all sizes of a class, so that ad-simplify drops the broadcasts; its second region is the
    written program. There are never more than two versions. Sizes that do not follow from those of the arguments, such
    as those of a feed, are compared in both.

    Before:
    ```mlir
    func.func @f(%x: tensor<?xf32>, %y: tensor<?xf32>) -> tensor<?xf32> {
      ... // %n is select(p == 1, q, p), p and q the sizes of %x and %y
      %0 = ad.broadcast %x(%n) : tensor<?xf32> -> tensor<?xf32>
      %1 = ad.broadcast %y(%n) : tensor<?xf32> -> tensor<?xf32>
      %z = ad.add %0, %1 : tensor<?xf32>
      return %z : tensor<?xf32>
    }
    ```
    After, with ad-simplify (`...` as before):
    ```mlir
    %same = arith.cmpi eq, %q, %p : index
    %z = scf.if %same -> (tensor<?xf32>) {
      %0 = ad.reshape %y(%p) : tensor<?xf32> -> tensor<?xf32>
      %1 = ad.add %x, %0 : tensor<?xf32>
      scf.yield %1 : tensor<?xf32>
    } else {
      ...
    }
    return %z : tensor<?xf32>
    ```
    Refuses: nothing. Results keep their bits, and sizes that do not fit are errors of the second version.
  }];
  let dependentDialects = [
    "::mlir::ad::ADDialect", "::mlir::arith::ArithDialect", "::mlir::scf::SCFDialect", "::mlir::tensor::TensorDialect"];
}

def SimplifyPass : Pass<"ad-simplify"> {
  let summary = "Fold, cancel and share what the numerics contract allows";
  let description = [{
    Why: derivative rules and decompositions emit straightforward code. One pass, which knows the contract, simplifies
    it.

    In every mode: bit-exact folders and canonicalizations of `ad`, transposes folded into the axes of ad.dot, casts
    that cancel exactly, sizes traced to their origin, common subexpressions, dead code.

    With the permission `algebra` on every operation that a rewrite touches: n + 0, n - 0, n * 0, (a * c1) * c2, x - x
    and similar identities. With `widen`: a cast to a narrower type and back.

    Upstream patterns come from an allow-list (arith on index and i1, scf, tensor.dim), since others fold with the
    host's math library or reassociate. No rewrite looks through ad.barrier.

    Before:
    ```mlir
    %t = ad.transpose %b [1, 0] : tensor<8x4xf32>
    %c = ad.dot %a, %t : (tensor<2x4xf32>, tensor<4x8xf32>) -> tensor<2x8xf32>
    ```
    After:
    ```mlir
    %c = ad.dot %a, %b contract [1] x [1] : (tensor<2x4xf32>, tensor<8x4xf32>) -> tensor<2x8xf32>
    ```
    Refuses: a rewrite whose permission one of its operations lacks; each use of a permission is a remark of the
    category ad-numerics and a row of the numerics report.
  }];
  let options = [
    Option<"maxRewrites", "max-rewrites", "int64_t", "-1",
           "stop after this number of rewrites (to bisect a difference); -1: no limit">];
  let dependentDialects = [
    "::mlir::ad::ADDialect", "::mlir::arith::ArithDialect", "::mlir::scf::SCFDialect", "::mlir::tensor::TensorDialect"];
}

#endif // ADJOINT_DIALECT_AD_TRANSFORMS_SIMPLIFYPASSES
