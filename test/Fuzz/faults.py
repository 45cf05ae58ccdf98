#!/usr/bin/env python3
# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Do the campaigns find faults? Those of a list are put one by one into copies of sources of the lowering and of the
derivative rules: each is compiled in place of the original and linked into an ad-runner of its own, on which the campaign must fail.

Needs the tree of a finished build. Closes with `faults: N run, N failed`, where a fault that nothing finds has failed."""

import argparse
import functools
import json
import os
import pathlib
import re
import shlex
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "Support"))

from runner import ROOT

LINALG = "lib/Conversion/ADToLinalg/"
PLANNER = "lib/Conversion/PlanMemory/"
EMITTER = "lib/Conversion/EmitCPU/"
FUSION = "lib/Dialect/AD/Transforms/Fuse/"
CHUNK = 8  # cases at first; as many again as there were so far, until the fault is found
RULES = "lib/Dialect/AD/Derivatives/"
# What is wrong, the campaign that must find it, the file, the text that stands there and what replaces it. Options of a campaign
# leave out what cannot find it.
FAULTS = [
    ("transpose reads by the inverse permutation", "programs", LINALG + "Shape.cpp",
     "access[p] = rewriter.getAffineDimExpr(i);", "access[i] = rewriter.getAffineDimExpr(p);"),
    ("reverse starts one element early", "programs", LINALG + "Shape.cpp",
     "index[axis] = arith::SubIOp::create(builder, loc, last[axis], position[axis]);",
     "index[axis] = arith::RemUIOp::create(builder, loc, arith::AddIOp::create(builder, loc, position[axis], last[axis]), "
     "arith::AddIOp::create(builder, loc, last[axis], indexConstant(builder, loc, 1)));"),
    ("argmax takes the last of equal elements", "programs", LINALG + "Reduction.cpp",
     "arith::CmpIPredicate::sgt, key", "arith::CmpIPredicate::sge, key"),
    ("products of contractions round before they are added", "programs", LINALG + "Contraction.cpp",
     "return math::FmaOp::create(builder, loc, a, b, acc);",
     "return arith::AddFOp::create(builder, loc, acc, arith::MulFOp::create(builder, loc, a, b));"),
    ("gemm forgets beta", "programs", LINALG + "Contraction.cpp", "if (beta != 1)", "if (false)"),
    ("the last, partial row of lanes is not summed", "programs", "lib/Conversion/EmitCPU/Reduce.cpp",
     "lanesSum = arith::SelectOp::create(builder, loc, mask, *next, lanesSum);", "(void)next;"),
    ("a loop ends one turn early", "programs", "lib/Conversion/LowerHost/HostServices.cpp",
     "mapped(loop.getLowerBound()), mapped(loop.getUpperBound()),", "mapped(loop.getLowerBound()), "
     "arith::SubIOp::create(builder, loc, mapped(loop.getUpperBound()), mapped(loop.getStep())).getResult(),"),
    ("a buffer is given away while a loop still reads it", "programs", PLANNER + "Lifetimes.cpp",
     "end = std::max(end, endOf(parent));", "continue;"),
    ("carries that change places overwrite each other", "programs", PLANNER + "Structured.cpp",
     "bool crosses = source >= 0 && source != carry && llvm::is_contained(carries, source);", "bool crosses = false;"),
    ("a broadcast takes the size of the repeated operand", "programs", "lib/Dialect/AD/Transforms/SetNumerics.cpp",
     "arith::SelectOp::create(builder, loc, isOne, size, common)", "arith::SelectOp::create(builder, loc, isOne, common, size)"),
    ("what reads transposed counts as pointwise", "fused --only=fused", EMITTER + "KernelEmitter.cpp",
     "generic.getMatchingIndexingMap(&operand).isIdentity();", "generic.getMatchingIndexingMap(&operand).isPermutation();"),
    ("a kernel runs over the space of its first result", "fused --only=fused", EMITTER + "Rows.cpp",
     "Nest whole = nestOver(results[space], roots[space]);", "Nest whole = nestOver(results.front(), roots.front());"),
    ("a producer joins a user that waits for another user", "fused --only=fused", FUSION + "Fuse.cpp",
     "if (fit.refusal.empty() && leadsBack(op, *candidate))", "if (false && leadsBack(op, *candidate))"),
    ("members of a merged fusion keep their owner", "fused --only=fused", FUSION + "Clusters.cpp",
     "add(op, to, levels.lookup(op));", "to.members.insert(op);"),
    ("feeds and receives may change places", "fused --only=fused", FUSION + "Clusters.cpp",
     "if (isMemoryEffectFree(&op))", "if (!isa<RequireOp>(op))"),
    ("sums of any two orders share a kernel", "fused --only=fused", FUSION + "Rules.cpp",
     "{ return !a || !b || a == b; }", "{ return true; }"),
    ("siblings are joined at any depth", "fused --only=fused", FUSION + "Siblings.cpp",
     "groups[{depths.lookup(cluster), {shape.begin(), shape.end()}}]", "groups[{0u, {shape.begin(), shape.end()}}]"),
    ("a result may lie where the kernel reads", "fused --only='on the cpu'", PLANNER + "Placement.cpp",
     "ends.begin()->first < items[item].first", "ends.begin()->first <= items[item].first"),
    ("what reads other elements may write in place", "fused --only='on the cpu'", PLANNER + "Overwrite.cpp",
     "if (map.isIdentity())", "if (map.isPermutation())"),
    ("a row is read back before all of it is saved", "fused --only='on the cpu'", EMITTER + "SaveRow.cpp",
     "!found->second.filled || !isOnRow(position)", "!found->second.stored || !isOnRow(position)"),
    ("the masked tail of a row ends one element early", "fused --only='on the cpu'", EMITTER + "Nests.cpp", "splat(rest, vectorLanes));",
     "splat(binary<arith::SubIOp>(rest, indexConstant(1)), vectorLanes));"),
    ("blocks of a sum are twice as long as the order says", "fused --only='on the cpu'", EMITTER + "Reduce.cpp",
     "pairwiseTree(total, order.getLength(), identities, join, block)",
     "pairwiseTree(total, 2 * order.getLength(), identities, join, block)"),
    ("panels of a packed operand overlap", "fused --only='in small tiles'", EMITTER + "Pack.cpp", "indexConstant(packed.depth * packed.tile)",
     "indexConstant(packed.tile)"),
    ("a result is stored before the others are computed", "fused --only=fused", EMITTER + "KernelEmitter.cpp",
     "    if (!wait)\n      storeWaiting();", "    (void)wait;\n    storeWaiting();"),
    ("threads leave out what does not divide evenly", "fused --only='on two threads'", "lib/Runtime/ThreadPool.cpp",
     "int64_t end = begin + size + (position < extra ? 1 : 0);", "int64_t end = begin + size;"),
    ("the derivative of cos has the wrong sign", "gradients", RULES + "ElementwiseUnary.cpp",
     "cosRule(Unary &v) { return v.neg(v.mul(v.g(), v.unary<SinOp>(v.x()))); }",
     "cosRule(Unary &v) { return v.mul(v.g(), v.unary<SinOp>(v.x())); }"),
    ("the derivative of gelu loses the density", "gradients", RULES + "ElementwiseUnary.cpp",
     "return v.add(distribution, v.mul(v.x(), density));", "return distribution;"),
    ("the derivative of softmax loses the sum", "gradients", RULES + "NN.cpp",
     "rule.give(0, rule.mul(y, rule.sub(g, sum)));", "rule.give(0, rule.mul(y, g));"),
    ("layer_norm does not centre its derivative", "gradients", RULES + "NN.cpp",
     "Value centred = rule.sub(h, meanOfRows(rule, h));", "Value centred = h;"),
    ("the derivative of cumsum runs the wrong way", "gradients", RULES + "Reduction.cpp",
     "ReverseOp::create(rule.builder, rule.loc, rule.cotangent, ArrayRef<int64_t>(axis), PermissionsAttr());",
     "rule.cotangent;"),
    ("the derivative of transpose swaps the axes the same way", "gradients", RULES + "Shape.cpp",
     "inverse[from] = to;", "inverse[to] = from;"),
    ("the reverse of a loop forgets what later turns gave", "gradients",
     "lib/Dialect/AD/Transforms/Differentiate/ReverseFor.cpp",
     "? AddOp::create(builder, loc, sum, cotangent, PermissionsAttr()).getResult()", "? cotangent"),
]


def build_folder():
    return (ROOT / os.environ.get("ADJOINT_BUILD", "build/release")).resolve()


def mutate(number, file, old, new, out):
    """Writes the faulty source; None when the text does not stand there exactly once."""
    text = (ROOT / file).read_text()
    if text.count(old) != 1:
        return None
    path = out / f"fault{number}.cpp"
    path.write_text(text.replace(old, new))
    return path


def compile_instead(file, source, out):
    entries = json.loads((build_folder() / "compile_commands.json").read_text())
    entry = next(e for e in entries if pathlib.Path(e["file"]) == ROOT / file)
    words = shlex.split(entry["command"])
    words[words.index("-c") + 1] = str(source)
    object_file = source.with_suffix(".o")
    words[words.index("-o") + 1] = str(object_file)
    words = [word for word in words if pathlib.Path(word).name != "ccache"]
    words += ["-iquote", str((ROOT / file).parent)]
    subprocess.run(words, cwd=entry["directory"], check=True)
    return object_file


def link(object_file, folder):
    """The command that links ad-runner, with the object before the libraries that hold the original."""
    commands = subprocess.run(["ninja", "-C", str(build_folder()), "-t", "commands", "bin/ad-runner"], check=True,
                              capture_output=True, text=True).stdout.splitlines()
    command = commands[-1]
    if "-o bin/ad-runner" not in command:
        sys.exit(f"expected the link of bin/ad-runner as ninja's last command, got: {command}")
    folder.mkdir(parents=True, exist_ok=True)
    if not (folder / "ad-opt").exists():  # what a campaign counts with stays as it is
        (folder / "ad-opt").symlink_to(build_folder() / "bin/ad-opt")
    command = command.replace("-o bin/ad-runner", f"{shlex.quote(str(object_file))} -o {shlex.quote(str(folder / 'ad-runner'))}")
    subprocess.run(command, shell=True, cwd=build_folder(), check=True)


def failures(campaign, folder, first, count, seed):
    """How many of the cases from `first` on fail on the runner in the folder."""
    name, *options = shlex.split(campaign)
    command = [sys.executable, str(ROOT / f"test/Fuzz/{name}.py"), *options, f"--count={count}", f"--first={first}",
               f"--seed={seed}", f"--batch={min(count // 2, 16)}", "--keep=0"]
    done = subprocess.run(command, env={**os.environ, "ADJOINT_BIN": str(folder)}, capture_output=True, text=True)
    last = re.fullmatch(r"\w+: \d+ run, (\d+) failed", (done.stdout.strip().splitlines() or [""])[-1])
    if not last:
        sys.exit(f"{campaign} did not come to its end:\n{done.stderr[-2000:]}")
    return int(last[1])


@functools.lru_cache(maxsize=None)
def known_failures(campaign, first, count, seed):
    """Those that fail without a fault."""
    return failures(campaign, build_folder() / "bin", first, count, seed)


def cases_needed(campaign, folder, given):
    """After how many cases the campaign has found the fault; None when it has not."""
    first, count = 0, CHUNK
    while first < given.campaign_count:
        failed = failures(campaign, folder, first, count, given.seed)
        if failed and failed > known_failures(campaign, first, count, given.seed):
            return first + count
        first += count
        count = first
    return None


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=len(FAULTS), help="how many of the faults")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--campaign-count", type=int, default=200, help="cases per fault, at most")
    parser.add_argument("--campaign", help="only the faults that this campaign must find")
    parser.add_argument("--name", default="", help="only the faults in whose description this pattern occurs")
    given = parser.parse_args()
    out = build_folder() / "faults"
    out.mkdir(exist_ok=True)
    missed = 0
    faults = [(number, *fault) for number, fault in enumerate(FAULTS)
              if given.campaign in (None, fault[1].split()[0]) and re.search(given.name, fault[0])][:given.count]
    for number, what, campaign, file, old, new in faults:
        source = mutate(number, file, old, new, out)
        if source is None:
            missed += 1
            print(f"{what}: expected the text once in {file}: {old}", flush=True)
            continue
        folder = out / f"bin{number}"
        link(compile_instead(file, source, out), folder)
        needed = cases_needed(campaign, folder, given)
        missed += needed is None
        print(f"{what}: {f'found within {needed} cases' if needed else 'NOT FOUND'} of {campaign}", flush=True)
    print(f"faults: {len(faults)} run, {missed} failed")
    return missed != 0


if __name__ == "__main__":
    sys.exit(main())
