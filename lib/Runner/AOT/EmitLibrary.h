// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Compiled programs as libraries of C: an object or a shared object with one function, and a header beside
// it.
#ifndef ADJOINT_LIB_RUNNER_AOT_EMITLIBRARY_H
#define ADJOINT_LIB_RUNNER_AOT_EMITLIBRARY_H

#include "adjoint/Runner/Executable/Executable.h"
#include "adjoint/Runner/IO/Bindings.h"

namespace mlir::ad::runner {

struct CpuTarget;

/// Whether the path is that of a library: FILE.o or FILE.so.
bool isLibraryPath(llvm::StringRef path);

/// The program of a library, from the name of its file and the entry: `digits_main` of main in libdigits.so.
std::string libraryProgram(llvm::StringRef path, llvm::StringRef entry);

/// The header with the adrt_program `program`. `name` is that of the header, without a folder.
std::string cHeader(llvm::StringRef name, llvm::StringRef program, const Signature &signature,
                    const CpuTarget &cpu);

/// Links the objects of `program`, writes the library, and its header as FILE.h. All symbols but that of
/// its function, `digits_main_entry`, are local. `cpu` is what it was compiled for.
llvm::Error emitLibrary(llvm::StringRef path, const CompiledProgram &program, const CpuTarget &cpu);

/// What --emit writes: a library if the path is that of one, else a file for adrt-run, with these values of
/// arguments.
llvm::Error emitProgram(llvm::StringRef path, CompiledProgram program, const CpuTarget &cpu,
                        std::vector<Weight> weights);

} // namespace mlir::ad::runner

#endif // ADJOINT_LIB_RUNNER_AOT_EMITLIBRARY_H
