// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Which kernels a program uses: those that its user names, and those that a target lacks.

#ifndef ADJOINT_DIALECT_AD_TRANSFORMS_NAMEDKERNELPASSES
#define ADJOINT_DIALECT_AD_TRANSFORMS_NAMEDKERNELPASSES

include "mlir/Pass/PassBase.td"

def ExchangeKernelsPass : Pass<"ad-exchange-kernels", "::mlir::ModuleOp"> {
  let summary = "Replace operations by the implementations that the user names";
  let description = [{
    Why: two implementations of one operation, such as two formulas of the variance, give different bits. Whoever
    studies a difference between two systems exchanges one implementation at a time. `ad-runner --list-kernels` prints
    all implementations with their contracts; docs/named-kernels.md explains them.

    The option names an implementation for all operations of one kind, the attribute `ad.named_kernel` for one
    operation; the attribute takes precedence. The name is the permission: no other is needed, and modes exclude none.
    An implementation is written with operations of `ad` that have no permissions, in explicit orders, so that all
    targets compute the bits of the reference interpreter. Only the products of parts of bf16 keep the permission `mma`
    of a contraction that has `reorder` and `mma`, with the instruction of tensor cores as `ad.instruction` (decision
    0030).

    The pass runs after ad-differentiate: derivatives are those of the written operation. The operations of a derivative
    are exchanged like those of the program.

    Before:
    ```mlir
    %y = ad.softmax %x axis 1 {ad.named_kernel = "unshifted"} : tensor<4x3xf32>
    ```
    After:
    ```mlir
    %e = ad.exp %x {allow = #ad.allow<none>} : tensor<4x3xf32>
    %s = ad.reduce_sum %e axes [1] keep_dims {allow = #ad.allow<none>, order = #ad.order<lanes = 64, chunk = 4096>}
      : tensor<4x3xf32> -> tensor<4x1xf32>
    %b = ad.broadcast %s {allow = #ad.allow<none>} : tensor<4x1xf32> -> tensor<4x3xf32>
    %y = ad.div %e, %b {allow = #ad.allow<none>} : tensor<4x3xf32>
    ```
    Refuses: names that do not exist, with those that do; an operation with the attribute that the implementation does
    not cover, such as a contraction of f64 in parts of bf16; an option that no operation of the program is covered by.
    Each exchange is a remark of the category ad-numerics and a row of the numerics report.
  }];
  let options = [
    Option<"kernels", "kernels", "std::string", "\"\"",
           "OP=NAME[,OP=NAME...]: the implementation of all operations of a kind, e.g. layer_norm=welford">];
  let dependentDialects = [
    "::mlir::ad::ADDialect", "::mlir::arith::ArithDialect", "::mlir::scf::SCFDialect", "::mlir::tensor::TensorDialect"];
}

def InsertPrecisionFreeCastsPass : Pass<"ad-insert-precision-free-casts", "::mlir::ModuleOp"> {
  let summary = "Compute in f32 what a target has no kernel for in a narrower type";
  let description = [{
    Why: some systems have no f16 kernels for some operations. They cast the operands to f32 and the result back, and
    then drop pairs of casts between two operations, so that values are no longer rounded to f16. This pass makes the
    first step explicit, and ad-simplify the second one, with the permission `widen` only.

    An operation of a listed type gets operands that are cast to f32, and a cast of its f32 result. That changes no
    bits, since operations on narrow floats compute in f32 and round once. The location of each cast is named
    `InsertedPrecisionFreeCast_<value>` after the argument or operation that the value comes from.

    Before (with `missing=add:f16`):
    ```mlir
    %y = ad.add %x, %x : tensor<4xf16>
    ```
    After:
    ```mlir
    %0 = ad.cast %x : tensor<4xf16> -> tensor<4xf32>
    %1 = ad.add %0, %0 : tensor<4xf32>
    %y = ad.cast %1 : tensor<4xf32> -> tensor<4xf16>
    ```
    Refuses: entries that are not OP:TYPE, with an operation of `ad` that computes floats and one of f16, bf16,
    f8E4M3FN and f8E5M2; an operation without a kernel for which the program writes an instruction, `ad.instruction`.
    Each operation is a remark of the category ad-precision and counts in the numerics report.
  }];
  let options = [
    Option<"missing", "missing", "std::string", "\"\"",
           "OP:TYPE[,OP:TYPE...]: the kernels that the target lacks, e.g. dot:f16,add:f16">];
  let dependentDialects = ["::mlir::ad::ADDialect"];
}

#endif // ADJOINT_DIALECT_AD_TRANSFORMS_NAMEDKERNELPASSES
