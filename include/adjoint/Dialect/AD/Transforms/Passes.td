// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Passes from `ad` to `ad`: they make the numerics contract explicit, differentiate, simplify, decompose and fuse. Each
// layer's contract is a verifying pass of its own.

#ifndef ADJOINT_DIALECT_AD_TRANSFORMS_PASSES
#define ADJOINT_DIALECT_AD_TRANSFORMS_PASSES

include "mlir/Pass/PassBase.td"

//===- Numerics -===//

def SetNumericsPass : Pass<"ad-set-numerics", "::mlir::ModuleOp"> {
  let summary = "Write mode, permissions, summation orders and broadcasts into the program";
  let description = [{
    Why: later passes read what they may do from the operation in front of them, never from the module, a command line or
    the neighbours; and a lowering cannot express a broadcast that is decided at run time.

    The pass gives the module `ad.numerics` (`strict` unless it has one), every operation without `allow` the permissions in
    force where it stands, every summing operation without `order` its canonical order, and makes the implicit
    broadcasts of elementwise operations explicit, and those of a bias of ad.gemm whose sizes the types leave open. Where two
    sizes are unknown, the common size is computed (`p == 1 ? q : p`) and
    both operands get an `ad.broadcast`, which checks at run time. What is written already stays: the pass is idempotent,
    and refinements of functions and operations win.

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
    Refuses: a mode or permission that does not exist; permissions inside a reproducible module or function, on operations
    and in refinements; calls from there to functions with another contract.
  }];
  let options = [
    Option<"numerics", "numerics", "std::string", "\"\"",
           "MODE[,PERMISSION...] instead of the module's attribute: reproducible, strict or fast, then any of reorder, "
           "algebra, contract, widen, mma, narrow, approx, finite">];
  let dependentDialects = [
    "::mlir::ad::ADDialect", "::mlir::arith::ArithDialect", "::mlir::tensor::TensorDialect"];
}

def VerifyNumericsPass : Pass<"ad-verify-numerics"> {
  let summary = "Check that permissions, orders and broadcasts are explicit";
  let description = [{
    Why: the contract of ad-set-numerics. Everything after it may rely on an `allow` on every operation, an `order` on every
    summing one, on elementwise operands that have the shape of the result, and on the absence of permissions where the
    contract is reproducible.

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
    Why: a run in `fast` mode has to say where it left the written program. Put it behind the passes whose uses are wanted; the
    runner's --numerics-report does so.

    Changes nothing. For a program in which ad-simplify dropped this zero
    ```mlir
    %y = ad.add %x, %zero : tensor<4xf32>
    ```
    the file holds:
    ```json
    [
      {
        "file": "model.mlir",
        "line": 3,
        "column": 8,
        "pattern": "drop-zero",
        "permission": "algebra",
        "count": 1
      }
    ]
    ```
    Rows are sorted by place, pattern and permission, whatever the order in which threads worked.

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
    Why: after it a program has no differentiation left, only plain operations, so that nothing later needs to know about
    derivatives. Derivative functions are ordinary functions, made once per function and set of wanted arguments; applied to
    code that contains derivatives, the innermost are replaced first, so that higher orders work.

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
    Refuses: active operations without a derivative rule (it names all of them), loops without a static trip count,
    recursion.
  }];
  let dependentDialects = [
    "::mlir::ad::ADDialect", "::mlir::arith::ArithDialect", "::mlir::func::FuncDialect", "::mlir::scf::SCFDialect",
    "::mlir::tensor::TensorDialect"];
}

def VerifyDifferentiatedPass : Pass<"ad-verify-differentiated"> {
  let summary = "Check that no differentiation is left";
  let description = [{
    Why: the contract of ad-differentiate. No layer below knows ad.vjp, ad.value_and_grad or ad.stop_gradient.

    Changes nothing. Refuses, with the operation and the pass to run:
    ```mlir
    %y, %dx = ad.value_and_grad @f(%x) wrt [0] : (tensor<f32>) -> (tensor<f32>, tensor<f32>)
    // error: 'ad.value_and_grad' op is a differentiation operation; run --ad-to-cpu-frontend first,
    // or --ad-differentiate alone
    ```
  }];
}

//===- Simplification -===//

def SimplifyPass : Pass<"ad-simplify"> {
  let summary = "Fold, cancel and share what the numerics contract allows";
  let description = [{
    Why: derivative rules and decompositions write straightforward code and leave the cleaning to one place, which knows the
    contract.

    Always: bit-exact folders and canonicalizations of `ad`, transposes folded into the axes of ad.dot, casts
    that cancel exactly, sizes traced to where they come from, common subexpressions, dead code. With the `algebra`
    permission on every operation that a rewrite touches: n + 0, n - 0, n * 0, (a * c1) * c2, x - x and the like. With `widen`: a cast
    to a narrower type and back. Upstream patterns come from an allow-list (arith on index and i1, scf, tensor.dim), since
    others fold through the host's math library or reassociate. Nothing looks through ad.barrier.

    Before:
    ```mlir
    %t = ad.transpose %b [1, 0] : tensor<8x4xf32>
    %c = ad.dot %a, %t : (tensor<2x4xf32>, tensor<4x8xf32>) -> tensor<2x8xf32>
    ```
    After:
    ```mlir
    %c = ad.dot %a, %b contract [1] x [1] : (tensor<2x4xf32>, tensor<8x4xf32>) -> tensor<2x8xf32>
    ```
    Refuses: a rewrite whose permission one of its operations lacks; each use of a permission is a remark of the category
    ad-numerics and a row of the numerics report.
  }];
  let options = [
    Option<"maxRewrites", "max-rewrites", "int64_t", "-1",
           "stop after this number of rewrites (to bisect a difference); -1: no limit">];
  let dependentDialects = [
    "::mlir::ad::ADDialect", "::mlir::arith::ArithDialect", "::mlir::scf::SCFDialect", "::mlir::tensor::TensorDialect"];
}

def DecomposePass : Pass<"ad-decompose"> {
  let summary = "Write nn operations, and reductions and contractions over several axes, with simpler operations";
  let description = [{
    Why: the written decomposition is the meaning of an nn operation: the reference executes it, and the lowering needs to
    know elementwise operations, single-axis reductions and contractions only.

    16- and 8-bit inputs of nn operations are cast to f32 first and the result is cast back once. Sizes of parameters and
    labels that only run time knows become conditions (`ad.require`). Reductions go over one axis at a time, from the last
    to the first, in the accumulator's type, with one cast at the end. Of a tensor in memory, reduced axes that follow each
    other are one axis where no order counts (max, min, integers), and so are short kept axes at the end. A mean is a sum
    divided by the number of elements.
    ad.clamp becomes max and min. ad.sum_to_shape becomes reductions; an axis of which only run time knows whether it is
    summed is split in two for that. An ad.dot over axes that lie beside each other in both operands goes over one axis of their
    product's size, in the same order. Broadcasts are written explicitly. New operations take `allow` from the one they
    replace.

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
    Leaves: ad.gemm, ad.argmax, ad.argmin, ad.cumsum.
    Refuses: a name in `ops` that it has no decomposition for.
  }];
  let options = [
    ListOption<"ops", "ops", "std::string",
               "only these operations, e.g. ad.softmax,ad.reduce_mean; all when empty">];
  let dependentDialects = [
    "::mlir::ad::ADDialect", "::mlir::arith::ArithDialect", "::mlir::tensor::TensorDialect"];
}

//===- Fusion -===//

def SplitContractionsPass : Pass<"ad-split-contractions"> {
  let summary = "Split the depth of contractions with small results, so that all processors have work";
  let description = [{
    Why: a block of threads of a GPU goes through the whole depth of its tile of the result. A result of few tiles leaves most
    processors idle; the gradient of a weight, which sums over all rows of a batch, is of that kind.

    The depth is cut into equal parts, which become a batch axis in front, in the accumulator's type; their sum over that
    axis is rounded to the result's type. There are as many parts as give `blocks` blocks a tile of 64 by 64 each, but none less
    deep than 128 (512 where tensor cores multiply), and each is a multiple of 16 deep. Only sizes that are known are
    split. Sums of integers wrap and are split in every mode; those of floats need `reorder` and `contract`, which `strict`
    does not have: on GPUs it keeps the bits of `reproducible`.

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
    Refuses: contractions without the permissions, each use of which is a row of the numerics report; a number of blocks that is
    not positive.
  }];
  let options = [Option<"blocks", "blocks", "int64_t", "128",
                        "Blocks of threads that keep the processors of a GPU busy">];
  let dependentDialects = ["::mlir::ad::ADDialect"];
}

def FusePass : Pass<"ad-fuse"> {
  let summary = "Group operations into fusions, one for each kernel";
  let description = [{
    Why: a fusion becomes one kernel; what is inside is never written to memory.

    A fusion has one iteration space. Its operations are computed at the points of the space, at its rows (all axes but the last,
    which a row reduction of the fusion collapses), or inside a reduction at the points that this reads. Producers join the
    fusion of a user that reads them so; values with users elsewhere become results. A contraction, or a reduction of other axes
    than the last, takes elementwise users of its shape (bias, activation, residual, update of a parameter); reductions take
    elementwise producers; softmax and norms become one fusion with their backward passes. Small fusions side by side over equal
    spaces are joined. Constants with one value, ad.full, and broadcasts, slices, transpositions and reshapes that only move the point
    of reading are copied into the fusions that use them. A broadcast of a size that only the run knows is one of these where the result's
    size is the same for sure, which `ad.same_sizes` then says. No fusion waits for something that waits for it (convexity), and
    nothing moves across a condition (`ad.require`) or reorders effects. All sums in a fusion have the same written order, so that
    fused and unfused agree bit for bit. A fusion has the permissions that all its operations have.

    The cost model: a member saves the bytes of its result and one launch; nothing is computed twice, except constants and data
    movement. Fusions side by side are joined up to 16384 points, where a launch costs as much as the work, and when one waits for
    the other for at most 8 kernels: as long as it waits, all that it reads takes memory.

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
    Refuses nothing but unknown policies; each fusion and each producer that stays outside is a remark of the category ad-fuse with
    its reason. The program has to be one that --ad-verify-numerics accepts.
  }];
  let options = [Option<"policy", "policy", "std::string", "\"grow\"",
                        "grow: as described; single: one fusion for each operation; reference: the groups of "
                        "another system, for tests that compare with what it recorded">];
  let dependentDialects = ["::mlir::ad::ADDialect"];
}

def SelectKernelsPass : Pass<"ad-select-kernels"> {
  let summary = "Choose the class of kernel for every fusion";
  let description = [{
    Why: the emitters differ in what they understand; the choice is made once, visibly, where the fusion's operations can
    still be seen.

    `elementwise`: elementwise operations, broadcasts and constants only. `row`: reductions over the last axis as well, such as softmax and the
    norms. `contraction`: `ad.dot` or `ad.gemm` with what is fused to it. `transposition`: `ad.transpose` alone, when it moves the last
    axis. `generic`: everything else. A fusion that has a class keeps it.

    Before:
    ```mlir
    %y = ad.fusion reduce (%a = %x) : (tensor<4x3xf32>) -> tensor<4xf32> {
      %s = ad.reduce_sum %a axes [1] : tensor<4x3xf32> -> tensor<4xf32>
      ad.yield %s : tensor<4xf32>
    }
    ```
    After: the same fusion with `kernel = #ad<kernel_class row>`.

    Refuses: operations outside of a fusion, which it would leave as they are. A fusion for which it knows no
    better class is `generic`.
  }];
  let dependentDialects = ["::mlir::ad::ADDialect"];
}

def VerifyFusedPass : Pass<"ad-verify-fused"> {
  let summary = "Check that every computation is in a fusion with a kernel class";
  let description = [{
    Why: the contract of ad-fuse and ad-select-kernels: one fusion, one kernel, and an emitter for each.

    Changes nothing. Refuses, with the operation and the pass to run:
    ```mlir
    %y = ad.exp %x : tensor<4xf32>
    // error: 'ad.exp' op is not in an ad.fusion; run --ad-to-cpu-frontend --ad-to-cpu-fusion first, or …
    ```
  }];
}

//===- Text forms -===//

def PrintGraphPass : Pass<"ad-print-graph", "::mlir::ModuleOp"> {
  let summary = "Print what every function computes, as trees";
  let description = [{
    Why: the dependences of a program at a glance, without the names that it gives to values.

    Each tensor argument, loop and effect, and what a block yields or returns, is a root with a running number; operands
    stand below it, indented by two. A node that was printed before is named again and not repeated. Nodes are numbered:
    arguments first, then operations and carried tensors in the order of the program. An elementwise operation whose result
    is carried to where its first operand was is an update in place, and the carried tensor bears the name of the one that
    the loop starts with; other carried tensors are nodes of their own. Borders of fusions do not show.

    `form=reference` prints the words of another system whose graphs are recorded (`MULT`, `Dot Prod`, `SUM`, `View`,
    `Permute`, `Index`, `Feeder`, `Intermediate` for a node that was printed before), so that ours can be compared with
    them, up to a one-to-one renaming of the numbers. Numbers in parentheses count elements there.

    Before:
    ```mlir
    func.func @main(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
      %0 = ad.exp2 %x : tensor<2x3xf32>
      %1 = ad.mul %0, %0 : tensor<2x3xf32>
      return %1 : tensor<2x3xf32>
    }
    ```
    Written:
    ```
    0: %0 = argument : tensor<2x3xf32>
    1: return
      %2 = ad.mul : tensor<2x3xf32>
        %1 = ad.exp2 : tensor<2x3xf32>
          %0 = argument : tensor<2x3xf32>
        %1, see above
    ```
    With `form=reference`:
    ```
    0: Tensor(id: 0, orig_shape: [2, 3])
    1: Return
      2 = MULT (6)
        1 = EXP2 (6)
          Tensor(id: 0, orig_shape: [2, 3])
        1 = Intermediate
    ```
    Changes nothing. Refuses: unstructured control flow; a file that cannot be written; an unknown form.
  }];
  let options = [
    Option<"file", "file", "std::string", "\"-\"", "where to write; `-` is standard output">,
    Option<"form", "form", "std::string", "\"dialect\"",
           "dialect: operations as programs write them; reference: the words of a recorded graph, for tests">];
  let dependentDialects = ["::mlir::ad::ADDialect"];
}

def PrintProcedurePass : Pass<"ad-print-procedure", "::mlir::ModuleOp"> {
  let summary = "Print the kernels of every function in their order, with what each reads";
  let description = [{
    Why: which operations became one kernel, and at which element each operand is read: the two questions behind every
    question about fusion. The layout is recorded, like that of --ad-print-graph.

    A fusion is a header with its operations below it, indented by four; one that computes a single operation is only that line. Data
    movement and constants disappear into the expressions: `Global` runs over the elements of an elementwise result, `X` and `Y`
    over the rows and columns of an operand of a contraction or a reduction. What is updated in place has the number of the
    tensor that it changes; the numbers are those that --ad-print-graph gives the same program. Movement whose result has to be in memory is
    `Contigious`; `Yield` moves a value to a carried tensor, or out of a branch.

    Before:
    ```mlir
    func.func @main(%x: tensor<2x3xf32>, %w: tensor<4x3xf32>) -> tensor<2x4xf32> {
      %t = ad.transpose %w [1, 0] : tensor<4x3xf32>
      %0 = ad.dot %x, %t : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>
      return %0 : tensor<2x4xf32>
    }
    ```
    Written:
    ```
    Tensor(id: 0, orig_shape: [2, 3])
    Tensor(id: 1, orig_shape: [4, 3])
    Mat (id: 3, ((X * 4) + Y)) = Dot Prod [2, 3] x [3, 4] --> (Mat (id: 0, ((X * 3) + Y)), Mat (id: 1, ((Y * 3) + X)))
    Return --> (Mat (id: 3, Global))
    ```
    Changes nothing. Refuses: unstructured control flow; a file that cannot be written.
  }];
  let options = [
    Option<"file", "file", "std::string", "\"-\"", "where to write; `-` is standard output">];
  let dependentDialects = ["::mlir::ad::ADDialect"];
}

//===- Contracts of other layers -===//

def VerifyLinalgPass : Pass<"ad-verify-linalg"> {
  let summary = "Check that no operation of ad that computes tensors is left";
  let description = [{
    Why: the contract of convert-ad-to-linalg, and of kernels that another compiler wrote. Everything below sees linalg,
    arith, tensor and scf only, besides fusions, kernels, the scalar operations of ad and reshapes of the host program,
    which move nothing. The emitters check bodies with the same verifier (docs/numerics.md).

    Changes nothing. Refuses operations of ad that compute tensors; accesses outside of operands; results that are not
    written once; scalar code that processors round in different ways; outs that are read, but were never written;
    reductions whose partial results the order joins although they cannot be joined. Each with what to do:
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
    Why: a program whose entry returns nothing and hands nothing to the host would compile to an empty one; the user has
    forgotten something and should hear of it at once.

    Changes nothing. Refuses a module without the entry, an entry without a body, one with an argument or a result that is no
    ranked tensor, and one without results from which no ad.receive is reachable:
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
