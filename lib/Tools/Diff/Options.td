// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// The command lines of ad-diff. Options with a value may be written `--name VALUE` or `--name=VALUE`. A subcommand has
// the options of its visibilities (Options.cpp): one of its own, and those that it shares with others.
include "llvm/Option/OptParser.td"

class Switch<string name, string help> : Flag<["--"], name>, HelpText<help>;

multiclass Value<string name, string meta, string help> {
  def NAME : Separate<["--"], name>, HelpText<help>, MetaVarName<meta>;
  def NAME # _eq : Joined<["--"], name # "=">, Alias<!cast<Separate>(NAME)>;
}

def TensorsVis : OptionVisibility;
def MatrixVis : OptionVisibility;
def AlignVis : OptionVisibility;
def BisectVis : OptionVisibility;
def ShadowVis : OptionVisibility;
def PrecisionVis : OptionVisibility;
def NanVis : OptionVisibility;
def OutputVis : OptionVisibility;  // of every subcommand
def BoundVis : OptionVisibility;
def ProgramVis : OptionVisibility; // of subcommands that run programs
def TargetVis : OptionVisibility;  // of those that compile them

let Visibility = [BoundVis] in
defm bound : Value<"bound", "[NAME=]NUMBER[,…]", "Exit with 1 if a difference is larger: "
    "l2, max, abs, rel and ulp of each tensor, distance of an alignment, different of traces and stages: how many values may differ; "
    "a number alone is one of l2, the norm of the difference divided by that of the expected tensor">;

let Visibility = [OutputVis] in {
defm json : Value<"json", "FILE.json", "Write the result as JSON; - is standard output, for every file">;
defm csv : Value<"csv", "FILE.csv", "Write the table as CSV">;
defm html : Value<"html", "FILE.html", "Write a page that needs no other file">;
def help : Switch<"help", "Print this text">;
def h : Flag<["-"], "h">, Alias<help>;
}

let Visibility = [TensorsVis, MatrixVis] in {
defm type : Value<"type", "TYPE", "The elements of files with dtype V2 or V1: bf16, f8E4M3FN or f8E5M2 (default for V2: bf16)">;
defm svg : Value<"svg", "FILE.svg", "Write a picture: a bar chart of tensors, a heat map of a matrix">;
}

let Visibility = [TensorsVis] in {
defm thresholds : Value<"thresholds", "NUMBER[,…]", "Count differences above these numbers (default: 0,0.0001,0.001,0.01,0.1,1,10,100)">;
def describe : Switch<"describe", "Print the range, the mean and the fingerprint of each tensor">;
}

let Visibility = [MatrixVis] in {
defm labels : Value<"labels", "NAME[,…]", "Names of the tensors in the table (default: the names of the files)">;
defm measure : Value<"measure", "NAME", "What the table and the picture show: abs (default), rel, l2, max or ulp; each row is the expected tensor">;
defm title : Value<"title", "TEXT", "A line before the table and in the picture">;
}

let Visibility = [AlignVis] in {
defm mode : Value<"mode", "MODE", "What is recorded of programs: execute (default), every value of a run, or nodes, the operations alone; nothing runs">;
defm column : Value<"column", "N", "The width of a record in the text (default: 75)">;
}

let Visibility = [BisectVis] in {
defm a : Value<"a", "OPTIONS", "The options of ad-runner for the first run, after assignments of the environment as NAME=VALUE (default: none)">;
defm b : Value<"b", "OPTIONS", "The same for the second run">;
defm runner_a : Value<"runner-a", "FILE", "Another build of ad-runner, for A (default: the one next to this tool)">;
defm runner_b : Value<"runner-b", "FILE", "Another build of ad-runner, for B">;
defm seconds : Value<"seconds", "N", "End a search for operations after about N seconds, with the smallest part found until then (default: 60)">;
}

let Visibility = [ShadowVis] in {
defm stochastic : Value<"stochastic", "N", "Compare N runs with stochastic rounding, at least 2, instead of a run in f64">;
defm seed : Value<"seed", "S", "The seed of stochastic rounding (default: 0)">;
defm sort : Value<"sort", "KEY", "The operations with the largest local error first (default), or by total, amplification or digits">;
}

let Visibility = [NanVis] in
defm target : Value<"target", "TARGET", "Where the program runs: reference (default), the interpreter; cpu, gpu-sim or cuda, with the numbers of their kernels">;

let Visibility = [PrecisionVis] in {
defm policy : Value<"policy", "POLICY", "Mixed precision to search in: bf16, f16, f8, or FILE.yaml">;
defm against : Value<"against", "f32|f64", "What --bound measures from: the results of the program in f32 (default), or those of its shadow in f64">;
}

let Visibility = [PrecisionVis, BisectVis] in
defm output : Value<"output", "PATH", "Write the program that was found: of precision a file, with the policy, and with the rule never on the operations; "
    "of bisect and reduce a new folder, with its inputs">;

// As in lib/Runner/Options/Options.td, which reads their values.
let Visibility = [ProgramVis] in {
defm entry : Value<"entry", "NAME", "The function to run (default: main)">;
defm arg : Value<"arg", "NAME=SOURCE", "An argument: FILE.npy, normal:SEED[:SCALE], uniform:SEED[:SCALE], zeros or arange">;
defm feed : Value<"feed", "NAME=SOURCE", "A feed: FILE.npy[,cycle] streams along its first axis; sources as for --arg">;
defm dim : Value<"dim", "NAME.AXIS=N", "A dynamic size of the program, for a generated argument">;
defm numerics : Value<"numerics", "MODE[,PERM]", "Numerics contract of the module: reproducible, strict or fast, and permissions by name">;
defm precision : Value<"precision", "POLICY", "Mixed precision: bf16, f16, f8, none, or FILE.yaml with a policy; ad-diff precision has --policy instead">;
def O0 : Flag<["-"], "O0">, HelpText<"Do not simplify the program">;
}

let Visibility = [TargetVis] in {
defm threads : Value<"threads", "N", "Maximum number of threads of kernels (default: $ADJOINT_NUM_THREADS, or 0: all CPUs)">;
defm fuse : Value<"fuse", "POLICY", "Which operations become one kernel: grow (default), single or layers">;
defm cpu : Value<"cpu", "NAME", "The CPU to compile for (default: this machine's)">;
defm chip : Value<"chip", "NAME", "The GPU whose instructions kernels may use, as for ad-runner">;
defm cache : Value<"cache", "DIR|off", "The folder of compiled programs (default: $XDG_CACHE_HOME/adjoint)">;
}
