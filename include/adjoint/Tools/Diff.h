// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// ad-diff as a function.
#ifndef ADJOINT_TOOLS_DIFF_H
#define ADJOINT_TOOLS_DIFF_H

namespace mlir::ad::diff {

/// The exit code: 0 done, 1 a difference is larger than its bound, 2 wrong usage or a bad file.
int diffMain(int argc, char **argv);

} // namespace mlir::ad::diff

#endif // ADJOINT_TOOLS_DIFF_H
