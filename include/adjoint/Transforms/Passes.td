// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Passes on fusions, kernels and the host program that convert nothing: conditions on sizes, packed operands,
// outlined kernels, the memory plan.

#ifndef ADJOINT_TRANSFORMS_PASSES
#define ADJOINT_TRANSFORMS_PASSES

include "mlir/Pass/PassBase.td"

def VerifyProgramPass : Pass<"ad-verify-program", "::mlir::ModuleOp"> {
  let summary = "Check that a program has only operations, types and symbols that targets know";
  let description = [{
    Why: passes and back ends look at operations and types by kind. What none of them knows would be refused late, in
    words of a lowering, or be taken for something else. All targets run this pass first, so all of them refuse the
    same programs, at the same place.

    Changes nothing. Refuses operations that nobody registered; values whose type no target has, such as vectors,
    complex numbers, f80 and i128; conversions that do not round to nearest even; index maps that divide by something
    else than a positive constant; scalar code of other dialects that is invalid or gives another type than that of the
    elements; and declarations and data with the prefixes of the runtime and of generated code:
    `adrt_`, `adsim_`, `ad_string_`, `ad_site_` and `ad_data_`:
    ```mlir
    func.func @main(%x: tensor<4xvector<4xf32>>) -> tensor<4xvector<4xf32>> {
    // error: a value of type 'tensor<4xvector<4xf32>>' runs on no target; expected a ranked tensor of …
    ```
  }];
}

def InsertShapeChecksPass : Pass<"ad-insert-shape-checks", "::mlir::func::FuncOp"> {
  let summary = "Make the run-time conditions on sizes explicit";
  let description = [{
    Writes each condition on dynamic sizes as an `ad.require` before the operation that needs it.

    Operations on tensors with `?` sizes have conditions that only hold or fail at run time. With explicit conditions,
    kernels never check, and every failure names its source. The pass runs before fusion, which moves operations away
    from the point where a condition can be tested.

    A launch of a kernel that another compiler wrote has conditions of its own, since linalg leaves operands of
    mismatched sizes undefined. Before such a launch, the pass checks four conditions: operands agree about the size of
    each loop, index maps stay inside their operands, the `sizes` of the launch are those that the kernel yields, and
    results that share their loops have one size. Each condition has the location of the operation in the kernel, or of
    the launch. A size that depends on elements of a tensor has no condition.

    Each index of a `tensor.extract` in such a kernel is inside of its tensor, too. Ranges of loop indices and of
    arithmetic on them decide most. The host tests constants and loops of dynamic size. For others the pass writes a
    fusion before the launch, which finds the first iteration outside, over the loops that the index depends on.

    Refuses a `tensor.extract` of a kernel whose index depends on an accumulator, or outside of loops on an element.

    Before:
    ```mlir
    %y = ad.reshape %x(%n) : tensor<?x6xf32> -> tensor<?x2xf32>
    ```
    After:
    ```mlir
    ad.require 4 %same(%from, %to) "ad.reshape"
    %y = ad.reshape %x(%n) : tensor<?x6xf32> -> tensor<?x2xf32>
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::tensor::TensorDialect"];
}

def InsertTracePass : Pass<"ad-insert-trace", "::mlir::ModuleOp"> {
  let summary = "Pass the results of every fusion to the host";
  let description = [{
    Inserts an `ad.receive "ad.trace"` of the results after each fusion.

    A trace has every value of a run. The pass runs after fusion and the choice of kernels, so that a traced program has
    the kernels of the same program without a trace, and their bits. The host gets the results in the order of the
    program, in each iteration of loops, on every target. From them it computes the values inside of fusions
    (decision 0025).

    Refuses a program that receives a value of the name `ad.trace` itself.

    Before:
    ```mlir
    %y = ad.fusion elementwise (%a = %x) : (tensor<4xf32>) -> tensor<4xf32> { … }
    ```
    After:
    ```mlir
    %y = ad.fusion elementwise (%a = %x) : (tensor<4xf32>) -> tensor<4xf32> { … }
    ad.receive "ad.trace"(%y) : tensor<4xf32>
    ```
  }];
  let dependentDialects = ["::mlir::ad::ADDialect"];
}

def MapPathsPass : Pass<"ad-map-paths", "::mlir::ModuleOp"> {
  let summary = "Replace the beginning of file names in locations";
  let description = [{
    Replaces `OLD` by `NEW` where the name of a file in a location begins with it.

    Why: run-time errors name the place in the source, so that compiled code has the names of files. With a map from the
    folder of the source, the code is the same from any folder.

    It runs before locations become data of the code: errors of the compiler name the files as they are.

    Refuses a map without `=`.

    Before:
    ```mlir
    %y = ad.exp %x : tensor<4xf32> loc("/home/me/model/main.mlir":3:8)
    ```
    After, with `prefix=/home/me/=`:
    ```mlir
    %y = ad.exp %x : tensor<4xf32> loc("model/main.mlir":3:8)
    ```
  }];
  let options = [Option<"prefix", "prefix", "std::string", "\"=\"", "OLD=NEW; either may be empty">];
}

def PrepackOperandsPass : Pass<"ad-prepack-operands", "::mlir::func::FuncOp"> {
  let summary = "Pack loop-invariant matrices before the loop";
  let description = [{
    Packs the right operand of a contraction once, before the outermost loop in which it does not change.

    A contraction reads its right operand in panels: the columns of a tile of the result, with K as the outer
    dimension. A kernel packs the panels itself where that pays. An operand that is the same in at least eight
    iterations of loops of known length is packed once instead. The shape of the packed tensor is the layout, and the
    access map of the contraction names it, so that any emitter that supports affine maps reads it correctly. If the
    CPU has dot-product instructions for bf16, two elements that are adjacent along K are contiguous.

    Refuses operations that are not in a fusion or not lowered to linalg.

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
  }];
  let options = [Option<"vectorWidth", "vector-bytes", "int64_t", "64", "The same option of ad-emit-cpu">,
                 Option<"dotProducts", "dot-products", "bool", "false", "The same option of ad-emit-cpu">,
                 Option<"tiles", "tiles", "std::string", "\"large\"",
                        "The tile table of ad-emit-cpu: large or small">];
  let dependentDialects = ["::mlir::linalg::LinalgDialect", "::mlir::tensor::TensorDialect"];
}

def OutlineKernelsPass : Pass<"ad-outline-kernels", "::mlir::ModuleOp"> {
  let summary = "Move each fusion into a kernel and launch it";
  let description = [{
    Moves the body of each fusion into an `ad.kernel` and replaces the fusion by an `ad.launch`.

    The host program keeps control flow, feeds and launches. Fusions with the same body share a kernel. The sizes of
    the results become operands of the launch. A kernel is named for the kind of its fusion, or `cast_…` if all that it
    does is to convert elements to other types; reports count those.

    Kernels of the input program get names that linkers and PTX accept: a byte that is no letter, digit or underscore
    becomes `$` and two hexadecimal digits. These names begin with `kernel_`, so that none collides with a service of
    the runtime, a function of the C library, or a function that a later pass makes.

    Refuses operations that are not in a fusion or not lowered to linalg.

    Before:
    ```mlir
    %y = ad.fusion elementwise (%a = %x) : (tensor<4xf32>) -> tensor<4xf32> { … }
    ```
    After:
    ```mlir
    %y = ad.launch @exp_0(%x) : (tensor<4xf32>) -> tensor<4xf32>
    ```
  }];
  let dependentDialects = ["::mlir::tensor::TensorDialect", "::mlir::arith::ArithDialect"];
}

def PlanMemoryPass : Pass<"ad-plan-memory", "::mlir::ModuleOp"> {
  let summary = "Assign a buffer to every tensor of the host programs";
  let description = [{
    Allocates buffers (`ad.buffer`) at the entry of each host program, names the buffer of each result in the launch or
    feed that writes it (`into`), and writes out each copy between buffers (`ad.copy`).

    Static planning makes loops run in constant memory without allocation, and reuses the memory of dead tensors.

    Lifetimes count whole kernels, nested loops included: the operands and the results of a kernel never share memory,
    with one exception. A result may overwrite an operand that dies in the kernel, if the kernel reads that operand
    only at the element that it writes, or, in a kernel over rows, only in the row that it writes. A value that a loop
    carries has one buffer. The loop starts in the buffer of the initial value if nothing else needs that value. A
    yielded value is written into the carry's buffer directly if the old value is dead by then; otherwise an `ad.copy`
    before the terminator moves it, through a temporary buffer if carries are swapped.

    An argument with `ad.donated` gives its memory to the result that it names, if the argument is dead when the result
    is written; a remark of the category ad-memory says whether it did, and why not. Other results are written into the
    memory of the result; that of a result of dynamic shape is allocated where it is written, so that no loop writes
    it. Both sides of an `scf.if` that ends the function do the same with what they yield. All remaining tensors are in
    pools: tensors of static shape in the arena, tensors of dynamic shape in a pool of those whose sizes are
    proportional, with one layout for all sizes. The pass tries several placement orders and keeps the layout that
    needs the least memory.

    Before that, launches whose results leave their block are scheduled as early as possible: an update at the end of a
    training step would keep all its operands live until then. Such a launch stays after run-time conditions, and runs
    right after the last read of the value that it replaces.

    The plan is verified (ad-verify-memory-plan). A plan that the program already has is replaced.

    Refuses operations on tensors outside of kernels, remaining calls, unstructured control flow, and operations of
    other dialects that have no lowering here.

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
    func.func @main(%x: tensor<4xf32>) {
      %arena = ad.buffer <arena, bytes = 16>
      %y = ad.launch @exp_0(%x) into(%arena) : (tensor<4xf32>) -> tensor<4xf32>
      ad.receive "y"(%y) : tensor<4xf32>
      return
    }
    ```
  }];
  let options = [
    Option<"reportFile", "report", "std::string", "\"\"",
           "Write into this file how many bytes each pool uses, how many its buffers have, and how many are live at "
           "once at most; `-` is standard output">,
    Option<"pictureFile", "picture", "std::string", "\"\"",
           "Draw the offset of each buffer against its lifetime into this file, as SVG">];
}

def VerifyMemoryPlanPass : Pass<"ad-verify-memory-plan", "::mlir::ModuleOp"> {
  let summary = "Prove that a memory plan overwrites no operand before its last read";
  let description = [{
    Interprets the host program symbolically: the content of a buffer is the value that was written into it last. The
    proof is independent of the planner. It changes nothing.

    A wrong plan would give wrong numbers without a message. The verifiers of `ad.buffer`, `ad.launch` and `ad.copy`
    check each operation by itself; this pass checks the program.

    Refuses, with a diagnostic at the operation:

    * a tensor without a buffer, or a loop or branch whose initial and yielded values are in different buffers;
    * an operand that was overwritten before it is read, also by the next iteration of a loop;
    * a kernel that overwrites an element of an operand before it reads that element;
    * a copy whose source and destination overlap, and a copy that no loop, branch or terminator makes;
    * a buffer that is smaller than its tensor, or whose size has another dynamic unit;
    * an offset in the arena that is not a multiple of 64, and a tensor of static shape in a pool.

    ```mlir
    %y = ad.launch @transpose_0(%x) into(%arena) : (tensor<4x4xf32>) -> tensor<4x4xf32>
    // error: 'ad.launch' op memory plan is wrong: the kernel overwrites operand 0, which it reads elsewhere
    ```
  }];
}

#endif // ADJOINT_TRANSFORMS_PASSES
