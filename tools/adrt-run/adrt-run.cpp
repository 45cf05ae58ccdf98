// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// adrt-run: runs programs that ad-runner --emit has compiled, without LLVM.
#include "adjoint/Runner/RunAdx.h"

int main(int argc, char **argv) { return mlir::ad::runner::adrtRunMain(argc, argv); }
