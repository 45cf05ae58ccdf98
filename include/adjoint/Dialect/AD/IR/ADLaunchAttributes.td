// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// The launch configuration of a GPU kernel: `ad-emit-gpu` writes it, `convert-host-to-llvm` reads it.

#ifndef ADJOINT_DIALECT_AD_IR_ADLAUNCHATTRIBUTES
#define ADJOINT_DIALECT_AD_IR_ADLAUNCHATTRIBUTES

include "adjoint/Dialect/AD/IR/ADDialect.td"
include "mlir/IR/EnumAttr.td"

def AD_MappingLevel : I32Enum<"MappingLevel", "the level of the GPU's hierarchy to which work is mapped", [
  I32EnumCase<"thread", 0>, I32EnumCase<"warp", 1>, I32EnumCase<"block", 2>]> {
  let cppNamespace = "::mlir::ad";
}

def AD_TensorMapAttr : AD_Attr<"TensorMap", "tensor_map"> {
  let summary = "a tensor map (TMA descriptor) of an operand of a kernel";
  let description = [{
    The host encodes the tensor map (`CUtensorMap`) and passes it after the operands of the launch.

    | parameter | meaning | default |
    |---|---|---|
    | `operand` | number of the launch operand that the map describes | |
    | `box` | elements of a copied tile along each axis, 1 to 256 each; one to five axes | |
    | `swizzle` | bytes of the swizzle: 0, 32, 64 or 128 | 0 |
    | `tf32` | copies round f32 elements to tf32 | false |

    Example: `#ad.tensor_map<operand = 0, box = 128x64, swizzle = 128>`.
  }];
  let parameters = (ins "int64_t":$operand, ArrayRefParameter<"int64_t">:$box,
                        DefaultValuedParameter<"int64_t", "0">:$swizzle,
                        DefaultValuedParameter<"bool", "false">:$tf32);
  let assemblyFormat = "`<` struct($operand, custom<Extents>($box), $swizzle, $tf32) `>`";
  let genVerifyDecl = 1;
}

def AD_LaunchConfigAttr : AD_Attr<"LaunchConfig", "launch_config"> {
  let summary = "how the host launches a GPU kernel";
  let description = [{
    The attribute `ad.launch_config` of the function that declares a kernel. Threads, warps or blocks (the mapping
    level) enumerate the elements of `axes` leading axes of a result, or its tiles. The grid has one of three sizes:

    * `grid_size` blocks, when all sizes are static;
    * one block or cluster per `tile` of the axes, whose number the host computes;
    * otherwise as many threads as the elements need at their mapping level.

    | parameter | meaning | default |
    |---|---|---|
    | `result` | number of the launch result whose axes the grid enumerates | 0 |
    | `axes` | number of its leading axes that the grid enumerates | |
    | `grid_size` | blocks of the grid, where fixed | 0: the host computes it |
    | `persistent_blocks` | maximum number of blocks per multiprocessor, each of which loops over tiles | 0: not persistent |
    | `cluster_size` | blocks of a cluster, which compute a tile together | 1 |
    | `tile` | elements of a tile along the last of the axes | none |
    | `threads_per_block` | maximum number of threads per block | 256 |
    | `dynamic_shared_bytes` | dynamic shared memory of a block | 0 |
    | `elements` | elements that a thread, warp or block computes at a time | 1 |
    | `threads_per_element` | threads that compute an element together, at level thread | 1 |
    | `tensor_maps` | the last arguments of the kernel, each an `#ad.tensor_map` | none |

    The verifier checks the largest limits of the supported chips: 1024 threads per block, 2048 threads per
    multiprocessor, 227 KiB of shared memory, eight blocks per cluster.

    Example:
    ```mlir
    #ad.launch_config<thread, axes = 2, elements = 4>
    #ad.launch_config<block, axes = 0, grid_size = 192, persistent_blocks = 1, threads_per_block = 384,
                      dynamic_shared_bytes = 213056, tensor_maps = [<operand = 0, box = 128x64, swizzle = 128>]>
    #ad.launch_config<block, axes = 2, cluster_size = 2, tile = 256x128>
    ```
  }];
  let parameters = (ins EnumParameter<AD_MappingLevel>:$level,
                        DefaultValuedParameter<"int64_t", "0">:$result,
                        "int64_t":$axes,
                        DefaultValuedParameter<"int64_t", "0">:$grid_size,
                        DefaultValuedParameter<"int64_t", "0">:$persistent_blocks,
                        DefaultValuedParameter<"int64_t", "1">:$cluster_size,
                        OptionalArrayRefParameter<"int64_t">:$tile,
                        DefaultValuedParameter<"int64_t", "256">:$threads_per_block,
                        DefaultValuedParameter<"int64_t", "0">:$dynamic_shared_bytes,
                        DefaultValuedParameter<"int64_t", "1">:$elements,
                        DefaultValuedParameter<"int64_t", "1">:$threads_per_element,
                        OptionalArrayRefParameter<"::mlir::ad::TensorMapAttr">:$tensor_maps);
  let assemblyFormat = [{
    `<` custom<Level>($level) `,`
    struct($result, $axes, $grid_size, $persistent_blocks, $cluster_size, custom<Extents>($tile), $threads_per_block,
           $dynamic_shared_bytes, $elements, $threads_per_element, custom<TensorMaps>($tensor_maps)) `>`
  }];
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// Whether the grid consists of counted blocks or clusters; otherwise the host counts threads.
    bool countsBlocks() const { return getGridSize() > 0 || !getTile().empty(); }
    /// The threads that compute an element together.
    int64_t threadsOfElement() const;
  }];
}

#endif // ADJOINT_DIALECT_AD_IR_ADLAUNCHATTRIBUTES
