// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// The `ad` dialect itself.

#ifndef ADJOINT_DIALECT_AD_IR_ADDIALECT
#define ADJOINT_DIALECT_AD_IR_ADDIALECT

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/OpBase.td"

def AD_Dialect : Dialect {
  let name = "ad";
  let cppNamespace = "::mlir::ad";
  let summary = "tensor programs that need gradients, with numerics as a contract";
  let description = [{
    Operations on ranked builtin tensors with value semantics. The program says where values round and in which
    order they are summed; see docs/spec.md for the meaning of every operation.
  }];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::func::FuncDialect", "::mlir::math::MathDialect",
    "::mlir::tensor::TensorDialect"
  ];
  let useDefaultAttributePrinterParser = 1;
  let useDefaultTypePrinterParser = 1;
  let hasConstantMaterializer = 1;
  let hasOperationAttrVerify = 1;
  let hasRegionArgAttrVerify = 1;
  let hasRegionResultAttrVerify = 1;
  let extraClassDeclaration = [{
    /// Argument and result attribute: the name by which tools refer to the value.
    static constexpr StringLiteral kNameAttr = "ad.name";
    /// Argument attribute (i64): index of the result that may take the argument's buffer.
    static constexpr StringLiteral kDonatedAttr = "ad.donated";
    /// Argument attribute (unit): the argument is a trainable parameter.
    static constexpr StringLiteral kParameterAttr = "ad.parameter";
    /// Module and function attribute (#ad.numerics): the mode of the primal program.
    static constexpr StringLiteral kNumericsAttr = "ad.numerics";
    /// Function attribute (#ad.numerics): the mode of what differentiation derives from the function.
    static constexpr StringLiteral kAdjointNumericsAttr = "ad.adjoint_numerics";
    /// Module and function attribute (the type f32): in what differentiation derives from the function, the cotangents
    /// of a value of 8 or 16 bits are added in f32, and the sum is rounded once.
    static constexpr StringLiteral kCotangentSumsAttr = "ad.cotangent_sums";

  private:
    // One registration per family, so that no translation unit holds all operations.
    void registerAttributes();
    void registerTypes();
    void registerElementwiseOps();
    void registerCreationOps();
    void registerShapeOps();
    void registerIndexingOps();
    void registerContractionOps();
    void registerReductionOps();
    void registerNNOps();
    void registerControlOps();
    void registerDifferentiationOps();
    void registerKernelOps();
    void registerMemoryOps();

  public:
  }];
}

class AD_Attr<string name, string attrMnemonic, list<Trait> traits = []>
    : AttrDef<AD_Dialect, name, traits> {
  let mnemonic = attrMnemonic;
}

#endif // ADJOINT_DIALECT_AD_IR_ADDIALECT
