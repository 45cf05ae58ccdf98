// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Attributes of the `ad` dialect: the numerics contract as data.

#ifndef ADJOINT_DIALECT_AD_IR_ADATTRIBUTES
#define ADJOINT_DIALECT_AD_IR_ADATTRIBUTES

include "adjoint/Dialect/AD/IR/ADDialect.td"
include "adjoint/Interfaces/ADEnums.td"

def AD_NumericsAttr : AD_Attr<"Numerics", "numerics"> {
  let summary = "a numerics mode and additional permissions";
  let description = [{
    The contract of a module or function. A mode includes permissions (`reproducible`: none; `strict`:
    reorder, mma; `fast`: reorder, algebra, contract, widen, mma, approx); more can be given by name.

    Example: `#ad.numerics<strict>`, `#ad.numerics<fast, narrow|finite>`.
  }];
  let parameters = (ins EnumParameter<AD_NumericsMode>:$mode,
                        DefaultValuedParameter<"::mlir::ad::Permissions", "::mlir::ad::Permissions::none">:$extra);
  let hasCustomAssemblyFormat = 1;
  let extraClassDeclaration = [{
    /// The permissions of the mode and those given by name.
    Permissions permissions() const;
  }];
}

def AD_PermissionsAttr : AD_Attr<"Permissions", "allow"> {
  let summary = "permissions of one operation, such as #ad.allow<reorder>";
  let description = [{
    What rewrites and lowerings may change about the operation. An operation without it has none.

    Example: `#ad.allow<reorder|mma>`.
  }];
  let parameters = (ins "::mlir::ad::Permissions":$value);
  let hasCustomAssemblyFormat = 1;
}

def AD_OrderAttr : AD_Attr<"Order", "order"> {
  let summary = "the order of a summation";
  let description = [{
    A tree of levels, from the elements to the total. Four orders have kernels:

    - `lanes = L, chunk = C`: the sequence is cut into chunks; in a chunk element j goes to lane j mod L, each lane is a
      chain in ascending index, a halving tree joins lanes, a balanced pairwise tree joins chunks.
    - `block = B`: an ascending chain within each block; a balanced pairwise tree joins blocks.
    - `chain`: one ascending chain.
    - `chain = B, chain = T, chain`: of running reductions only. Each block of B elements is an ascending chain; the
      totals of T blocks are one, and the totals of those are one, too.

    Accumulators start at the identity; absent nodes of a tree are skipped.

    Every tree can be written as its levels, from the innermost one. A number says how many nodes of the level before
    are one node; one level has none and joins as many as there are. `step = N`: neighbours in the order of an
    instruction; `chain`: neighbours in ascending order; `interleaved`: lanes; `halving` and `pairwise`: the two trees.
    So `block = 512` is `chain = 512, pairwise`, and `lanes = 64, chunk = 4096` is
    `interleaved = 64, halving = 64, pairwise`. Trees without kernels are refused.

    Example: `#ad.order<lanes = 64, chunk = 4096>`, `#ad.order<block = 512>`, `#ad.order<chain>`,
    `#ad.order<chain = 128, chain = 128, chain>`.
  }];
  let parameters = (ins ArrayRefParameter<"::mlir::ad::OrderLevel", "from the innermost to the outermost">:$levels);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    static OrderAttr lanes(::mlir::MLIRContext *context, int64_t lanes, int64_t chunk);
    static OrderAttr blocks(::mlir::MLIRContext *context, int64_t block);
    static OrderAttr chain(::mlir::MLIRContext *context);
    /// The canonical orders of the specification (docs/numerics.md).
    static OrderAttr canonicalLanes(::mlir::MLIRContext *context);
    static OrderAttr canonicalBlocks(::mlir::MLIRContext *context);
    static OrderAttr canonicalScan(::mlir::MLIRContext *context);

    bool hasLanes() const;
    bool isChain() const;
    /// The order of a running reduction in blocks and tiles.
    bool hasNestedChains() const;
    /// Chains that a halving tree joins; one in a block.
    int64_t getLanes() const;
    /// Elements in each part that the pairwise tree joins: a chunk or a block; for one chain more than any axis
    /// has.
    int64_t getPartLength() const;
    /// Of nested chains: the elements of a tile, whose blocks the second chain joins.
    int64_t getTileLength() const;
  }];
}

def AD_InstructionAttr : AD_Attr<"Instruction", "instruction"> {
  let summary = "the tensor core instruction of a contraction";
  let description = [{
    The contraction uses `mma.sync` of this shape, in f32: its sums are ascending in steps of `k` products from +0,
    and within a step they have the order of the instruction. With `promote`, which is a multiple of `k`, each sum of
    that many products is such a chain of its own from +0, and one addition of f32 adds it to the sum of those before
    it, which starts from +0 too. The last step is padded with zeros. With `chain`, a multiple of 512 and of `promote`,
    each part of that many products is summed so, and a balanced pairwise tree joins the parts by additions of f32;
    a grid of blocks then sums the parts at the same time. The attribute is `ad.instruction` of an ad.dot or
    ad.gemm, or of its linalg.generic. Every kernel with the operation has to compute this order, and the operation
    needs the permission `mma`. A linalg.generic with `ad.allow = #ad.allow<mma>` instead leaves the instruction to the
    kernel.

    There are two forms, both with or without `chain`. f16 and bf16 have `#ad.instruction<m = 16, n = 8, k = 16>`, and
    may be promoted every multiple of 16 products. Two operands of 8-bit floats have
    `#ad.instruction<m = 16, n = 8, k = 32, promote = 128>`, or another multiple of 32; chips before sm_89, which lack
    this instruction, widen the operands to f16, which is exact, and use two instructions of 16 products for each step.

    CPUs have no such instruction. They compute the product in the order of the operation with FMA, never with a
    dot-product instruction of their own.
  }];
  let parameters = (ins "int64_t":$m, "int64_t":$n, "int64_t":$k,
                        DefaultValuedParameter<"int64_t", "0">:$promote,
                        DefaultValuedParameter<"int64_t", "0">:$chain);
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// mma.sync of f16 and bf16, and of 8-bit floats, that accumulate in f32 (PTX ISA). Every chip of Chips.h has
    /// the first one.
    static constexpr int64_t kM = 16, kN = 8, kShortK = 16, kByteK = 32;
    /// Products in one sum of tensor cores where sums are promoted, as DeepSeek-V3 chose for the 8-bit floats of
    /// Hopper, whose sums keep fewer bits than f32 (arXiv 2412.19437).
    static constexpr int64_t kPromote = 128;
    /// Of which `chain` is a multiple: the blocks of the canonical order, which K tiles divide.
    static constexpr int64_t kChainUnit = 512;
    static InstructionAttr ofShortFloats(::mlir::MLIRContext *context) {
      return get(context, kM, kN, kShortK, 0, 0);
    }
    static InstructionAttr ofPromotedShortFloats(::mlir::MLIRContext *context) {
      return get(context, kM, kN, kShortK, kPromote, 0);
    }
    static InstructionAttr ofByteFloats(::mlir::MLIRContext *context) {
      return get(context, kM, kN, kByteK, kPromote, 0);
    }
    /// The same instruction, whose sums are joined from chains of that many products.
    InstructionAttr withChain(int64_t chain) const {
      return get(getContext(), getM(), getN(), getK(), getPromote(), chain);
    }
  }];
}

def AD_ElementaryFunctionAttr : AD_Attr<"ElementaryFunction", "elementary_function"> {
  let summary = "an elementary function";
  let description = [{
    A function of one or two scalars by its name. include/adjoint/Numerics/ElementaryFunctions.def lists all.

    Example: `#ad<elementary_function exp>`.
  }];
  let parameters = (ins AttrParameter<"::mlir::ad::numerics::Elementary", "the function">:$value);
  let assemblyFormat = "$value";
  let returnType = "::mlir::ad::numerics::Elementary";
  let convertFromStorage = "$_self.getValue()";
  let constBuilderCall = "::mlir::ad::ElementaryFunctionAttr::get($_builder.getContext(), $0)";
}

#endif // ADJOINT_DIALECT_AD_IR_ADATTRIBUTES
