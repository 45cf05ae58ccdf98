// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Passes on fusions, kernels and the host program that convert nothing: conditions on sizes, packed operands,
// outlined kernels, the memory plan.

#ifndef ADJOINT_TRANSFORMS_PASSES
#define ADJOINT_TRANSFORMS_PASSES

include "mlir/Pass/PassBase.td"

def InsertShapeChecksPass : Pass<"ad-insert-shape-checks", "::mlir::func::FuncOp"> {
  let summary = "Make the run-time conditions on sizes explicit";
  let description = [{
    Operations on tensors with `?` sizes have conditions that only hold or fail at run time. This pass writes each one
    as an `ad.require` before the operation, so that kernels never have to check and every failure leads back to its
    source. It runs before fusion, which moves operations away from the place where a condition can be tested.

    A launch of a kernel that another compiler wrote has conditions of its own, since linalg leaves operands of sizes
    that do not fit undefined. Before such a launch, operands have to agree about the size of each loop, index maps
    have to stay inside of their operands, the `sizes` of the launch have to be those that the kernel yields, and
    results that share their loops have to have one size. Each condition has the place of the operation in the kernel,
    or of the launch. A size that depends on elements of a tensor has no condition.

    Before:
    ```mlir
    %y = ad.reshape %x(%n) : tensor<?x6xf32> -> tensor<?x2xf32>
    ```
    After:
    ```mlir
    ad.require 4 %same(%from, %to) "ad.reshape"
    %y = ad.reshape %x(%n) : tensor<?x6xf32> -> tensor<?x2xf32>
    ```
    Refuses nothing.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::tensor::TensorDialect"];
}

def PrepackOperandsPass : Pass<"ad-prepack-operands", "::mlir::func::FuncOp"> {
  let summary = "Pack matrices that stay the same over the turns of a loop in front of it";
  let description = [{
    A contraction reads its right operand in panels: the columns of a tile of the result, with the contracted axis
    outside. A kernel packs them itself where that pays. Where the operand stays the same for at least eight turns of
    loops of known length, it is packed once, before the outermost of them: the layout is the shape of the packed
    tensor and stands in the access map, so that any emitter that knows affine maps reads it right. Pairs of bf16 lie
    together where the processor sums them with dot products.

    Before:
    ```mlir
    scf.for … {
      %y = ad.fusion dot (%a = %x, %b = %w) : (tensor<8x64xf32>, tensor<64x64xf32>) -> tensor<8x64xf32> { … }
    }
    ```
    After:
    ```mlir
    %p = ad.fusion movement (%b = %w) : (tensor<64x64xf32>) -> tensor<2x64x32xf32> { … (d0, d1) -> (d1 floordiv 32, d0, d1 mod 32) … }
    scf.for … {
      %y = ad.fusion dot (%a = %x, %b = %p) : (tensor<8x64xf32>, tensor<2x64x32xf32>) -> tensor<8x64xf32> { … }
    }
    ```
    Refuses operations that are not in a fusion or not lowered to linalg.
  }];
  let options = [Option<"vectorWidth", "vector-bytes", "int64_t", "64", "As that of ad-emit-cpu">,
                 Option<"dotProducts", "dot-products", "bool", "false", "As that of ad-emit-cpu">,
                 Option<"tiles", "tiles", "std::string", "\"large\"", "As that of ad-emit-cpu">];
  let dependentDialects = ["::mlir::linalg::LinalgDialect", "::mlir::tensor::TensorDialect"];
}

def OutlineKernelsPass : Pass<"ad-outline-kernels", "::mlir::ModuleOp"> {
  let summary = "Move each fusion into a kernel and launch it";
  let description = [{
    The host program keeps control flow, feeds and launches; the code of a fusion moves into an `ad.kernel`. Fusions
    with the same body share a kernel. The sizes of the results become operands of `ad.launch`. Kernels that were
    there before get names that linkers and PTX take: a byte that is no letter, digit or underscore becomes `$` and
    two hexadecimal digits. These names begin with `kernel_`, so that none is that of a service of the runtime, of a
    function of the C library, or of what later passes make.

    Before:
    ```mlir
    %y = ad.fusion elementwise (%a = %x) : (tensor<4xf32>) -> tensor<4xf32> { … }
    ```
    After:
    ```mlir
    %y = ad.launch @exp_0(%x) : (tensor<4xf32>) -> tensor<4xf32>
    ```
    Refuses operations that are not in a fusion or not lowered to linalg.
  }];
  let dependentDialects = ["::mlir::tensor::TensorDialect", "::mlir::arith::ArithDialect"];
}

def PlanMemoryPass : Pass<"ad-plan-memory", "::mlir::ModuleOp"> {
  let summary = "Assign every tensor of the host programs a place in memory";
  let description = [{
    Lifetimes are counted in whole kernels, nested loops included: what a kernel reads and what it writes never share
    memory, except where a result lies in the place of an operand that dies and that is read only where the result is
    written, or, for sums of rows, in the row that is written. What a loop carries has one place, which it starts and
    ends in when nothing else needs what it starts as; a yielded value is written there when the old one is dead by
    then.

    An argument with `ad.donated` gives its memory to the result that it names, if it is dead when that is written; a
    remark of the category ad-memory says what became of it. Other results of static shape are written where the host
    gets them. What is left lies in pools: tensors of static shape in the arena; tensors whose dynamic sizes come from
    the same places in a pool whose layout is the same for all sizes. Several orders are tried, and the layout that
    needs least is kept.

    First, launches whose results leave their block move to where they can run first: updates at the end of a step
    would keep all that they read live until then. They stay behind conditions, and go behind what else reads the
    value that they replace.

    The plan is checked for races (ad-verify-memory-plan) and written as attributes: `ad.buffers` on the function
    (home, number, offset and bytes of each buffer; home 0 is a pool, 1 an argument, 2 a result), `ad.arena_bytes`,
    `ad.pool_bytes` of the other pools, and `ad.buffer` on each operation (the buffer of each result or carry).

    Before:
    ```mlir
    func.func @main(%x: tensor<4xf32>) {
      %y = ad.launch @exp_0(%x) : (tensor<4xf32>) -> tensor<4xf32>
      ad.receive "y"(%y) : tensor<4xf32>
      return
    }
    ```
    After:
    ```mlir
    func.func @main(%x: tensor<4xf32>) attributes {ad.arena_bytes = 64 : i64, ad.buffers = array<i64: 0, 0, 0, 16>} {
      %y = ad.launch @exp_0(%x) {ad.buffer = array<i64: 0>} : (tensor<4xf32>) -> tensor<4xf32>
      ad.receive "y"(%y) : tensor<4xf32>
      return
    }
    ```
    Refuses operations on tensors outside of kernels, calls that are left, unstructured control flow, and operations
    of other dialects that have no lowering here.
  }];
  let options = [
    Option<"reportFile", "report", "std::string", "\"\"",
           "write there how many bytes each pool uses, how many its buffers have, and how many are live together at most; `-` is "
           "standard output">,
    Option<"pictureFile", "picture", "std::string", "\"\"",
           "draw there, as SVG, the offset of each buffer against its lifetime">];
}

def VerifyMemoryPlanPass : Pass<"ad-verify-memory-plan", "::mlir::ModuleOp"> {
  let summary = "Check a memory plan for races";
  let description = [{
    Why: plans are attributes, and a wrong one gives wrong numbers without a word. The check follows the host program
    as the plan says that it will run, with the names of values in the place of numbers, and knows nothing of how the
    plan was made: each operand must still lie where it was written, also in the next turn of a loop, and no kernel
    may write what it reads elsewhere.

    Changes nothing. Refuses, with the operation that would read or write something wrong:
    ```mlir
    %y = ad.launch @transpose_0(%x) {ad.buffer = array<i64: 0>} : (tensor<4x4xf32>) -> tensor<4x4xf32>
    // error: 'ad.launch' op memory plan is wrong: the kernel overwrites operand 0, which it reads elsewhere
    ```
  }];
}

#endif // ADJOINT_TRANSFORMS_PASSES
