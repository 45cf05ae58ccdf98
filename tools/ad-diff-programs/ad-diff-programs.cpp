// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// ad-diff-programs: the subcommands of ad-diff that run programs. ad-diff starts it.
#include "adjoint/Tools/Diff.h"

int main(int argc, char **argv) { return mlir::ad::diff::diffProgramsMain(argc, argv); }
