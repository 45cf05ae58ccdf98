// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// The command line of ad-gpu-emulate. Options with a value may be written `--name VALUE` or `--name=VALUE`.
include "llvm/Option/OptParser.td"

class Switch<string name, string help> : Flag<["--"], name>, HelpText<help>;

multiclass Value<string name, string meta, string help> {
  def NAME : Separate<["--"], name>, HelpText<help>, MetaVarName<meta>;
  def NAME # _eq : Joined<["--"], name # "=">, Alias<!cast<Separate>(NAME)>;
}

defm kernel : Value<"kernel", "NAME", "The kernel to run (default: the only one)">;
defm grid : Value<"grid", "X[,Y[,Z]]", "Blocks of the grid (default: 1)">;
defm block : Value<"block", "X[,Y[,Z]]", "Threads of a block (default: 1)">;
defm cluster : Value<"cluster", "X[,Y[,Z]]", "Blocks of a cluster (default: what the kernel requires)">;
defm shared : Value<"shared", "BYTES", "Dynamic shared memory">;
defm arg : Value<"arg", "ARGUMENT", "The next argument: FILE.npy, inout:FILE.npy, out:TYPE:SHAPE, same:N, TYPE:NUMBER or map:box=SHAPE[,swizzle=BYTES][,tf32]:ARRAY">;
defm out : Value<"out", "FILE.npy", "Where the next out or inout argument is written">;
defm schedule : Value<"schedule", "NAME", "When copies land and threads run: eager (default), lazy or shuffled">;
defm seed : Value<"seed", "N", "What the shuffled schedule draws from (default: 0)">;
defm matrix_sums : Value<"matrix-sums", "NAME", "How mma.sync and wgmma add products of f16 and bf16 in f32: ascending (default), aligned, the published model of Hopper, or aligned-wgmma, wgmma alone">;
defm threads : Value<"threads", "N", "Host threads, without race detection (default: 1)">;
defm repeat : Value<"repeat", "N", "Run N times on the same memory, with --stats the fastest time counts">;
def no_race_detection : Switch<"no-race-detection", "Do not look for races and missing proxy fences">;
def stats : Switch<"stats", "Print what was executed, and the traffic of each instruction">;
def help : Switch<"help", "Print this text">;
def h : Flag<["-"], "h">, Alias<help>;
