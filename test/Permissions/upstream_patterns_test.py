# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Patterns and folders of MLIR run on programs in `ad` from one allow-list only (UpstreamPatterns.cpp), whose patterns
permission_labels_test.py proves to be exact. It has a verdict on each pattern of the dialects that it knows. Other
files may use upstream pattern sets to lower scalar code of kernels and of host programs, as listed here; campaigns
compare what comes out of them with the reference interpreter."""

import pathlib
import re
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "Support"))
sys.dont_write_bytecode = True
import checks  # noqa: E402
import runner  # noqa: E402

# Calls that get patterns or folders of MLIR into a program.
CALLS = re.compile(r"\b(getCanonicalizationPatterns|createCanonicalizerPass|createCSEPass|createSCCPPass|"
                   r"createSimplifyAffineStructuresPass|createLinalg\w+Pass|createArith\w+Pass|createMath\w+Pass|"
                   r"populate\w+Patterns|applyPatternsGreedily|applyOpPatternsGreedily|walkAndApplyPatterns|"
                   r"eliminateCommonSubExpressions|createOrFold|tryToFold|tryFold)\s*[(<]")
# By file: the calls that it may make, and why.
ALLOWED = {
    "Dialect/AD/Transforms/UpstreamPatterns.cpp": {"getCanonicalizationPatterns": "the allow-list",
                                                   "populateResolveRankedShapedTypeResultDimsPatterns": "sizes"},
    "Dialect/AD/Transforms/Simplify/Simplify.cpp": {"applyOpPatternsGreedily": "runs the allow-list",
                                           "eliminateCommonSubExpressions": "equal operations have equal results"},
    "Pipelines/Pipelines.cpp": {"createCSEPass": "equal scalar operations have equal results"},
    "Conversion/LowerToLLVM/LowerToLLVM.cpp": {
        "populateVectorToLLVMConversionPatterns": "to LLVM", "populateMathToLLVMConversionPatterns": "fma",
        "populateArithToLLVMConversionPatterns": "to LLVM", "populateCeilFloorDivExpandOpsPatterns": "integers",
        "populateIndexToLLVMConversionPatterns": "to LLVM", "populateControlFlowToLLVMConversionPatterns": "to LLVM",
        "populateFuncToLLVMConversionPatterns": "to LLVM"},
    "Conversion/LowerToNVVM/LowerToNVVM.cpp": {
        "populateMathToLLVMConversionPatterns": "fma", "populateArithToLLVMConversionPatterns": "to LLVM",
        "populateCeilFloorDivExpandOpsPatterns": "integers", "populateIndexToLLVMConversionPatterns": "to LLVM",
        "populateControlFlowToLLVMConversionPatterns": "to LLVM", "populateGpuToNVVMConversionPatterns": "to NVVM"},
}
# Patterns of this project by name; integers of sizes fold when they are built.
OWN = re.compile(r"populate(Decompose\w+|Index|Loop|Movement|Algebra|Contraction|SplitK|SortScatters|PatchesOfConv|PhasesOfConv|Allowed|InterfacesToLinalg|LoopNestsToLinalg|Check)Patterns")
DRIVERS = {"applyPatternsGreedily", "walkAndApplyPatterns"}  # run sets that are found by the other names
BUILDERS = {"createOrFold", "tryToFold", "tryFold"}


def calls(text):
    code = re.sub(r"//.*", "", text)
    return {match[1] for match in CALLS.finditer(code)}


def unlisted(files):
    for path, text in files:
        allowed = ALLOWED.get(path, {})
        for call in sorted(calls(text) - set(allowed) - DRIVERS - BUILDERS):
            if not OWN.fullmatch(call) and not re.search(rf"void (?:mlir::)?(?:ad::)?(?:\w+::)*{call}\(", text):
                yield f"{path} uses {call}, which no allow-list of this test has"


def stale(files):
    found = {path: calls(text) for path, text in files}
    yield from (f"{path} does not use {call}" for path, known in ALLOWED.items() for call in known
                if call not in found.get(path, set()))


def sources():
    root = runner.ROOT / "lib"
    return [(str(file.relative_to(root)), file.read_text()) for file in sorted(root.rglob("*.cpp"))]


def folds_are_sizes():
    """What is folded while it is built is integer arithmetic on sizes."""
    for path, text in sources():
        for match in re.finditer(r"createOrFold<([\w:]+)>", text):
            if not re.fullmatch(r"(arith::(Add|Mul|Sub|DivS|DivU|CeilDivS|CeilDivU|MinS|MaxS|MinU|MaxU|Cmp|Rem[SU]|And|Or)IOp|"
                                r"arith::(IndexCast|Ext[SU]I|Select|ConstantIndex|ConstantInt)Op|tensor::DimOp|memref::DimOp|"
                                r"(affine|index)::\w+|vector::\w+|LLVM::\w+)", match[1]):
                yield f"{path} folds {match[1]} while it builds it"


def verdicts(listed):
    """Complaints about the verdicts on patterns of MLIR: each has one, refusals say why, and none is of another
    version."""
    for line in listed.splitlines():
        verdict, operation, pattern, *reason = line.split(" ")
        if verdict not in ("admitted", "refused") or (verdict == "refused" and len(reason) < 3):
            yield f"{verdict}: {pattern} of {operation}"
    if len(listed.splitlines()) < 50:
        yield f"the list has only {len(listed.splitlines())} patterns"


def listed_verdicts():
    return subprocess.run([runner.binary("ad-list-patterns"), "--upstream"], capture_output=True, text=True,
                          check=True).stdout


def finds_faults(_folder):
    if not list(unlisted([("Dialect/AD/Transforms/New.cpp", "pm.addPass(createCanonicalizerPass());")])):
        yield "a canonicalizer is not found"
    if not list(unlisted([("Pipelines/Pipelines.cpp", "linalg::populateElementwiseOpsFusionPatterns(patterns);")])):
        yield "an upstream pattern set is not found"
    for line in ("unknown scf.if New", "stale scf.if Old", "unvisited scf.if Lost", "refused scf.if Unexplained"):
        if not any(line.split()[2] in found for found in verdicts(line)):
            yield f"a verdict that is {line.split()[0]} is not found"


def main():
    return checks.run_checks("upstream_patterns", [
        ("files", lambda folder: list(unlisted(sources()))), ("list", lambda folder: list(stale(sources()))),
        ("folds", lambda folder: list(folds_are_sizes())),
        ("verdicts", lambda folder: list(verdicts(listed_verdicts()))), ("faults are found", finds_faults)])


if __name__ == "__main__":
    sys.exit(main())
