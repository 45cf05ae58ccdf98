// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Passes from fusions to code: linalg, kernels, memory, the host program.

#ifndef ADJOINT_CONVERSION_PASSES
#define ADJOINT_CONVERSION_PASSES

include "mlir/Pass/PassBase.td"

def InsertShapeChecksPass : Pass<"ad-insert-shape-checks", "::mlir::func::FuncOp"> {
  let summary = "Make the run-time conditions on sizes explicit";
  let description = [{
    Operations on tensors with `?` sizes have conditions that only hold or fail at run time. This pass writes each one as an
    `ad.require` before the operation, so that kernels never have to check and every failure leads back to its source. It runs
    before fusion, which moves operations away from the place where a condition can be tested.

    A launch of a kernel that another compiler wrote has conditions of its own, since linalg leaves operands of sizes that do
    not fit undefined. Before such a launch, operands have to agree about the size of each loop, index maps have to stay
    inside of their operands, the `sizes` of the launch have to be those that the kernel yields, and results that share
    their loops have to have one size. Each condition has the place of the operation in the kernel, or of the launch. A size
    that depends on elements of a tensor has no condition.

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

def ConvertADToLinalgPass : Pass<"convert-ad-to-linalg", "::mlir::func::FuncOp"> {
  let summary = "Convert the bodies of fusions to linalg on tensors";
  let description = [{
    Each `ad` operation in an `ad.fusion` becomes `linalg.generic` (access maps and scalar code), `linalg.fill` or
    `tensor.insert_slice`. Orders and permissions stay on the fusion, since linalg cannot carry them. A fusion that only reshapes is
    dissolved: the reshape stays in the host program, where it costs nothing. In an elementwise fusion whose last axis
    is short, contiguous static axes that each value either has or is broadcast along become one; its operands and
    results are reshaped.

    Before:
    ```mlir
    %0 = ad.exp %a : tensor<4xf32>
    ```
    After:
    ```mlir
    %e = tensor.empty() : tensor<4xf32>
    %0 = linalg.generic {…} ins(%a : tensor<4xf32>) outs(%e : tensor<4xf32>) {
    ^bb0(%in: f32, %out: f32):
      %1 = ad.elementary exp %in : f32
      linalg.yield %1 : f32
    } -> tensor<4xf32>
    ```
    Refuses operations outside of a fusion, which it would leave as they are, and those that have to be
    decomposed first (`ad-decompose`).
  }];
  let dependentDialects = ["::mlir::linalg::LinalgDialect", "::mlir::tensor::TensorDialect",
                           "::mlir::arith::ArithDialect", "::mlir::math::MathDialect"];
}

def PrepackOperandsPass : Pass<"ad-prepack-operands", "::mlir::func::FuncOp"> {
  let summary = "Pack matrices that stay the same over the turns of a loop in front of it";
  let description = [{
    A contraction reads its right operand in panels: the columns of a tile of the result, with the contracted axis outside. A kernel packs
    them itself where that pays. Where the operand stays the same for at least eight turns of loops of known length, it is packed once,
    before the outermost of them: the layout is the shape of the packed tensor and stands in the access map, so that any emitter that
    knows affine maps reads it right. Pairs of bf16 lie together where the processor sums them with dot products.

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
    The host program keeps control flow, feeds and launches; the code of a fusion moves into an `ad.kernel`. Fusions with the same
    body share a kernel. The sizes of the results become operands of `ad.launch`. Kernels that were there before get names that linkers and
    PTX take: a byte that is no letter, digit or underscore becomes `$` and two hexadecimal digits. These names begin with `kernel_`, so that none
    is that of a service of the runtime, of a function of the C library, or of what later passes make.

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
    Lifetimes are counted in whole kernels, nested loops included: what a kernel reads and what it writes never share memory, except
    where a result lies in the place of an operand that dies and that is read only where the result is written, or, for sums of
    rows, in the row that is written. What a loop carries has one place, which it starts and ends in when nothing else needs
    what it starts as; a yielded value is written there when the old one is dead by then.

    An argument with `ad.donated` gives its memory to the result that it names, if it is dead when that is written; a remark of the
    category ad-memory says what became of it. Other results of static shape are written where the host gets them. What is left lies in
    pools: tensors of static shape in the arena; tensors whose dynamic sizes come from the same places in a pool whose
    layout is the same for all sizes. Several orders are tried, and the layout that needs least is kept.

    First, launches whose results leave their block move to where they can run first: updates at the end of a step would keep all that
    they read live until then. They stay behind conditions, and go behind what else reads the value that they replace.

    The plan is checked for races (ad-verify-memory-plan) and written as attributes: `ad.buffers` on the function (home, number, offset
    and bytes of each buffer; home 0 is a pool, 1 an argument, 2 a result), `ad.arena_bytes`, `ad.pool_bytes` of the other
    pools, and `ad.buffer` on each operation (the buffer of each result or carry).

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
    Refuses operations on tensors outside of kernels, calls that are left, unstructured control flow, and operations of other
    dialects that have no lowering here.
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
    Why: plans are attributes, and a wrong one gives wrong numbers without a word. The check follows the host program as the plan says
    that it will run, with the names of values in the place of numbers, and knows nothing of how the plan was made: each operand must
    still lie where it was written, also in the next turn of a loop, and no kernel may write what it reads elsewhere.

    Changes nothing. Refuses, with the operation that would read or write something wrong:
    ```mlir
    %y = ad.launch @transpose_0(%x) {ad.buffer = array<i64: 0>} : (tensor<4x4xf32>) -> tensor<4x4xf32>
    // error: 'ad.launch' op memory plan is wrong: the kernel overwrites operand 0, which it reads elsewhere
    ```
  }];
}

def EmitCPUPass : Pass<"ad-emit-cpu", "::mlir::ModuleOp"> {
  let summary = "Emit the code of each kernel for the CPU";
  let description = [{
    Each `ad.kernel` becomes a `func.func` over pointers and sizes: loops over its iteration space, explicit vectors along the
    contiguous axis, reductions in exactly the written order. Values are computed where they are stored: nothing inside a
    kernel goes through memory. `ad.elementary` and `ad.convert` stay for `ad-expand-scalar-ops`.

    Before:
    ```mlir
    ad.kernel @k(%a: tensor<4xf32>) -> tensor<4xf32> { … linalg … }
    ```
    After:
    ```mlir
    func.func private @k(%a: !llvm.ptr, %y: !llvm.ptr, %begin: index, %end: index) attributes {ad.nanoseconds = 0, ad.units = [[0]]}
    ```
    The function runs the units of work from `%begin` to `%end`; ranges that share no unit may run side by side.
    `ad.units` has a list for each space, whose units follow each other: the number of a result, then for each loop
    around it that has units, the outermost first, `array<i64: STEP, AXIS, …>`: a unit takes STEP elements of these axes,
    counted as one. Without loops there is one unit. `ad.nanoseconds` is about how long all units take on one thread;
    where only the run knows the sizes, a function `@k$nanoseconds` of the operands returns it.

    A kernel with `ad.partial_reductions` has three more functions, for reductions with few results. The attribute is the
    fewest threads that gain from them: 1 where operands of a deep contraction then stay in the caches. `@k$partial_sizes`
    returns the number of partial results and the bytes of memory that they take, `@k$partial` computes a range of them
    into that memory, its argument before the range, and `@k$merge` is the kernel with the partial results instead of the
    reductions.

    Refuses kernel bodies that are not linalg on tensors, fusions that are no kernels yet, and operations in
    no fusion.
  }];
  let options = [Option<"vectorWidth", "vector-bytes", "int64_t", "64",
                        "Bytes of a vector register; use what the processor has">,
                 Option<"dotProducts", "dot-products", "bool", "false",
                        "The processor has AVX512_BF16 and AVX512_VNNI: contractions of i8, and of bf16 that allow mma, "
                        "use their dot products">,
                 Option<"tiles", "tiles", "std::string", "\"large\"",
                        "Sizes of tiles and blocks, by name: large, or small, with which tests of small programs meet all code">];
  let dependentDialects = ["::mlir::scf::SCFDialect", "::mlir::vector::VectorDialect", "::mlir::arith::ArithDialect",
                           "::mlir::LLVM::LLVMDialect", "::mlir::func::FuncDialect"];
}

def EmitGPUPass : Pass<"ad-emit-gpu", "::mlir::ModuleOp"> {
  let summary = "Emit the code of each kernel for a GPU";
  let description = [{
    Each `ad.kernel` becomes a `gpu.func` of the module `ad_kernels` (with a number behind the name where a symbol has it), and a declaration of the same name in its place, which says how
    the host program launches it. Arguments are a pointer and the dynamic sizes of each tensor. Four classes of kernels have code of
    their own, beside the generic one. A contraction whose results all read it element by element shares tiles of the result among
    blocks of threads, with the operands in shared memory. With the permissions `mma` and `contract` f16 and bf16 go to tensor cores
    (`mma.sync`, operands copied ahead by `cp.async`), with `narrow` too f32 as tf32; the report of permissions names both. Sums of i8 are the same
    in any order, and go to tensor cores without a permission. On sm_90a those of warpgroups multiply (`wgmma`), where the operands are
    arguments whose rows are multiples of 16 bytes, and run along the depth if they are not f16 or bf16: one warpgroup has tiles
    brought by tensor maps, ahead through a ring, the others multiply. Where the result has many tiles below each other, two blocks are
    a cluster and bring each other half of the columns that both need. Everything else is summed by multiply-adds in the written order.

    In elementwise kernels a thread takes neighbours that make accesses of 16 bytes. In kernels of rows a group of threads takes a
    row, and a block one that is longer than a chunk of its order; a thread has neighbouring lanes, and what waits between two passes
    stays in registers where the row is short enough, or else a block brings it to shared memory, if it fits. Transpositions go through tiles in shared memory, whose places are permuted.
    Where sizes or addresses that only the run knows decide about accesses of 16 bytes, there is code for both cases.
    The generic class covers every kernel: threads take elements, or warps take rows when the kernel sums over lanes.

    A reduction is divided into two kernels when it is long and has fewer than 512 threads for each multiprocessor.
    `@k$partial` computes nodes of the order's tree: sums of 2ᵏ consecutive leaves. `@k$merge` is the kernel with the
    nodes in the place of the reduced elements. Both take two more arguments: the memory of the nodes, and the number
    of leaves in a node. The host calls `@k$partial_sizes` with the operands and the number of multiprocessors; it
    returns the leaves of a node, the bytes of all nodes and the threads that compute them. With static sizes
    `ad.partial_reductions` of the declaration is `always`. With dynamic sizes it is `sizes`: when the function returns
    0 leaves, the host launches the undivided kernel `@k`. Not divided are reductions of reductions, results of other
    shapes than the reductions, single ascending chains, and sizes that depend on elements of operands.

    But for tensor cores, any grid and every class compute the same bits, those of the written order.
    Remarks of the category ad-gpu name the class of each kernel, and for the generic one the reason; `ad.class` of the function names
    it too.

    `ad.tiles` of the declaration says who takes a tile (`threads`, `warps` or `blocks`), `ad.space` how many there are: the
    product of that many leading axes of that result, the last of them divided by the extents of `ad.tile` where it is there; or
    `ad.blocks` says the number of blocks. Of blocks that stay with a processor of the device and take one tile after another, each
    has `ad.resident`. With `ad.cluster` so many blocks take a tile of `ad.tile` together, and a grid consists of whole clusters.
    `ad.run` is how many tiles one taker has at
    once, `ad.group` how many threads share a tile. `ad.threads` and `ad.shared_bytes` say what
    each block gets, where it is not 256 threads and no shared memory beside that of the kernel; `ad.tensor_maps` what the last
    arguments of the kernel are: the operand, the elements of a tile along each axis, the swizzle, and `tf32` where f32 are rounded on the way.

    Before:
    ```mlir
    ad.kernel @k(%a: tensor<4xf32>) -> tensor<4xf32> { … linalg … }
    ```
    After:
    ```mlir
    func.func private @k(!llvm.ptr, !llvm.ptr) attributes {ad.space = array<i64: 0, 1>, ad.tiles = "threads"}
    gpu.module @ad_kernels {
      gpu.func @k(%a: !llvm.ptr, %y: !llvm.ptr) kernel attributes {nvvm.maxntid = array<i32: 256>} { … }
    }
    ```
    Refuses kernel bodies that are not linalg on tensors, and a tile that
    the units of a contraction do not have.
  }];
  let options = [Option<"chip", "chip", "std::string", "\"sm_80\"",
                        "sm_80, sm_86, sm_89, sm_90, sm_90a or sm_100: whose instructions kernels may use">,
                 Option<"tile", "tile", "std::string", "\"\"",
                        "ROWSxCOLUMNS of a contraction's result that a block takes, one of the table's; for tests">];
  let dependentDialects = ["::mlir::scf::SCFDialect", "::mlir::arith::ArithDialect", "::mlir::LLVM::LLVMDialect",
                           "::mlir::NVVM::NVVMDialect", "::mlir::func::FuncDialect", "::mlir::gpu::GPUDialect"];
}

def LowerHostPass : Pass<"ad-lower-host", "::mlir::ModuleOp"> {
  let summary = "Turn the planned host program into calls of the runtime";
  let description = [{
    Every public function becomes an entry of the C ABI `adrt` named `adrt_entry_<name>`, in which a byte of the name that is no letter, digit
    or underscore is `$` and two hexadecimal digits: tensors become pointers into the arena (`ad.buffers`), launches calls, feeds, receives and checks calls of the runtime followed by `ad.guard`. Loops ask once
    per iteration whether the host wants to stop.

    With `device`, kernels are those of `ad-emit-gpu`, launched by number (`ad.kernel_names` of the module lists them), and tensors
    lie in the memory of a device: arguments and constants are brought there, single elements that the host needs are read back.
    Remarks of the category ad-host name each loop with launches: `turns-without-waits`, whose turns the host only asks for, or
    `turns-wait`, in which it needs a value of the device, with the first operation that does, and `turns=each`, or `turns=some` where
    all such operations stand in branches.

    Before:
    ```mlir
    func.func @main(%x: tensor<4xf32>) -> tensor<4xf32>
    ```
    After:
    ```mlir
    func.func @adrt_entry_main(%context: !llvm.ptr, %arguments: !llvm.ptr, %results: !llvm.ptr) -> i32
    ```
    Refuses functions without a plan (`ad-plan-memory`), and launches of kernels without code for the place where they run.
  }];
  let options = [Option<"profile", "profile", "bool", "false", "Bracket each kernel with timing calls; for reports">,
                 Option<"device", "device", "bool", "false", "Kernels run on a device with memory of its own (ad-emit-gpu)">];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect", "::mlir::scf::SCFDialect", "::mlir::arith::ArithDialect"];
}

def LowerGuardsPass : Pass<"ad-lower-guards", "::mlir::func::FuncOp"> {
  let summary = "Turn guards into branches to the exit of the entry";
  let description = [{
    Runs after structured control flow has become blocks, since a guard leaves the function from inside a loop.

    Before:
    ```mlir
    ad.guard %status
    ```
    After:
    ```mlir
    cf.cond_br %ok, ^continue, ^exit(%status : i32)
    ```
    Refuses nothing.
  }];
  let dependentDialects = ["::mlir::cf::ControlFlowDialect", "::mlir::arith::ArithDialect"];
}

def ExpandScalarOpsPass : Pass<"ad-expand-scalar-ops"> {
  let summary = "Expand elementary functions and conversions into arith operations";
  let description = [{
    `ad.elementary` becomes the text of lib/Numerics/Math, `ad.convert` the integer expansion of lib/Numerics, on scalars and vectors.
    Conversions between f16 and f32 stay operations of arith where the processor has instructions for them.
    Last, so that everything before sees one operation.

    Before:
    ```mlir
    %y = ad.elementary exp %x : vector<16xf32>
    ```
    After: arith operations, and an `scf.if` around what few arguments need, such as the reduction of large ones in sin.
    Refuses nothing.
  }];
  let options = [Option<"remainders", "remainders", "bool", "false",
                        "Expand arith.remf on scalars too, for a target whose own is not exact">,
                 Option<"halfInstructions", "half-instructions", "bool", "false",
                        "The processor converts between f16 and f32 (F16C): use arith.extf and arith.truncf there">];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::math::MathDialect", "::mlir::scf::SCFDialect",
                           "::mlir::vector::VectorDialect"];
}

def LowerToLLVMPass : Pass<"ad-lower-to-llvm", "::mlir::ModuleOp"> {
  let summary = "Turn functions, their blocks and their scalar and vector code into the LLVM dialect";
  let description = [{
    Why: upstream has a pass for each of these dialects. All their patterns together need one walk, no casts between types that two
    passes see differently, and a third of the time.

    Before:
    ```mlir
    func.func private @k(%begin: index) -> index {
      %one = arith.constant 1 : index
      %next = arith.addi %begin, %one : index
      return %next : index
    }
    ```
    After:
    ```mlir
    llvm.func @k(%begin: i64) -> i64 attributes {sym_visibility = "private"} {
      %one = llvm.mlir.constant(1 : index) : i64
      %next = llvm.add %begin, %one : i64
      llvm.return %next : i64
    }
    ```
    Refuses operations of `arith`, `cf`, `func`, `index`, `math` and `vector` that upstream has no pattern for, such as functions on
    tensors; `scf` and our own operations are lowered before.
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect"];
}

def LowerToNVVMPass : Pass<"ad-lower-to-nvvm", "::mlir::gpu::GPUModuleOp"> {
  let summary = "Turn the kernels of a GPU into the LLVM and NVVM dialects";
  let description = [{
    Why: upstream's pass calls a library of elementary functions whose bits are its own. Here scalar code was expanded before, and what
    is left has one right answer: fused multiply-adds, square roots, roundings. Control flow has become blocks before.

    Before:
    ```mlir
    gpu.module @ad_kernels {
      gpu.func @k(%y: !llvm.ptr) kernel { … gpu.thread_id x … }
    }
    ```
    After:
    ```mlir
    gpu.module @ad_kernels {
      llvm.func @k(%y: !llvm.ptr) attributes {nvvm.kernel} { … nvvm.read.ptx.sreg.tid.x … }
    }
    ```
    Refuses operations of `arith`, `cf`, `gpu`, `index` and `math` that upstream has no pattern for.
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect", "::mlir::NVVM::NVVMDialect"];
}

def SerializeKernelsPass : Pass<"ad-serialize-kernels", "::mlir::ModuleOp"> {
  let summary = "Generate code of a GPU from its kernels";
  let description = [{
    Each `gpu.module` in the LLVM and NVVM dialects becomes a `gpu.binary` of the same name with one object: PTX, what `ptxas`
    makes of it, or both in a fat binary. Multiplications and additions stay apart, divisions and square roots are those of IEEE 754, and subnormals are kept.

    Before:
    ```mlir
    gpu.module @ad_kernels { llvm.func @k() attributes {nvvm.kernel} { … } }
    ```
    After:
    ```mlir
    gpu.binary @ad_kernels [#gpu.object<#nvvm.target<chip = "sm_90a">, assembly = "…">]
    ```
    Refuses chips that it does not know, and `bin` and `fatbin` where the CUDA toolkit cannot be found or rejects the code.
  }];
  let options = [Option<"chip", "chip", "std::string", "\"sm_80\"",
                        "sm_80, sm_86, sm_89, sm_90, sm_90a or sm_100: what the code may use; PTX for a chip runs on later ones "
                        "too, but for sm_90a">,
                 Option<"format", "format", "std::string", "\"isa\"",
                        "isa is PTX, which the driver compiles; bin is the code of that chip alone; fatbin is PTX and code of "
                        "each chip of code-for; both need the CUDA toolkit">,
                 ListOption<"codeFor", "code-for", "std::string",
                            "the chips whose code a fat binary has beside the PTX of chip (default: chip alone)">];
  let dependentDialects = ["::mlir::gpu::GPUDialect", "::mlir::NVVM::NVVMDialect"];
}

#endif // ADJOINT_CONVERSION_PASSES
