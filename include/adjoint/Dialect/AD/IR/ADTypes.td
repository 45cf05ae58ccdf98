// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Type constraints of the `ad` dialect: ranked builtin tensors without encoding over the supported elements.

#ifndef ADJOINT_DIALECT_AD_IR_ADTYPES
#define ADJOINT_DIALECT_AD_IR_ADTYPES

include "mlir/IR/OpBase.td"

def AD_Float : AnyTypeOf<[F64, F32, F16, BF16, F8E4M3FN, F8E5M2], "floating-point element">;
def AD_Integer : AnyTypeOf<[I8, I32, I64], "integer element">;
def AD_Number : AnyTypeOf<[F64, F32, F16, BF16, F8E4M3FN, F8E5M2, I8, I32, I64], "number element">;
def AD_Logical : AnyTypeOf<[I1, I8, I32, I64], "integer or boolean element">;
def AD_Element : AnyTypeOf<[F64, F32, F16, BF16, F8E4M3FN, F8E5M2, I1, I8, I32, I64], "element">;

def AD_NoEncoding : CPred<"!::llvm::cast<::mlir::RankedTensorType>($_self).getEncoding()">;
class AD_TensorOf<Type element, string summary>
    : ConfinedType<RankedTensorOf<[element]>, [AD_NoEncoding], "tensor of " # summary,
                   "::mlir::RankedTensorType">;

def AD_FloatTensor : AD_TensorOf<AD_Float, "f64, f32, f16, bf16, f8E4M3FN or f8E5M2">;
def AD_IntegerTensor : AD_TensorOf<AD_Integer, "i8, i32 or i64">;
def AD_IndexTensor : AD_TensorOf<AnyTypeOf<[I32, I64]>, "i32 or i64">;
def AD_NumberTensor : AD_TensorOf<AD_Number, "floats, i8, i32 or i64">;
def AD_LogicalTensor : AD_TensorOf<AD_Logical, "i1, i8, i32 or i64">;
def AD_BoolTensor : AD_TensorOf<I1, "i1">;
def AD_Tensor : AD_TensorOf<AD_Element, "floats, i1, i8, i32 or i64">;

#endif // ADJOINT_DIALECT_AD_IR_ADTYPES
