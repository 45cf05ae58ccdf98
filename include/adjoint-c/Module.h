/* Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

   Adjoint over MLIR's C API: its dialects and passes in a context of the caller, modules that are parsed,
   changed by passes, differentiated and compiled. libAdjoint.so has the functions of mlir-c/IR.h,
   mlir-c/Pass.h and the other headers of MLIR's core, and those of mlir-c/Dialect for Arith, Bufferization,
   ControlFlow, Func, GPU, Index, LLVM, Linalg, Math, MemRef, NVVM, SCF, Tensor and Vector.

   Threads: a context and what belongs to it are used by one thread at a time, as in MLIR. */
#ifndef ADJOINT_C_MODULE_H
#define ADJOINT_C_MODULE_H

#include "adjoint-c/Program.h"
#include "mlir-c/IR.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Adjoint's dialects, their derivatives and kernels, and those dialects of upstream that programs are written
   and lowered in. */
void adjointRegisterDialects(MlirDialectRegistry registry);
/* The passes and pipelines of Adjoint, and upstream's transformations such as canonicalize, for the whole
   process. May be called again. */
void adjointRegisterPasses(void);

/* The verified module of a source: text of MLIR, or bytecode. Unlike mlirModuleCreateParse it bounds how
   deeply sources are nested, opens no files, and returns what is wrong with its place. The caller destroys
   the module. */
AdjointError *adjointModuleParse(MlirContext context, const char *source, size_t size, const char *name,
                                 MlirModule *module);
/* Runs passes, written as in `ad-opt --pass-pipeline` inside of builtin.module(...):
   "canonicalize,ad-to-cpu"; builtin.module(...) around them may be written, too. Registers Adjoint's passes.
   After an error the module is still valid IR or to be destroyed. */
AdjointError *adjointModuleRunPipeline(MlirModule module, const char *pipeline);
/* Appends a public function `gradient` that calls `function` and returns all its results, then the gradient
   of the first, a float of rank 0, for each argument in `wrt`. Compilation and the pipelines make its code;
   an operation without a derivative is an error there. Fails if there is no such function, it has no such
   arguments or result, or the module has a symbol of the new name. */
AdjointError *adjointModuleAddGradient(MlirModule module, const char *function, const char *gradient,
                                       const int64_t *wrt, size_t numWrt);
/* As adjointProgramCompile, from a module, which stays as it is. */
AdjointError *adjointModuleCompile(MlirModule module, const AdjointOption *options, size_t numOptions,
                                   AdjointProgram **program);

#ifdef __cplusplus
}
#endif

#endif /* ADJOINT_C_MODULE_H */
