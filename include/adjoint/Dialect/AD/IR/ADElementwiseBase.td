// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Classes of elementwise operations, by number of operands and by what their scalar function is.

#ifndef ADJOINT_DIALECT_AD_IR_ADELEMENTWISEBASE
#define ADJOINT_DIALECT_AD_IR_ADELEMENTWISEBASE

include "adjoint/Dialect/AD/IR/ADBase.td"

// Every elementwise operation: sizes and folding come from lib/Dialect/AD/IR/Elementwise.h. The scalar function is the
// one that `ScalarFunction<OP>` of lib/Dialect/AD/IR/ScalarFunctions.h holds for the class OP of the operation.
class AD_ElementwiseOp<string mnemonic, list<Trait> traits = []>
    : AD_ComputeOp<mnemonic, !listconcat([
        DeclareOpInterfaceMethods<ElementwiseOpInterface, ["getScalarCost", "getScalarEvaluator"]>], traits)> {
  let hasFolder = 1;
  code sharedDefinitions = [{
    ::llvm::LogicalResult $cppClass::reifyResultShapes(::mlir::OpBuilder &builder,
                                                       ::mlir::ReifiedRankedShapedTypeDims &shapes) {
      shapes.push_back(::mlir::ad::reifyBroadcastShape(builder, getLoc(), getOperation()->getOperands()));
      return ::mlir::success();
    }
    ::mlir::OpFoldResult $cppClass::fold(FoldAdaptor adaptor) {
      return ::mlir::ad::foldElementwise(getOperation(), adaptor.getOperands());
    }
    ::mlir::Value $cppClass::emitScalar(::mlir::OpBuilder &builder, ::mlir::Location loc, ::mlir::ValueRange scalars) {
      return ::mlir::ad::ScalarFunction<$cppClass>::emitScalar(*this, builder, loc, scalars);
    }
    ::mlir::ad::ScalarEvaluator $cppClass::getScalarEvaluator() {
      return ::mlir::ad::ScalarFunction<$cppClass>::evaluator(*this);
    }
    int64_t $cppClass::getScalarCost() { return ::mlir::ad::ScalarFunction<$cppClass>::cost(*this); }
  }];
  let extraClassDefinition = sharedDefinitions;
}

// One operand, one result of the same type.
class AD_UnaryOp<string mnemonic, Type type, list<Trait> traits = []>
    : AD_ElementwiseOp<mnemonic, !listconcat([SameOperandsAndResultType], traits)> {
  let arguments = (ins type:$input, OptionalAttr<AD_PermissionsAttr>:$allow);
  let results = (outs type:$result);
  let assemblyFormat = "$input attr-dict `:` custom<LastType>(type($result))";
}

// An elementary function; `function` is its name in include/adjoint/Numerics/ElementaryFunctions.def.
class AD_UnaryFunctionOp<string mnemonic, string function> : AD_UnaryOp<mnemonic, AD_FloatTensor> {
  let extraClassDeclaration = [{
    ::mlir::ad::numerics::Elementary getElementaryFunction() { return ::mlir::ad::numerics::Elementary::}] #
    function # [{; }
  }];
}

// Operands that broadcast like NumPy; the element types of the data operands, those from `firstData` on, agree.
class AD_BroadcastingOp<string mnemonic, list<Trait> traits = [], int firstData = 0, string booleanResult = "false">
    : AD_ElementwiseOp<mnemonic, !listconcat([
        DeclareOpInterfaceMethods<InferTypeOpInterface>], traits)> {
  let extraClassDefinition = sharedDefinitions # [{
    ::llvm::LogicalResult $cppClass::inferReturnTypes(
        ::mlir::MLIRContext *context, ::std::optional<::mlir::Location> location, ::mlir::ValueRange operands,
        ::mlir::DictionaryAttr, ::mlir::OpaqueProperties, ::mlir::RegionRange,
        ::llvm::SmallVectorImpl<::mlir::Type> &types) {
      return ::mlir::ad::inferBroadcastType(location, getOperationName(), operands, }] # firstData # ", " #
      booleanResult # [{, types);
    }
  }];
}

class AD_BinaryOp<string mnemonic, Type type, list<Trait> traits = []>
    : AD_BroadcastingOp<mnemonic, traits> {
  let arguments = (ins type:$lhs, type:$rhs, OptionalAttr<AD_PermissionsAttr>:$allow);
  let results = (outs type:$result);
  // One type when all agree, else the operands' types.
  let assemblyFormat = [{
    $lhs `,` $rhs attr-dict `:` custom<BroadcastTypes>(type($lhs), type($rhs), type($result))
  }];
}

// An elementary function of two numbers.
class AD_BinaryFunctionOp<string mnemonic, string function> : AD_BinaryOp<mnemonic, AD_FloatTensor> {
  let extraClassDeclaration = [{
    ::mlir::ad::numerics::Elementary getElementaryFunction() { return ::mlir::ad::numerics::Elementary::}] #
    function # [{; }
  }];
}

// Three operands that broadcast together.
class AD_TernaryOp<string mnemonic, int firstData = 0> : AD_BroadcastingOp<mnemonic, [], firstData> {
  let results = (outs AD_Tensor:$result);
}

#endif // ADJOINT_DIALECT_AD_IR_ADELEMENTWISEBASE
