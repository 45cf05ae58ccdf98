// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// The optimizer driver.

#include "OptTool.h"

int main(int argc, char **argv) { return mlir::ad::runOptTool(argc, argv); }
