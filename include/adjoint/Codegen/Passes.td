// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Passes from kernels in linalg to code: for the CPU, for GPUs, and PTX or machine code of the latter.

#ifndef ADJOINT_CODEGEN_PASSES
#define ADJOINT_CODEGEN_PASSES

include "mlir/Pass/PassBase.td"

def SelectKernelsPass : Pass<"ad-select-kernels"> {
  let summary = "Choose the class of kernel for every fusion";
  let description = [{
    Why: emitters support different operations. The class is chosen once, visibly, while the operations of the fusion
    are still known: of the registered classes of the target that cover the fusion, the one with the highest benefit.
    The classes of other compilers are chosen in the same way (docs/own-dialects.md).

    `elementwise`: elementwise operations, broadcasts and constants only. `row`: reductions over the last axis as well,
    such as softmax and the norms. `contraction`: `ad.dot` or `ad.gemm` with what is fused to it. `transposition`:
    `ad.transpose` alone, when it moves the last axis. `scan`: a running reduction alone. `generic`:
    everything else. A fusion that has a class keeps it.

    Before:
    ```mlir
    %y = ad.fusion reduce (%a = %x) : (tensor<4x3xf32>) -> tensor<4xf32> {
      %s = ad.reduce_sum %a axes [1] : tensor<4x3xf32> -> tensor<4xf32>
      ad.yield %s : tensor<4xf32>
    }
    ```
    After: the same fusion with `kernel = "row"`.

    Refuses operations outside of a fusion: they would get no kernel. A fusion that no other class covers is `generic`.
  }];
  let options = [Option<"target", "target", "std::string", "\"cpu\"", "Whose classes are chosen from: cpu or gpu">];
  let dependentDialects = ["::mlir::ad::ADDialect"];
}

def EmitCPUPass : Pass<"ad-emit-cpu", "::mlir::ModuleOp"> {
  let summary = "Emit the code of each kernel for the CPU";
  let description = [{
    Each `ad.kernel` becomes a `func.func` over pointers and sizes: loops over its iteration space, explicit vectors
    along the contiguous axis, reductions in exactly the written order. A value is computed where it is stored, and no
    tensor inside a kernel is written to memory. `ad.elementary` and `ad.convert` stay for `ad-expand-scalar-ops`.

    Before:
    ```mlir
    ad.kernel @k(%a: tensor<4xf32>) -> tensor<4xf32> { … linalg … }
    ```
    After:
    ```mlir
    func.func private @k(%a: !llvm.ptr, %y: !llvm.ptr, %begin: index, %end: index) attributes {ad.nanoseconds = 0, ad.units = [[0]]}
    ```
    The function runs the units of work from `%begin` to `%end`; ranges without a common unit may run in parallel.
    `ad.units` has a list for each space; the units of the spaces are consecutive. A list has the number of a result,
    and for each loop around it that has units, the outermost first, `array<i64: STEP, AXIS, …>`: a unit is STEP
    elements of these axes, enumerated as one. Without loops there is one unit. `ad.nanoseconds` is the estimated time
    of all units on one thread; if sizes are dynamic, a function `@k$nanoseconds` of the operands returns it.

    A kernel with `ad.partial_reductions` has three more functions, for reductions with few results. The attribute is
    the minimum number of threads for which they are faster: 1 if operands of a contraction with a large K then stay in
    the caches. `@k$partial_sizes` returns the number of partial results and the bytes of their memory, `@k$partial`
    computes a range of them into that memory, its argument before the range, and `@k$merge` is the kernel with the
    partial results instead of the reductions.

    Refuses kernel bodies that are not linalg on tensors, fusions that are no kernels yet, and operations in
    no fusion.
  }];
  let options = [Option<"vectorWidth", "vector-bytes", "int64_t", "64",
                        "Bytes of a vector register of the CPU: 64 with AVX-512, 32 with AVX, else 16">,
                 Option<"dotProducts", "dot-products", "bool", "false",
                        "The CPU has AVX512_BF16 and AVX512_VNNI: contractions of i8, and of bf16 that allow mma, "
                        "use their dot products">,
                 Option<"tiles", "tiles", "std::string", "\"large\"",
                        "The tile table (Codegen/Target/CPUs.h): large, or small, with which tests of small programs execute all code">];
  let dependentDialects = ["::mlir::scf::SCFDialect", "::mlir::vector::VectorDialect", "::mlir::arith::ArithDialect",
                           "::mlir::LLVM::LLVMDialect", "::mlir::func::FuncDialect"];
}

def EmitGPUPass : Pass<"ad-emit-gpu", "::mlir::ModuleOp"> {
  let summary = "Emit the code of each kernel for a GPU";
  let description = [{
    Each `ad.kernel` becomes a `gpu.func` of the module `ad_kernels` (with a number after the name if a symbol has that
    name), and a declaration of the same name in its place, which says how the host program launches it. Arguments are a
    pointer and the dynamic sizes of each tensor. Four kernel classes have code generators of their own, besides the
    generic one. In a contraction whose results all read it element by element, thread blocks compute tiles of the
    result, with the operands in shared memory. A contraction of f16, bf16 or 8-bit floats whose instruction
    `ad-choose-instructions` has fixed uses it (`mma.sync`, with a multi-stage `cp.async` pipeline); a kernel that
    cannot is refused. Chips before sm_89 widen 8-bit floats to f16 while they stage them. The
    permissions `mma` and `contract` allow tensor cores for f16 and bf16 where no instruction is fixed, and `narrow`
    allows them for f32 as tf32; the report of permissions names each use. Sums of i8 are the same in any order, so
    i8 uses tensor cores without a permission. On sm_90a a kernel without a fixed instruction uses `wgmma` when both
    operands are kernel arguments with 16-byte-aligned rows; types other than f16 and bf16 must be K-major. Such a
    kernel is warp-specialized: a producer warpgroup loads K tiles by TMA, consumer warpgroups multiply them. If the
    result has many tiles, two blocks along M are a cluster, and each loads half of the tile of B for both.
    Everything else is computed by FMA in the written order.

    The other classes have vectorized accesses: each thread computes contiguous elements with 16-byte loads and stores.
    Elementwise kernels have one such vector per thread and iteration. In row kernels a group of threads computes a row,
    and a thread block computes a row that is longer than a chunk of its order; each thread has contiguous lanes. The
    values that are live between two passes over a row stay in registers, or the block stages them in shared memory, if
    they fit. Transpositions go through tiles in shared memory, which are XOR-swizzled against bank conflicts. If
    dynamic sizes decide whether rows are aligned for 16-byte accesses, both cases have code. The generic class covers
    every kernel: each thread computes an element, or a warp computes a row when the kernel sums over lanes.

    A reduction is divided into two kernels when it is long and has fewer than 512 threads for each multiprocessor.
    `@k$partial` computes nodes of the order's tree: sums of 2ᵏ consecutive leaves. `@k$merge` is the kernel with the
    nodes instead of the reduced elements. Both have two more arguments: the memory of the nodes, and the number
    of leaves in a node. The host calls `@k$partial_sizes` with the operands and the number of multiprocessors; it
    returns the leaves of a node, the bytes of all nodes and the threads that compute them. With static sizes
    `ad.partial_reductions` of the declaration is `always`. With dynamic sizes it is `sizes`: when the function returns
    0 leaves, the host launches the undivided kernel `@k`. Not divided are reductions of reductions, results of other
    shapes than the reductions, single ascending chains, and sizes that depend on elements of operands.

    A sort of lines that may have several tiles is two kernels, too, and the declaration has `ad.sorted_runs`.
    `@k$sort_tiles` sorts tiles. `@k$merge_runs` merges two runs each time; its last launch writes the result. Both
    have two more arguments: the memory of the runs, and the number of the launch that merges. The host calls
    `@k$run_sizes` with the operands; it returns the bytes of that memory, and the number of launches that merge.

    Attention of few queries is several kernels, whose suffixes the attribute `ad.launch_stages` of the declaration lists.
    They have one more argument: memory between them. The host calls `@k$stage_sizes` with the operands; it returns the
    bytes of that memory, and the blocks of each stage.

    Except for tensor cores, any grid and every class compute the same bits, those of the written order. Remarks of the
    category ad-gpu name the class of each kernel, and for the generic class the reason. `adrt.class` of the function
    names the class, too.

    The declaration of each kernel has `ad.launch_config`, an `#ad.launch_config`: the mapping level, the axes that the
    grid enumerates or its size, persistent blocks, clusters, threads and shared memory of a block, and tensor maps.

    Before:
    ```mlir
    ad.kernel @k(%a: tensor<4xf32>) -> tensor<4xf32> { … linalg … }
    ```
    After:
    ```mlir
    func.func private @k(!llvm.ptr, !llvm.ptr) attributes {ad.launch_config = #ad.launch_config<thread, axes = 1>}
    gpu.module @ad_kernels {
      gpu.func @k(%a: !llvm.ptr, %y: !llvm.ptr) kernel attributes {nvvm.maxntid = array<i32: 256>} { … }
    }
    ```
    Refuses kernel bodies that are not linalg on tensors, and a tile that the table does not have for the instruction of
    a contraction.
  }];
  let options = [Option<"chip", "chip", "std::string", "\"sm_80\"",
                        "sm_80, sm_86, sm_89, sm_90, sm_90a or sm_100: whose instructions kernels may use">,
                 Option<"tile", "tile", "std::string", "\"\"",
                        "MxN of the output tile of a contraction, one of the table (ContractionTiles.cpp); for tests">];
  let dependentDialects = ["::mlir::scf::SCFDialect", "::mlir::arith::ArithDialect", "::mlir::LLVM::LLVMDialect",
                           "::mlir::NVVM::NVVMDialect", "::mlir::func::FuncDialect", "::mlir::gpu::GPUDialect"];
}

def SerializeKernelsPass : Pass<"ad-serialize-kernels", "::mlir::ModuleOp"> {
  let summary = "Compile the kernels of a GPU module to PTX or machine code";
  let description = [{
    Each `gpu.module` in the LLVM and NVVM dialects becomes a `gpu.binary` of the same name with one object: PTX, the
    machine code that `ptxas` generates, or both in a fat binary. Multiplications and additions are not contracted,
    divisions and square roots are those of IEEE 754, and subnormals are kept.

    Before:
    ```mlir
    gpu.module @ad_kernels { llvm.func @k() attributes {nvvm.kernel} { … } }
    ```
    After:
    ```mlir
    gpu.binary @ad_kernels [#gpu.object<#nvvm.target<chip = "sm_90a">, assembly = "…">]
    ```
    Refuses chips that it does not know, and `bin` and `fatbin` where the CUDA toolkit cannot be found or rejects the
    code.
  }];
  let options = [Option<"chip", "chip", "std::string", "\"sm_80\"",
                        "sm_80, sm_86, sm_89, sm_90, sm_90a or sm_100: what the code may use; PTX for a chip runs on later ones "
                        "too, but for sm_90a">,
                 Option<"format", "format", "std::string", "\"isa\"",
                        "isa is PTX, which the driver compiles; bin is the code of that chip alone; fatbin is PTX and code of "
                        "each chip of code-for; both need the CUDA toolkit">,
                 ListOption<"codeFor", "code-for", "std::string",
                            "the chips whose machine code a fat binary has, in addition to the PTX of chip (default: chip alone)">];
  let dependentDialects = ["::mlir::gpu::GPUDialect", "::mlir::NVVM::NVVMDialect"];
}

#endif // ADJOINT_CODEGEN_PASSES
