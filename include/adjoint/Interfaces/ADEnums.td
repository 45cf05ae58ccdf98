// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Enumerations of the `ad` dialect.

#ifndef ADJOINT_DIALECT_AD_IR_ADENUMS
#define ADJOINT_DIALECT_AD_IR_ADENUMS

include "mlir/IR/EnumAttr.td"

class AD_Enum<string name, string summary, list<EnumCase> cases> : I32Enum<name, summary, cases> {
  let cppNamespace = "::mlir::ad";
}

def AD_NumericsMode : AD_Enum<"NumericsMode", "how much freedom rewrites and lowerings have", [
  I32EnumCase<"reproducible", 0>, I32EnumCase<"strict", 1>, I32EnumCase<"fast", 2>]>;

// What a rewrite or a lowering may change only with permission; docs/numerics.md defines each.
def AD_Permissions : I32BitEnum<"Permissions", "what a rewrite or a lowering may change", [
  I32BitEnumCaseNone<"none">,
  I32BitEnumCaseBit<"reorder", 0>,
  I32BitEnumCaseBit<"algebra", 1>,
  I32BitEnumCaseBit<"contract", 2>,
  I32BitEnumCaseBit<"widen", 3>,
  I32BitEnumCaseBit<"mma", 4>,
  I32BitEnumCaseBit<"narrow", 5>,
  I32BitEnumCaseBit<"approx", 6>,
  I32BitEnumCaseBit<"finite", 7>]> {
  let cppNamespace = "::mlir::ad";
  let separator = "|";
}

def AD_ComparePredicate : AD_Enum<"ComparePredicate", "an ordered comparison (ne is unordered)", [
  I32EnumCase<"eq", 0>, I32EnumCase<"ne", 1>, I32EnumCase<"lt", 2>,
  I32EnumCase<"le", 3>, I32EnumCase<"gt", 4>, I32EnumCase<"ge", 5>]>;

def AD_GeluForm : AD_Enum<"GeluForm", "which formula of gelu", [
  I32EnumCase<"none", 0>, I32EnumCase<"tanh", 1>]>;

def AD_FusionKind : AD_Enum<"FusionKind", "which kind of operation a fusion starts from", [
  I32EnumCase<"elementwise", 0>, I32EnumCase<"dot", 1>, I32EnumCase<"reduce", 2>,
  I32EnumCase<"movement", 3>, I32EnumCase<"nest", 4>]>;

def AD_Outside : AD_Enum<"Outside", "what an index outside of its axis means", [
  I32EnumCase<"error", 0>, I32EnumCase<"clamp", 1>, I32EnumCase<"fill", 2>, I32EnumCase<"drop", 3>]>;

def AD_ScatterKind : AD_Enum<"ScatterKind", "how an update changes an element", [
  I32EnumCase<"set", 0>, I32EnumCase<"add", 1>, I32EnumCase<"max", 2>, I32EnumCase<"min", 3>]>;

#endif // ADJOINT_DIALECT_AD_IR_ADENUMS
