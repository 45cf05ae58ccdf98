// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// The command lines of ad-diff. Options with a value may be written `--name VALUE` or `--name=VALUE`. A subcommand has
// the options with its visibility.
include "llvm/Option/OptParser.td"

class Switch<string name, string help> : Flag<["--"], name>, HelpText<help>;

multiclass Value<string name, string meta, string help> {
  def NAME : Separate<["--"], name>, HelpText<help>, MetaVarName<meta>;
  def NAME # _eq : Joined<["--"], name # "=">, Alias<!cast<Separate>(NAME)>;
}

def TensorsVis : OptionVisibility;
def MatrixVis : OptionVisibility;
def AlignVis : OptionVisibility;

let Visibility = [TensorsVis, MatrixVis, AlignVis] in {
defm bound : Value<"bound", "NAME=NUMBER[,…]", "Exit with 1 if a difference is larger: "
    "abs, rel and ulp of tensors, abs of a matrix, distance of an alignment">;
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
defm title : Value<"title", "TEXT", "A line before the table and in the picture">;
}

let Visibility = [AlignVis] in {
defm column : Value<"column", "N", "The width of a record in the text (default: 60)">;
}
