// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Passes from `ad` to `ad`: they make the numerics contract explicit, differentiate, simplify, decompose and fuse. Each
// layer's contract is a verifying pass of its own.

#ifndef ADJOINT_DIALECT_AD_TRANSFORMS_PASSES
#define ADJOINT_DIALECT_AD_TRANSFORMS_PASSES

include "adjoint/Dialect/AD/Transforms/AutocastPasses.td"
include "adjoint/Dialect/AD/Transforms/NamedKernelPasses.td"
include "adjoint/Dialect/AD/Transforms/PrintPasses.td"
include "adjoint/Dialect/AD/Transforms/SimplifyPasses.td"
include "mlir/Pass/PassBase.td"

//===- Numerics -===//

def SetNumericsPass : Pass<"ad-set-numerics", "::mlir::ModuleOp"> {
  let summary = "Write mode, permissions, summation orders and broadcasts into the program";
  let description = [{
    Why: later passes read from an operation itself what they may do with it, never from the module, the command line or
    other operations. A lowering cannot express a broadcast that is decided at run time.

    The pass gives the module the attribute `ad.numerics` (`strict` unless it has one). Every operation without `allow`
    gets the permissions of its function or module, and every summing operation without `order` its canonical order.
    Implicit broadcasts of elementwise operations become explicit, and so does that of an ad.gemm bias with dynamic
    sizes. If two sizes are dynamic, the pass computes the common size (`p == 1 ? q : p`), and both operands get an
    `ad.broadcast`, which checks at run time. Attributes that are present stay: the pass is idempotent, and refinements
    of functions and operations take precedence.

    Before:
    ```mlir
    func.func @f(%x: tensor<4x3xf32>, %b: tensor<3xf32>) -> tensor<4xf32> {
      %y = ad.add %x, %b : tensor<4x3xf32>, tensor<3xf32>
      %s = ad.reduce_sum %y axes [1] : tensor<4x3xf32> -> tensor<4xf32>
      return %s : tensor<4xf32>
    }
    ```
    After (in a module with `ad.numerics = #ad.numerics<reproducible>`):
    ```mlir
    func.func @f(%x: tensor<4x3xf32>, %b: tensor<3xf32>) -> tensor<4xf32> {
      %w = ad.broadcast %b {allow = #ad.allow<none>} : tensor<3xf32> -> tensor<4x3xf32>
      %y = ad.add %x, %w {allow = #ad.allow<none>} : tensor<4x3xf32>
      %s = ad.reduce_sum %y axes [1] {allow = #ad.allow<none>, order = #ad.order<lanes = 64, chunk = 4096>}
        : tensor<4x3xf32> -> tensor<4xf32>
      return %s : tensor<4xf32>
    }
    ```
    Refuses: a mode or permission that does not exist; permissions inside a reproducible module or function, on
    operations and in refinements; calls from there to functions with another contract.
  }];
  let options = [
    Option<"numerics", "numerics", "std::string", "\"\"",
           "MODE[,PERMISSION...] instead of the module's attribute: reproducible, strict or fast, then any of reorder, "
           "algebra, contract, widen, mma, narrow, approx, finite">];
  let dependentDialects = [
    "::mlir::ad::ADDialect", "::mlir::arith::ArithDialect", "::mlir::tensor::TensorDialect"];
}

def WriteBroadcastsPass : Pass<"ad-write-broadcasts", "::mlir::ModuleOp"> {
  let summary = "Broadcast operands whose dynamic sizes cannot be compared any more";
  let description = [{
    Why: ad-set-numerics leaves an operand as it is where the analysis of sizes proves that it has the sizes of the
    result. Passes between may put more operations between two equal sizes than the analysis follows. Such operands get
    an explicit broadcast, which checks the sizes at run time; no contract is written again.

    Before:
    ```mlir
    func.func @f(%x: tensor<?xf32>, %y: tensor<?xf32>) -> tensor<?xf32> {
      %z = ad.add %x, %y {allow = #ad.allow<none>} : tensor<?xf32>
      return %z : tensor<?xf32>
    }
    ```
    After: both operands are broadcast to the common size, which a comparison of the sizes of `%x` and `%y` finds.

    Changes no other operation. Refuses nothing.
  }];
  let dependentDialects = [
    "::mlir::ad::ADDialect", "::mlir::arith::ArithDialect", "::mlir::tensor::TensorDialect"];
}

def VerifyNumericsPass : Pass<"ad-verify-numerics"> {
  let summary = "Check that permissions, orders and broadcasts are explicit";
  let description = [{
    Why: this is the contract of ad-set-numerics. Later passes rely on an `allow` on every operation, an `order` on
    every summing operation, elementwise operands with the shape of the result, and no permissions where the contract is
    reproducible.

    Changes nothing. Refuses, with the operation and the pass to run:
    ```mlir
    %y = ad.exp %x : tensor<4xf32>
    // error: 'ad.exp' op has no permissions; run --ad-to-cpu-frontend first, or --ad-set-numerics alone
    ```
  }];
}

def WriteNumericsReportPass : Pass<"ad-write-numerics-report"> {
  let summary = "Write every use of a permission so far to a JSON file";
  let description = [{
    Why: a run in `fast` mode reports where it deviates from the written program. Run this pass after the passes whose
    uses are wanted, as --numerics-report of the runner does.

    Changes nothing. For a program in which ad-simplify dropped this zero
    ```mlir
    %y = ad.add %x, %zero : tensor<4xf32>
    ```
    the file holds:
    ```json
    [
      {
        "column": 8,
        "count": 1,
        "file": "model.mlir",
        "line": 3,
        "pattern": "drop-zero",
        "permission": "algebra"
      }
    ]
    ```
    Rows are sorted by location, pattern and permission, whatever the order in which threads worked.

    Refuses: a file that cannot be written.
  }];
  let options = [
    Option<"file", "file", "std::string", "\"-\"", "where to write; `-` is standard output">];
  let dependentDialects = ["::mlir::ad::ADDialect"];
}

//===- Differentiation -===//

def DifferentiatePass : Pass<"ad-differentiate", "::mlir::ModuleOp"> {
  let summary = "Replace ad.vjp and ad.value_and_grad by calls of generated derivative functions";
  let description = [{
    Why: after this pass a program has plain operations only, so that no later pass knows about derivatives. Derivative
    functions are ordinary functions; one is generated per function and list of arguments. Derivatives of code that
    contains derivatives are replaced innermost first, for higher orders. `ad.cotangent_sums` is the type of sums.

    Before:
    ```mlir
    func.func @square(%x: tensor<f32>) -> tensor<f32> {
      %y = ad.mul %x, %x : tensor<f32>
      return %y : tensor<f32>
    }
    func.func @main(%x: tensor<f32>) -> (tensor<f32>, tensor<f32>) {
      %y, %dx = ad.value_and_grad @square(%x) wrt [0] : (tensor<f32>) -> (tensor<f32>, tensor<f32>)
      return %y, %dx : tensor<f32>, tensor<f32>
    }
    ```
    After (`@main`; the generated function computes `%y` and `1 * %x + 1 * %x`):
    ```mlir
    func.func @main(%x: tensor<f32>) -> (tensor<f32>, tensor<f32>) {
      %r:2 = call @square__grad_0(%x) : (tensor<f32>) -> (tensor<f32>, tensor<f32>)
      return %r#0, %r#1 : tensor<f32>, tensor<f32>
    }
    ```
    Refuses: active operations without a derivative rule (it names all of them), `scf.while`, recursion.
  }];
  let dependentDialects = [
    "::mlir::ad::ADDialect", "::mlir::arith::ArithDialect", "::mlir::func::FuncDialect", "::mlir::scf::SCFDialect",
    "::mlir::tensor::TensorDialect"];
}

def VerifyDifferentiatedPass : Pass<"ad-verify-differentiated"> {
  let summary = "Check that no differentiation is left";
  let description = [{
    Why: this is the contract of ad-differentiate. No later pass knows ad.vjp, ad.value_and_grad or ad.stop_gradient.

    Changes nothing. Refuses, with the operation and the pass to run:
    ```mlir
    %y, %dx = ad.value_and_grad @f(%x) wrt [0] : (tensor<f32>) -> (tensor<f32>, tensor<f32>)
    // error: 'ad.value_and_grad' op is a differentiation operation; run --ad-to-cpu-frontend first,
    // or --ad-differentiate alone
    ```
  }];
}

//===- Simplification -===//

def PlaceCastsPass : Pass<"ad-place-casts"> {
  let summary = "Move the casts of contraction operands to the kernels that write the operands";
  let description = [{
    Why: in mixed precision, contractions read values in 16 or 8 bits that other kernels compute in f32. A cast that
    follows the operation that computes the value fuses with it. A cast after a reshape, or of a parameter that a loop
    carries, is a kernel of its own, which reads and writes the whole tensor.

    The pass moves a cast to a narrower float type if a contraction reads its result, also through free views:
    - before reshapes, transpositions, broadcasts and concatenations;
    - before slices of a value that a loop carries or that is defined outside of the loop, if the casts convert at least
      half as many elements as the value has;
    - out of loops, if the value is defined outside;
    - of a value that a loop carries: the loop carries the cast value too. It is cast once before the loop, and the next
      value at the end of the body, where the kernel that updates a parameter writes both. After the loop, its result is
      the cast value.

    A cast to a wider type moves before a reshape, a transposition or a concatenation, unless one elementwise operation
    alone reads it: the kernel that computes the value then has the cast.

    Bit-exact: the same elements are rounded in the same way.

    Before:
    ```mlir
    %r = scf.for %i = %zero to %n step %one iter_args(%w = %init) -> (tensor<8x8xf32>) {
      %narrow = ad.cast %w : tensor<8x8xf32> -> tensor<8x8xbf16>
      %y = ad.dot %x, %narrow : (tensor<8x8xbf16>, tensor<8x8xbf16>) -> tensor<8x8xf32>
      %next = ad.sub %w, %y : tensor<8x8xf32>
      scf.yield %next : tensor<8x8xf32>
    }
    ```
    After:
    ```mlir
    %first = ad.cast %init : tensor<8x8xf32> -> tensor<8x8xbf16>
    %r:2 = scf.for %i = %zero to %n step %one iter_args(%w = %init, %narrow = %first)
        -> (tensor<8x8xf32>, tensor<8x8xbf16>) {
      %y = ad.dot %x, %narrow : (tensor<8x8xbf16>, tensor<8x8xbf16>) -> tensor<8x8xf32>
      %next = ad.sub %w, %y : tensor<8x8xf32>
      %copy = ad.cast %next : tensor<8x8xf32> -> tensor<8x8xbf16>
      scf.yield %next, %copy : tensor<8x8xf32>, tensor<8x8xbf16>
    }
    ```
    Refuses: casts that only elementwise or row kernels read, which cast while they load; slices at dynamic offsets;
    carries of scf.while.
  }];
  let dependentDialects = ["::mlir::ad::ADDialect", "::mlir::scf::SCFDialect"];
}

def DecomposePass : Pass<"ad-decompose"> {
  let summary = "Write nn operations, and reductions and contractions over several axes, with simpler operations";
  let description = [{
    Why: the decomposition defines the meaning of an nn operation. The reference interpreter executes it, and the
    lowering needs to support elementwise operations, single-axis reductions and contractions only.

    16- and 8-bit inputs of nn operations are cast to f32 first, and the result is cast back once. Dynamic sizes of
    parameters and labels become conditions (`ad.require`). Broadcasts are explicit. New operations inherit `allow` from
    the operation that they replace.

    A reduction over several axes becomes one reduction per axis, from the last to the first, in the accumulator's type,
    with one cast at the end. If the tensor is in memory, adjacent reduced axes are merged where the order does not
    matter (max, min, integers), and so are short kept axes at the end. A mean becomes a sum divided by the number of
    elements. ad.sum_to_shape becomes reductions; an axis that is summed or kept at run time is split in two for that.
    ad.clamp becomes max and min. An ad.dot over axes that are adjacent in both operands becomes one over a single axis
    of their product's size, in the same order, also after a transposition of an operand that is read 16 times or more.

    Before:
    ```mlir
    %y = ad.softmax %x axis 1 : tensor<4x3xf32>
    ```
    After:
    ```mlir
    %m = ad.reduce_max %x axes [1] keep_dims : tensor<4x3xf32> -> tensor<4x1xf32>
    %mb = ad.broadcast %m : tensor<4x1xf32> -> tensor<4x3xf32>
    %s = ad.sub %x, %mb : tensor<4x3xf32>
    %e = ad.exp %s : tensor<4x3xf32>
    %z = ad.reduce_sum %e axes [1] keep_dims : tensor<4x3xf32> -> tensor<4x1xf32>
    %zb = ad.broadcast %z : tensor<4x1xf32> -> tensor<4x3xf32>
    %y = ad.div %e, %zb : tensor<4x3xf32>
    ```
    Named kernels of other dialects (NamedKernelOpInterface) are replaced by their decompositions, too, but for those that
    a kernel class of `target` covers.

    Leaves: ad.gemm, ad.argmax, ad.argmin, ad.cumsum.
    Refuses: a name in `ops` that it has no decomposition for.
  }];
  let options = [
    ListOption<"ops", "ops", "std::string",
               "only these operations, e.g. ad.softmax,ad.reduce_mean; all when empty">,
    Option<"target", "target", "std::string", "\"\"",
           "cpu or gpu: named kernels with a kernel class for this target stay whole; none when empty">];
  let dependentDialects = [
    "::mlir::ad::ADDialect", "::mlir::arith::ArithDialect", "::mlir::tensor::TensorDialect"];
}

//===- Fusion -===//

def SplitKPass : Pass<"ad-split-k"> {
  let summary = "Split the reduction dimension K of contractions with small results";
  let description = [{
    This pass rewrites a contraction as a sum of contractions over parts of the reduction dimension K (split-K).

    Why: one thread block of a GPU loops over all of K for its tile of the result. A result of few tiles leaves most
    multiprocessors idle. The gradient of a weight, which sums over all rows of a batch, is an example.

    The pass splits K into equal parts. The parts become a leading batch axis, in the accumulator's type, and their
    sum over that axis is rounded to the result's type. The number of parts gives each of `blocks` thread blocks a
    tile of 64 x 64. No part is shorter than 128 (512 on tensor cores), and the length of a part is a multiple of 16.
    Only static sizes are split. Sums of integers wrap, so integer contractions are split in every mode. Sums of
    floats need `reorder` and `contract`, which `strict` does not have: there the order follows from the operation.

    Before:
    ```mlir
    %w = ad.dot %x, %g contract [0] x [0] : (tensor<4096x64xbf16>, tensor<4096x64xbf16>) -> tensor<64x64xbf16>
    ```
    After:
    ```mlir
    %0 = ad.reshape %x : tensor<4096x64xbf16> -> tensor<8x512x64xbf16>
    %1 = ad.reshape %g : tensor<4096x64xbf16> -> tensor<8x512x64xbf16>
    %2 = ad.dot %0, %1 batch [0] x [0] contract [1] x [1]
       : (tensor<8x512x64xbf16>, tensor<8x512x64xbf16>) -> tensor<8x64x64xf32>
    %3 = ad.reduce_sum %2 axes [0] : tensor<8x64x64xf32> -> tensor<64x64xf32>
    %w = ad.cast %3 : tensor<64x64xf32> -> tensor<64x64xbf16>
    ```
    Refuses: contractions without the permissions (the numerics report has a row for each use), and a number of blocks
    that is not positive.
  }];
  let options = [Option<"blocks", "blocks", "int64_t", "128",
                        "Thread blocks that keep the multiprocessors of a GPU busy">];
  let dependentDialects = ["::mlir::ad::ADDialect"];
}

def SortScattersPass : Pass<"ad-sort-scatters"> {
  let summary = "Sort the updates of scatters that have many of them";
  let description = [{
    This pass sorts the updates of an `ad.scatter` by the elements that they update, and lets each element of the result
    take its own.

    Why: kernels of GPUs divide the result of a scatter, and each group of threads looks at the indices of all updates
    (decision 0057). The time grows with the number of groups times that of updates.

    A stable sort keeps the order of the updates of one element, so the results keep their bits. The scatter becomes an
    `ad.argsort` between fusions: the number of the element of each update, the same in ascending order, where the run of
    each element begins, and the result, an element of which combines the updates from where its run begins to where the
    next one does.

    Before:
    ```mlir
    %y = ad.scatter add %x[%i], %u axes [0] : tensor<100xf32>, tensor<1000000xi32>, tensor<1000000xf32>
    ```
    After:
    ```mlir
    %keys = ad.fusion ... (tensor<1000000xi32>) -> tensor<1000000xi32>
    %places = ad.argsort %keys axis 0 : tensor<1000000xi32>
    %sorted = ad.fusion ... (tensor<1000000xi32>, tensor<1000000xi64>) -> tensor<1000000xi32>
    %begins = ad.fusion ... (tensor<1000000xi32>) -> tensor<101xi32>
    %y = ad.fusion ... (tensor<100xf32>, tensor<101xi32>, tensor<1000000xi64>, tensor<1000000xf32>) -> tensor<100xf32>
    ```
    Indices have to be tested before: run it after `ad-insert-shape-checks`.

    Leaves: scatters with batch axes, with fewer than `updates` updates, and those that change a small part of a tensor.
    Refuses: a number of updates that is not positive.
  }];
  let options = [Option<"updates", "updates", "int64_t", "16384", "The fewest updates that are sorted">];
  let dependentDialects = ["::mlir::ad::ADDialect", "::mlir::arith::ArithDialect", "::mlir::linalg::LinalgDialect",
                           "::mlir::tensor::TensorDialect"];
}

def ChooseInstructionsPass : Pass<"ad-choose-instructions"> {
  let summary = "Fix the tensor core instruction of contractions that may not choose their order";
  let description = [{
    This pass writes `ad.instruction` on each product of f16, bf16 or 8-bit floats that has the permission `mma` but not
    `contract` (mode `strict`). The instruction depends on the operation alone, not on chip, tile or fusion. In other
    modes operands of 8-bit floats are cast to f16, which is exact. A remark (ad-gpu) names it, or why there is none.
    ```mlir
    %y = ad.dot %a, %b {ad.instruction = #ad.instruction<m = 16, n = 8, k = 32, promote = 128>, allow = #ad.allow<mma>}
       : (tensor<16x256xf8E4M3FN>, tensor<256x8xf8E5M2>) -> tensor<16x8xf32>
    ```
  }];
  let dependentDialects = ["::mlir::ad::ADDialect"];
}

def WidenOperandsPass : Pass<"ad-widen-operands"> {
  let summary = "Convert narrow operands of contractions to f32 before their kernels";
  let description = [{
    This pass casts the operands of a contraction of f16, bf16 or 8-bit floats to f32.

    Why: such a contraction accumulates in f32. Its kernel on the CPU converts each element of an operand once for each
    register tile that reads it, in the innermost loop. A kernel of its own converts it once. Both give the same bits,
    since casts to f32 are exact.

    The pass rewrites a contraction if each element of both operands is read by many elements of the result: 16 of f16
    and 8-bit floats, 128 of bf16, whose conversion is a shift. Dynamic sizes count as many. A value is cast once, right
    after its definition, so that the cast of a loop-invariant operand is outside of the loop. The operands take twice
    as much memory or more.

    Before:
    ```mlir
    %y = ad.dot %x, %w : (tensor<256x64xf16>, tensor<64x32xf16>) -> tensor<256x32xf16>
    ```
    After:
    ```mlir
    %0 = ad.cast %x : tensor<256x64xf16> -> tensor<256x64xf32>
    %1 = ad.cast %w : tensor<64x32xf16> -> tensor<64x32xf32>
    %2 = ad.dot %0, %1 : (tensor<256x64xf32>, tensor<64x32xf32>) -> tensor<256x32xf32>
    %y = ad.cast %2 : tensor<256x32xf32> -> tensor<256x32xf16>
    ```
    Refuses: with `dot-products`, contractions of bf16 with the permission `mma` and no `ad.instruction`; they use
    these.
  }];
  let options = [Option<"dotProducts", "dot-products", "bool", "false", "The same option of ad-emit-cpu">];
  let dependentDialects = ["::mlir::ad::ADDialect"];
}

def FusePass : Pass<"ad-fuse"> {
  let summary = "Group operations into fusions, one for each kernel";
  let description = [{
    Why: a fusion becomes one kernel; values inside it are never written to memory.

    The pass knows operations by their interfaces only (FusableOpInterface, ElementwiseOpInterface,
    ReductionOpInterface), so that operations of other dialects fuse like those of `ad`.

    A fusion has one iteration space. Each of its operations is computed at the points of the space, at its rows (all
    axes but the last, which a row reduction of the fusion collapses), or inside a reduction, at the points that the
    reduction reads. A producer joins the fusion of a user that reads it in one of these ways. Values with users outside
    of the fusion become results.

    A contraction, or a reduction of other axes than the last, fuses with elementwise users of its shape (bias,
    activation, residual, update of a parameter). Reductions fuse with elementwise producers. Softmax and norms become
    one fusion with their backward passes. So do reductions of tensors of any shapes, each to one number, whose
    results are joined. Small independent fusions over equal spaces are joined. Splat constants, ad.full, and
    broadcasts, slices, transpositions and reshapes that only change which element is read are copied into the fusions
    that use them. A broadcast of a dynamic size is one of these if the size of its result is provably the same, which
    `ad.same_sizes` records.

    No fusion depends on itself through other operations (convexity). Nothing moves across a condition (`ad.require`),
    and effects keep their order. All sums in a fusion have the same written order, so that fused and unfused programs
    agree bit for bit. A fusion has the permissions that all its operations have.

    The cost model: each member saves one launch and the bytes of its result. Nothing is computed twice, except
    constants and data movement. Independent fusions are joined up to 16384 points, where a launch costs as much as the
    work, and only if one of them is ready at most 8 kernels before the other: until it runs, its operands occupy
    memory.

    Before:
    ```mlir
    %0 = ad.dot %x, %w {order = #ad.order<block = 512>} : (tensor<8x16xf32>, tensor<16x32xf32>) -> tensor<8x32xf32>
    %y = ad.relu %0 : tensor<8x32xf32>
    ```
    After:
    ```mlir
    %y = ad.fusion dot (%a = %x, %b = %w) : (tensor<8x16xf32>, tensor<16x32xf32>) -> tensor<8x32xf32> {
      %0 = ad.dot %a, %b {order = #ad.order<block = 512>} : (tensor<8x16xf32>, tensor<16x32xf32>) -> tensor<8x32xf32>
      %1 = ad.relu %0 : tensor<8x32xf32>
      ad.yield %1 : tensor<8x32xf32>
    }
    ```
    Kernels convert operands that are casts of values that no kernel computes, if that moves no more bytes. Elementwise
    and row kernels widen 16-bit floats also where another kernel computes them: it stores them in 16 bits. A
    contraction does so for an operand that it reads once for all rows of its result, or packs for all rows (CPUs). On
    GPUs, `max-converted-rows` is the number of rows of a tile: with more rows, tensor cores and asynchronous copies
    need the operand in its narrow type in memory.

    A fusion that only converts operands of a loop, such as the first 16-bit copy of a parameter, also writes the
    tensors of one number that the same loop starts with, such as the states of an optimizer.

    Refuses unknown policies. A remark of the category ad-fuse names each fusion, and each producer that stays outside
    with the reason. The program must be one that --ad-verify-numerics accepts.

    An operation with the attribute `ad.fuse_group = "NAME"`, or that was made from one (ad-keep-fuse-groups), shares
    kernels only with others of this group, and one with `ad.no_fuse` only with those that were made from the same
    operation. No view of a group, and no cast, is copied into the kernels of another, and a remark says how many kernels
    a group has. A compiler that embeds Adjoint forbids fusions by a FusionPolicy.

    The kernel classes of `target` are asked, too. A class of another compiler whose benefit is higher than those of
    Adjoint's classes keeps the operations that it covers: nothing joins them that the class does not cover as well.
  }];
  let options = [Option<"maxConvertedRows", "max-converted-rows", "int64_t", "-1",
                        "contractions with more rows read operands that a kernel converted before; -1: the operands that "
                        "kernels for CPUs pack are converted for any number of rows">,
                 Option<"policy", "policy", "std::string", "\"grow\"",
                        "grow: as described; single: one fusion for each operation; layers: groups along the "
                        "layers of the dependence graph, for tests that compare with recorded groups">,
                 Option<"target", "target", "std::string", "\"\"",
                        "cpu or gpu: kernel classes of other compilers for this target are asked; none when empty">];
  let dependentDialects = ["::mlir::ad::ADDialect"];
}

def KeepFuseGroupsPass : Pass<"ad-keep-fuse-groups"> {
  let summary = "Write fuse groups into locations, which all that passes make from an operation has";
  let description = [{
    Why: `ad.fuse_group` and `ad.no_fuse` say which operations may share a kernel, and ad-fuse comes after passes that
    replace most operations. An attribute would be lost with the operation; its location goes to all that replaces it: to
    its decomposition, to the casts of its operands, to its derivative.

    Before:
    ```mlir
    %y = ad.softmax %x axis 1 {ad.no_fuse} : tensor<8x64xf32>
    ```
    After (shown by `--mlir-print-debuginfo`, which files between stages need, too):
    ```mlir
    %y = ad.softmax %x axis 1 : tensor<8x64xf32> loc(fused<{ad.fuse_group = distinct[0]<>}>["f.mlir":2:8])
    ```
    Copies of one operation, as of a function that is called twice, have one group.

    Changes nothing else. Refuses nothing: the attributes are verified on every operation.
  }];
}

def VerifyFusedPass : Pass<"ad-verify-fused"> {
  let summary = "Check that every computation is in a fusion with a kernel class";
  let description = [{
    Why: this is the contract of ad-fuse and ad-select-kernels: each fusion is one kernel and has an emitter.

    Changes nothing. Refuses, with the operation and the pass to run:
    ```mlir
    %y = ad.exp %x : tensor<4xf32>
    // error: 'ad.exp' op is not in an ad.fusion; run --ad-to-cpu-frontend --ad-to-cpu-fusion first, or …
    ```
  }];
}

//===- Contracts of other layers -===//

def VerifyLinalgPass : Pass<"ad-verify-linalg"> {
  let summary = "Check that no operation of ad that computes tensors is left";
  let description = [{
    Why: this is the contract of convert-ad-to-linalg, and of kernels that another compiler wrote. Later passes see only
    linalg, arith, tensor and scf, fusions and kernels, the scalar operations of ad, and reshapes of the host program,
    which move no data. The emitters check bodies with the same verifier (docs/numerics.md).

    Changes nothing. Refuses operations of ad that compute tensors; accesses outside of operands; results that are not
    written exactly once; scalar code that CPUs and GPUs round in different ways; outs that are read before they are
    written; reductions with a tree order whose partial results cannot be combined. Each error says what to do:
    ```mlir
    %y = ad.exp %x : tensor<4xf32>
    // error: 'ad.exp' op is not lowered to linalg; run --ad-to-cpu-frontend --ad-to-cpu-fusion
    // --convert-ad-to-linalg first
    ```
  }];
}

def VerifyEntryPass : Pass<"ad-verify-entry", "::mlir::ModuleOp"> {
  let summary = "Check that the entry exists and does something that can be seen";
  let description = [{
    Why: a program whose entry returns nothing and sends nothing to the host would compile to an empty program. The user
    should learn about this mistake at once.

    Changes nothing. Refuses a module without the entry, an entry without a body, an entry with an argument or a result
    that is no ranked tensor, and an entry without results from which no ad.receive is reachable:
    ```mlir
    func.func @main(%x: tensor<4xf32>) {
      return
    }
    // error: entry '@main' has neither results nor an ad.receive, so that nothing of it can be seen
    ```
  }];
  let options = [
    Option<"entry", "entry", "std::string", "\"main\"", "the name of the entry function">];
}

#endif // ADJOINT_DIALECT_AD_TRANSFORMS_PASSES
