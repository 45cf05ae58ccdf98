// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// CMake precompiles the headers of a target that compiles something.
