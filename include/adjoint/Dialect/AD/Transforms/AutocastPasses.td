// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Mixed precision.

#ifndef ADJOINT_DIALECT_AD_TRANSFORMS_AUTOCASTPASSES
#define ADJOINT_DIALECT_AD_TRANSFORMS_AUTOCASTPASSES

include "mlir/Pass/PassBase.td"

def AutocastPass : Pass<"ad-autocast", "::mlir::ModuleOp"> {
  let summary = "Write the casts of a mixed-precision policy into the program";
  let description = [{
    Why: a program is written in f32 once; a policy says which operations compute in fewer bits. The pass runs before
    ad-differentiate, so cotangents follow the casts by the rule of ad.cast, and no later pass knows about policies.

    The policy of a function is its `ad.precision`, else the option, else the `ad.precision` of the module; without any
    of them nothing is cast. A policy has three lists. An operation in `always` computes in the narrow type: its
    operands are cast, its result has the narrow type. Contractions accumulate in f32 and round once. An operation in
    `never` computes in f32. An operation in `follow` computes in the widest type of its operands; bf16 next to f16 is
    f32. `ad.precision` on an operation takes precedence over the lists. The rule `default` holds for operations that no
    list has, such as those of other dialects, and a remark names each.

    The rules are about tensors of f32, bf16 and f16. Integers, booleans, f64 and 8-bit floats stay, and so does an
    operation with an operand of f64 or 8-bit floats. A result whose element type differs from the operands', such as
    that of ad.cast, keeps it. Everything else is a boundary, where values have the types that the program says:
    arguments and results of functions, calls and derivatives, values that loops carry and branches yield, ad.feed,
    ad.receive, ad.barrier, kernels.

    If the narrow type has 8 bits, `always` has contractions only. They become ad.scaled_dot, which scales and rounds
    operands of any of the types above. Its scales are those of its operands, or those of the function's argument with
    `ad.scales`: a row for each such contraction that the function executes, also in functions of the same policy that
    it calls, which are inlined.

    A value is cast once to each type, right after its definition. A cast never replaces the value where the value
    itself has the required type.

    If the policy has `accumulate = f32`, its functions get `ad.cotangent_sums = f32`, which ad-differentiate reads.

    Before:
    ```mlir
    module attributes {ad.precision = #ad.precision<bf16>} {
      func.func @layer(%x: tensor<4x8xf32>, %w: tensor<8x2xf32>) -> tensor<4x2xf32> {
        %y = ad.dot %x, %w : (tensor<4x8xf32>, tensor<8x2xf32>) -> tensor<4x2xf32>
        %z = ad.relu %y : tensor<4x2xf32>
        %e = ad.exp %z : tensor<4x2xf32>
        return %e : tensor<4x2xf32>
      }
    }
    ```
    After:
    ```mlir
    module {
      func.func @layer(%x: tensor<4x8xf32>, %w: tensor<8x2xf32>) -> tensor<4x2xf32> {
        %x16 = ad.cast %x : tensor<4x8xf32> -> tensor<4x8xbf16>
        %w16 = ad.cast %w : tensor<8x2xf32> -> tensor<8x2xbf16>
        %y = ad.dot %x16, %w16 : (tensor<4x8xbf16>, tensor<8x2xbf16>) -> tensor<4x2xbf16>
        %z = ad.relu %y : tensor<4x2xbf16>
        %z32 = ad.cast %z : tensor<4x2xbf16> -> tensor<4x2xf32>
        %e = ad.exp %z32 : tensor<4x2xf32>
        return %e : tensor<4x2xf32>
      }
    }
    ```
    Refuses: a policy that does not exist or cannot be read; lists with names that are no operations, or operations that
    compute no tensors; the rule of an operation where no rule applies; other operations than contractions in 8 bits;
    another number of scales than of contractions. Each cast is a remark of the category ad-precision and counts in the
    numerics report.
  }];
  let options = [
    Option<"policy", "policy", "std::string", "\"\"",
           "bf16, f16, f8, none or FILE.yaml instead of the module's attribute">];
  let dependentDialects = ["::mlir::ad::ADDialect"];
}

def VerifyAutocastPass : Pass<"ad-verify-autocast"> {
  let summary = "Check that no ad.precision is left";
  let description = [{
    Why: this is the contract of ad-autocast. Later passes see casts only, and a policy that came later would cast the
    adjoint.

    Changes nothing. Refuses, with the operation and the pass to run:
    ```mlir
    func.func @f(%x: tensor<f32>) -> tensor<f32> attributes {ad.precision = #ad.precision<bf16>} {
      return %x : tensor<f32>
    }
    // error: 'func.func' op has ad.precision, which means nothing from here on; run --ad-to-cpu-frontend first,
    // or --ad-autocast alone
    ```
  }];
}

#endif // ADJOINT_DIALECT_AD_TRANSFORMS_AUTOCASTPASSES
