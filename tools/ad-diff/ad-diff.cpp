// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// ad-diff: tells how two numerical runs differ.
#include "adjoint/Tools/Diff.h"

int main(int argc, char **argv) { return mlir::ad::diff::diffMain(argc, argv); }
