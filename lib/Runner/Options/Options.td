// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// The command lines of ad-runner and adrt-run. Options with a value may be written `--name VALUE` or `--name=VALUE`.
include "llvm/Option/OptParser.td"

class Switch<string name, string help> : Flag<["--"], name>, HelpText<help>;

multiclass Value<string name, string meta, string help> {
  def NAME : Separate<["--"], name>, HelpText<help>, MetaVarName<meta>;
  def NAME # _eq : Joined<["--"], name # "=">, Alias<!cast<Separate>(NAME)>;
}

def RunVis : OptionVisibility;

let Visibility = [DefaultVis, RunVis] in {
defm entry : Value<"entry", "NAME", "The function to run (default: main, or the one that a compiled file has)">;
defm target : Value<"target", "NAME", "Where to run: cpu (default), reference, gpu-sim, cuda; a compiled file runs only where it was compiled for, never on reference">;
defm arg : Value<"arg", "NAME=SOURCE", "An argument: FILE.npy, normal:SEED[:SCALE], "
    "uniform:SEED[:SCALE], zeros or arange; if a name contains =, the longest matching name is used">;
defm feed : Value<"feed", "NAME=SOURCE", "A feed: FILE.npy[,cycle] streams along its first axis; sources as for --arg">;
defm dim : Value<"dim", "NAME.AXIS=N", "A dynamic size of the program, for a generated argument">;
defm out_dir : Value<"out-dir", "DIR", "Write results and received values into this folder, as .npy. "
    "The files of arguments may be there, too: a result replaces the file with its name">;
def print : Switch<"print", "Print results and received values">;
defm threads : Value<"threads", "N", "Maximum number of threads of kernels (default: $ADJOINT_NUM_THREADS, or 0: all CPUs that the process may use); the reference interpreter always uses one">;
defm memory_limit : Value<"memory-limit", "BYTES[K|M|G]", "Maximum memory of all tensors together; a program that needs more ends with exit code 4 (default: the memory of the machine, or of its container)">;
defm repeat : Value<"repeat", "N", "Run N times with the same arguments and feeds; prints the median time">;
defm warmup : Value<"warmup", "N", "Runs before the first measured one, for --repeat, --report and --bench">;
def bench : Switch<"bench", "Measure the runs with the clock of the device (CUDA events on a GPU) "
    "and print a line of JSON; inputs and results stay on the device (default: --warmup 2 --repeat 10)">;
def bench_eq : Joined<["--"], "bench=">, HelpText<"The same, and append the line to FILE">, MetaVarName<"FILE.jsonl">;
defm timeout_kernel : Value<"timeout-kernel", "SECONDS", "End the program, with exit code 5, when a kernel on a GPU takes longer">;
defm schedule : Value<"schedule", "NAME", "When asynchronous copies and threads of the emulated GPU execute: eager (default), lazy or shuffled">;
defm sm_count : Value<"sm-count", "N", "The number of SMs that the emulated GPU reports (default: 132); results are the same">;
defm seed : Value<"seed", "N", "The seed of the shuffled schedule (default: 0)">;
def no_race_detection : Switch<"no-race-detection", "The emulated GPU does not detect races: faster, and --threads runs blocks in parallel">;
def no_replay : Switch<"no-replay", "Launch kernels on a GPU one by one, instead of replaying repeated launches as CUDA graphs">;
defm report : Value<"report", "FILE.json", "Write the time of each stage and kernel, and of each pass that ran; "
                    "- is standard output, for every file that is written">;
def env : Switch<"env", "Print versions, the CPU, the GPU with its driver and limits">;
def version : Switch<"version", "Print the version">;
def help : Switch<"help", "Print this text">;
def h : Flag<["-"], "h">, Alias<help>;
}

// Options about compilation, of ad-runner alone.
defm numerics : Value<"numerics", "MODE[,PERM]", "Numerics contract of the module: reproducible, strict or fast, and permissions by name">;
defm precision : Value<"precision", "POLICY", "Mixed precision: bf16, f16, f8, none, or FILE.yaml with a policy, instead of the module's ad.precision">;
defm kernel : Value<"kernel", "OP=NAME", "The implementation of an operation, such as layer_norm=welford; may be repeated. Not those of the program with ad.named_kernel">;
def list_kernels : Switch<"list-kernels", "Print the implementations of --kernel with their contracts">;
defm missing_kernels : Value<"missing-kernels", "OP:TYPE,...", "Compile as for a target without these kernels, such as dot:f16: compute in f32, between casts">;
defm path_prefix_map : Value<"path-prefix-map", "OLD=NEW", "Names of files that begin with OLD begin with NEW in compiled code, which is then the same from any folder">;
defm print_precision : Value<"print-precision", "NAME", "Print the built-in policy bf16, f16 or f8, to copy and change">;
def traffic : Switch<"traffic", "Count the memory requests of kernels of the emulated GPU; printed, and in the report">;
def check_gradients : Switch<"check-gradients", "Compare the gradients of the entry with differences in f64">;
defm numerics_report : Value<"numerics-report", "FILE.json", "Write every use of a numerics permission">;
defm list_rewrites : Value<"list-rewrites", "FILE.tsv", "Write every rewrite that the compiler applied, with its permission, operation and location">;
defm rewrites_only : Value<"rewrites-only", "FILE.tsv", "Apply no rewrites but those that the file lists">;
defm rewrites_except : Value<"rewrites-except", "FILE.tsv", "Do not apply the rewrites that the file lists">;
defm dump_optimized : Value<"dump-optimized", "FILE.mlir", "Write the optimised program, which runs again to the same bits">;
defm dump_plan : Value<"dump-plan", "FILE.mlir", "Write the program with its memory plan: the buffer that each kernel writes, and the place of each operation in the source">;
defm trace : Value<"trace", "DIR", "Write a record of every value of the run into a new folder, with the program, its stages, inputs and outputs; results have the same bits as without it">;
defm trace_tensors : Value<"trace-tensors", "all|NAME[,…]", "The values whose tensors the trace keeps, by name or operation">;
defm replay : Value<"replay", "DIR", "Run the program of a trace again with its inputs and options, and compare the results with its outputs">;
defm fuse : Value<"fuse", "POLICY", "Which operations become one kernel: grow (default), single, a kernel for each operation, or layers, groups along the layers of the dependence graph">;
defm tiles : Value<"tiles", "TABLE", "Sizes of tiles in kernels of target cpu: large (default) or small, for tests; results are the same">;
def O0 : Flag<["-"], "O0">, HelpText<"Do not simplify the program; unused operations "
    "are still removed, except on target reference">;
def allow_native : Switch<"allow-native", "Run a program with code of the LLVM or GPU dialects, which may do whatever this process may do">;
defm chip : Value<"chip", "NAME", "The GPU whose instructions kernels may use: sm_80, sm_86, sm_89, sm_90, sm_90a or sm_100 (default: sm_90a on gpu-sim and where the GPU is one, else sm_80)">;
defm tile : Value<"tile", "ROWSxCOLUMNS", "The tile of contractions in kernels on a GPU, one that their "
    "instructions support, such as 128x256, or 2x128x256 in a cluster; for measurements">;
defm cpu : Value<"cpu", "NAME", "The CPU to compile for (default: this machine's)">;
defm cache : Value<"cache", "DIR|off", "The folder of compiled programs (default: $XDG_CACHE_HOME/adjoint)">;
defm emit : Value<"emit", "FILE.adx|FILE.o|FILE.so", "Write the compiled program, and run nothing: a file for adrt-run, with the arguments that have a source; or a library of one function for C, with a header beside it">;
