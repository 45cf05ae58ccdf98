// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Rewrites of scalars: those that give what docs/numerics.md says ("Scalar code"), which scripts/fuzz.sh
// scalars compares with programs that are not simplified. Integer and index arithmetic is exact; float
// arithmetic folds through APFloat, rounded once, to nearest even. No operation has flags then
// (ScalarFlags.h).

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "Tables.h"

using namespace mlir;
using namespace mlir::ad::upstream;

// Programs do without these: constants are folded by the folders, and scalars are few.
static constexpr llvm::StringLiteral kNotNeeded = "no program in ad needs it";

static constexpr PatternRow kPatterns[] = {
    {"arith.select", "RedundantSelectFalse", kAdmitted},
    {"arith.select", "RedundantSelectTrue", kAdmitted},
    {"arith.select", "SelectNotCond", kAdmitted},
    {"arith.select", "SelectI1ToNot", kAdmitted},
    {"arith.select", "SelectToExtUI", kAdmitted},
    {"arith.xori", "XOrINotCmpI", kNotNeeded},
    {"arith.xori", "XOrIOfExtUI", kNotNeeded},
    {"arith.xori", "XOrIOfExtSI", kNotNeeded},
    {"arith.trunci", "TruncIExtSIToExtSI", kNotNeeded},
    {"arith.trunci", "TruncIExtUIToExtUI", kNotNeeded},
    {"arith.trunci", "TruncIShrSIToTrunciShrUI", kNotNeeded},
    {"arith.truncf", "TruncFSIToFPToSIToFP", kNotNeeded},
    {"arith.truncf", "TruncFUIToFPToUIToFP", kNotNeeded},
    {"arith.subi", "SubIRHSAddConstant", kAdmitted},
    {"arith.subi", "SubILHSAddConstant", kAdmitted},
    {"arith.subi", "SubIRHSSubConstantRHS", kAdmitted},
    {"arith.subi", "SubIRHSSubConstantLHS", kAdmitted},
    {"arith.subi", "SubILHSSubConstantRHS", kAdmitted},
    {"arith.subi", "SubILHSSubConstantLHS", kAdmitted},
    {"arith.subi", "SubISubILHSRHSLHS", kAdmitted},
    {"arith.ori", "OrOfExtUI", kNotNeeded},
    {"arith.ori", "OrOfExtSI", kNotNeeded},
    {"arith.mului_extended", "MulUIExtendedToMulI", kNotNeeded},
    {"arith.mulsi_extended", "MulSIExtendedToMulI", kNotNeeded},
    {"arith.mulsi_extended", "MulSIExtendedRHSOne", kNotNeeded},
    {"arith.muli", "MulIMulIConstant", kAdmitted},
    {"arith.mulf", "MulFOfNegF", kNotNeeded},
    {"arith.index_castui", "IndexCastUIOfIndexCastUI", kNotNeeded},
    {"arith.index_castui", "IndexCastUIOfExtUI", kNotNeeded},
    {"arith.index_cast", "IndexCastOfIndexCast",
     "it drops a cast of an index to a narrower integer and back, as if that kept all numbers"},
    {"arith.index_cast", "IndexCastOfExtSI", kAdmitted},
    {"arith.extsi", "ExtSIOfExtUI", kNotNeeded},
    {"arith.divf", "DivFOfNegF", kNotNeeded},
    {"arith.cmpi", "CmpIExtSI", kAdmitted},
    {"arith.cmpi", "CmpIExtUI", kAdmitted},
    {"arith.cmpf", "CmpFIntToFPConst", kNotNeeded},
    {"arith.bitcast", "BitcastOfBitcast", kNotNeeded},
    {"arith.andi", "AndOfExtUI", kNotNeeded},
    {"arith.andi", "AndOfExtSI", kNotNeeded},
    {"arith.addui_extended", "AddUIExtendedToAddI", kNotNeeded},
    {"arith.addi", "AddIAddConstant", kAdmitted},
    {"arith.addi", "AddISubConstantRHS", kAdmitted},
    {"arith.addi", "AddISubConstantLHS", kAdmitted},
    {"arith.addi", "AddIMulNegativeOneRhs", kAdmitted},
    {"arith.addi", "AddIMulNegativeOneLhs", kAdmitted},
};

static constexpr llvm::StringLiteral kEitherZero = "APFloat does not say which zero of -0 and +0 it gives";
static constexpr llvm::StringLiteral kNotRun = "no target runs the operation";

static constexpr FolderRow kFolders[] = {
    {"arith.select", kAdmitted},
    {"arith.xori", kAdmitted},
    {"arith.uitofp", kAdmitted},
    {"arith.trunci", kAdmitted},
    {"arith.truncf", kAdmitted},
    {"arith.subi", kAdmitted},
    {"arith.subf", kAdmitted},
    {"arith.shrui", kAdmitted},
    {"arith.shrsi", kAdmitted},
    {"arith.shli", kAdmitted},
    {"arith.scaling_truncf", kNotRun},
    {"arith.scaling_extf", kNotRun},
    {"arith.sitofp", kAdmitted},
    {"arith.remui", kAdmitted},
    {"arith.remsi", kAdmitted},
    {"arith.remf", kAdmitted},
    {"arith.ori", kAdmitted},
    {"arith.negf", kAdmitted},
    {"arith.mului_extended", kNotNeeded},
    {"arith.mulsi_extended", kNotNeeded},
    {"arith.muli", kAdmitted},
    {"arith.mulf", kAdmitted},
    {"arith.minimumf", kAdmitted},
    {"arith.minui", kAdmitted},
    {"arith.minsi", kAdmitted},
    {"arith.minnumf", kEitherZero},
    {"arith.maximumf", kAdmitted},
    {"arith.maxui", kAdmitted},
    {"arith.maxsi", kAdmitted},
    {"arith.maxnumf", kEitherZero},
    {"arith.index_castui", kAdmitted},
    {"arith.index_cast", kAdmitted},
    {"arith.floordivsi", kAdmitted},
    {"arith.fptoui", kAdmitted},
    {"arith.fptosi", kAdmitted},
    {"arith.extui", kAdmitted},
    {"arith.extsi", kAdmitted},
    {"arith.extf", kAdmitted},
    {"arith.divui", kAdmitted},
    {"arith.divsi", kAdmitted},
    {"arith.divf", kAdmitted},
    {"arith.constant", kAdmitted},
    {"arith.cmpi", kAdmitted},
    {"arith.cmpf", kAdmitted},
    {"arith.ceildivui", kAdmitted},
    {"arith.ceildivsi", kAdmitted},
    {"arith.bitcast", "the bits of a NaN are those of one pattern, but it keeps them"},
    {"arith.andi", kAdmitted},
    {"arith.addui_extended", kNotNeeded},
    {"arith.addi", kAdmitted},
    {"arith.addf", kAdmitted},
};

// APFloat has no type that saturates, and moves an infinity that an operation saturates: x * 1 is x.
static bool isByteFloat(Type type) {
  auto element = dyn_cast<FloatType>(getElementTypeOrSelf(type));
  return element && element.getWidth() <= 8;
}

bool mlir::ad::upstream::mayFoldTypes(Operation *op) {
  return !isa_and_nonnull<arith::ArithDialect>(op->getDialect()) ||
         isa<arith::ConstantOp, arith::SelectOp>(op) ||
         llvm::none_of(llvm::concat<const Type>(op->getOperandTypes(), op->getResultTypes()), isByteFloat);
}

Table mlir::ad::upstream::arithTable() { return {kPatterns, kFolders}; }
