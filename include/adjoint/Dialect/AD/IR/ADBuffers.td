// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Buffers of the memory plan: `ad-plan-memory` allocates them, `convert-host-to-llvm` makes addresses of them.

#ifndef ADJOINT_DIALECT_AD_IR_ADBUFFERS
#define ADJOINT_DIALECT_AD_IR_ADBUFFERS

include "adjoint/Dialect/AD/IR/ADDialect.td"
include "mlir/IR/EnumAttr.td"

def AD_StorageKind : I32Enum<"StorageKind", "the memory that holds a buffer", [
  I32EnumCase<"arena", 0>, I32EnumCase<"pool", 1>, I32EnumCase<"argument", 2>, I32EnumCase<"result", 3>]> {
  let cppNamespace = "::mlir::ad";
}

def AD_BufferAttr : AD_Attr<"Buffer", "buffer"> {
  let summary = "the allocation of a buffer";
  let description = [{
    The storage kind names the memory:

    | storage | memory | `number` |
    |---|---|---|
    | `arena` | the arena of the program, for tensors of static shape | 0 |
    | `pool` | a pool for tensors of dynamic shape whose sizes are proportional | that of the pool, from 1 |
    | `argument` | the memory of an argument that is donated (`ad.donated`) | that of the argument |
    | `result` | the memory of a result, allocated at entry, or where it is written if its shape is dynamic | that of the result |

    `offset` and `bytes` say which part of that memory is the buffer. In a pool, both count per element of the pool's
    unit: the product of the dynamic sizes, which is known at run time only. In a result of dynamic shape, `bytes`
    counts per element of the product of its dynamic sizes; no loop writes such a result. The arena and each pool are as
    large as their buffers need.

    | parameter | meaning | default |
    |---|---|---|
    | `number` | which pool, argument or result | 0 |
    | `offset` | first byte; 0 in arguments and results | 0 |
    | `bytes` | size | |

    Example:
    ```mlir
    #ad.buffer<arena, offset = 4096, bytes = 1024>
    #ad.buffer<pool, number = 1, bytes = 4>
    #ad.buffer<result, bytes = 16>
    ```
  }];
  let parameters = (ins EnumParameter<AD_StorageKind>:$storage,
                        DefaultValuedParameter<"int64_t", "0">:$number,
                        DefaultValuedParameter<"int64_t", "0">:$offset,
                        "int64_t":$bytes);
  let assemblyFormat = "`<` custom<Storage>($storage) `,` struct($number, $offset, $bytes) `>`";
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// The offset after the last byte. An empty buffer has one byte, so that no two buffers are at one offset.
    int64_t getEnd() const { return getOffset() + std::max<int64_t>(getBytes(), 1); }
    /// Whether both are in one memory: the arena, or one pool, argument or result.
    bool sharesStorageWith(::mlir::ad::BufferAttr other) const {
      return getStorage() == other.getStorage() && getNumber() == other.getNumber();
    }
    /// Whether both have bytes in common.
    bool overlaps(::mlir::ad::BufferAttr other) const {
      return sharesStorageWith(other) && getOffset() < other.getEnd() && other.getOffset() < getEnd();
    }
  }];
}

def AD_Buffer : TypeDef<AD_Dialect, "Buffer"> {
  let mnemonic = "buffer";
  let summary = "a buffer of the memory plan";
  let description = [{
    The result of `ad.buffer`. Operations of the host program name the buffers that they write their tensors into.
  }];
}

#endif // ADJOINT_DIALECT_AD_IR_ADBUFFERS
