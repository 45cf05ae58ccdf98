// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Rewrites of control flow.

#include "Tables.h"

using namespace mlir::ad::upstream;

static constexpr llvm::StringLiteral kNotExecuted = "no target executes the operation";

static constexpr PatternRow kPatterns[] = {
    {"scf.if", "RemoveStaticCondition", kAdmitted},
    {"scf.if", "RemoveEmptyElseBranch", "an empty branch costs nothing, and random programs have none"},
    {"scf.if", "ConvertTrivialIfToSelect", kAdmitted},
    {"scf.if", "ReplaceIfYieldWithConditionOrValue", kAdmitted},
    {"scf.if", "ConditionPropagation", kAdmitted},
    {"scf.if", "CombineIfs", kAdmitted},
    {"scf.if", "CombineNestedIfs", kAdmitted},
    {"scf.if", "MakeRegionBranchOpSuccessorInputsDead", kAdmitted},
    {"scf.if", "RemoveDuplicateSuccessorInputUses", kAdmitted},
    {"scf.if", "RemoveDeadRegionBranchOpSuccessorInputs", kAdmitted},
    {"scf.for", "SimplifyTrivialLoops",
     "it deletes a loop whose distance of the bounds is no positive number of their type"},
    {"scf.for", "ForOpTensorCastFolder", kAdmitted},
    {"scf.for", "MakeRegionBranchOpSuccessorInputsDead", kAdmitted},
    {"scf.for", "RemoveDuplicateSuccessorInputUses", kAdmitted},
    {"scf.for", "RemoveDeadRegionBranchOpSuccessorInputs", kAdmitted},
    {"scf.while", "WhileMoveIfDown",
     "it gives the body the old value of a result of the branch that scf.condition forwards twice"},
    {"scf.while", "WhileConditionTruth", kAdmitted},
    {"scf.while", "WhileCmpCond", kAdmitted},
    {"scf.while", "WhileOpAlignBeforeArgs", kAdmitted},
    {"scf.while", "MakeRegionBranchOpSuccessorInputsDead", kAdmitted},
    {"scf.while", "RemoveDuplicateSuccessorInputUses", kAdmitted},
    {"scf.while", "RemoveDeadRegionBranchOpSuccessorInputs", kAdmitted},
    {"scf.execute_region", "SingleBlockExecuteInliner", kNotExecuted},
    {"scf.execute_region", "MultiBlockExecuteInliner", kNotExecuted},
    {"scf.execute_region", "MakeRegionBranchOpSuccessorInputsDead", kNotExecuted},
    {"scf.execute_region", "RemoveDuplicateSuccessorInputUses", kNotExecuted},
    {"scf.execute_region", "RemoveDeadRegionBranchOpSuccessorInputs", kNotExecuted},
    {"scf.index_switch", "FoldConstantCase", kNotExecuted},
    {"scf.index_switch", "MakeRegionBranchOpSuccessorInputsDead", kNotExecuted},
    {"scf.index_switch", "RemoveDuplicateSuccessorInputUses", kNotExecuted},
    {"scf.index_switch", "RemoveDeadRegionBranchOpSuccessorInputs", kNotExecuted},
    {"scf.parallel", "ParallelOpSingleOrZeroIterationDimsFolder", kNotExecuted},
    {"scf.parallel", "MergeNestedParallelLoops", kNotExecuted},
    {"scf.forall", "DimOfForallOp", kNotExecuted},
    {"scf.forall", "FoldTensorCastOfOutputIntoForallOp", kNotExecuted},
    {"scf.forall", "ForallOpControlOperandsFolder", kNotExecuted},
    {"scf.forall", "ForallOpIterArgsFolder", kNotExecuted},
    {"scf.forall", "ForallOpSingleOrZeroIterationDimsFolder", kNotExecuted},
    {"scf.forall", "ForallOpReplaceConstantInductionVar", kNotExecuted},
};

static constexpr FolderRow kFolders[] = {
    {"scf.if", kAdmitted},
    {"scf.for", kAdmitted},
    {"scf.while", kAdmitted},
};

Table mlir::ad::upstream::controlTable() { return {kPatterns, kFolders}; }
