// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// ad-diff as a function.
#ifndef ADJOINT_TOOLS_DIFF_H
#define ADJOINT_TOOLS_DIFF_H

namespace mlir::ad::diff {

/// The name of the program with the subcommands that run programs. ad-diff itself starts without the
/// libraries of the compiler, and replaces itself by this program, which is in its folder, if a subcommand
/// needs them.
constexpr const char *kProgramsTool = "ad-diff-programs";

/// The `main` of ad-diff. The exit code: 0 done, 1 a difference is larger than its bound, 2 wrong usage, a
/// bad file, or a program that fails.
int diffMain(int argc, char **argv);
/// The `main` of ad-diff-programs.
int diffProgramsMain(int argc, char **argv);

} // namespace mlir::ad::diff

#endif // ADJOINT_TOOLS_DIFF_H
