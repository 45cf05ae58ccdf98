/* Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

   Compiles programs from their text and calls them. Needs no header of MLIR.

   Ownership: what a function makes is destroyed by the function of its type; pointers into an object live as
   long as the object. Threads: compilations and calls of one program may run on several threads at once; an
   object must not be destroyed while another thread uses it. */
#ifndef ADJOINT_C_PROGRAM_H
#define ADJOINT_C_PROGRAM_H

#include "adjoint-c/Error.h"
#include "adjoint/Runtime/adrt.h"

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The version of the library, e.g. "0.1.0". */
const char *adjointGetVersion(void);

/* An option by its name. All values are text:
     entry      the function to be called                      main
     target     cpu, reference, gpu-sim or cuda                cpu
     numerics   MODE[,PERMISSION...]                           the module's own
     precision  bf16, f16, f8, none or FILE.yaml               the module's own
     kernels    OP=NAME[,OP=NAME...]                           none
     cpu        a processor by LLVM's name                     the host
     cache      a folder for compiled programs, or off         the user's
     threads    a number; 0 is all CPUs of the process         $ADJOINT_NUM_THREADS, or 0
     optimize   true or false                                  true */
typedef struct AdjointOption {
  const char *name, *value;
} AdjointOption;

typedef struct AdjointProgram AdjointProgram;

/* Compiles `source`: text of MLIR, or bytecode. Messages name it `name`. */
AdjointError *adjointProgramCompile(const char *source, size_t size, const char *name,
                                    const AdjointOption *options, size_t numOptions,
                                    AdjointProgram **program);
/* Loads the bytes of a file that `ad-runner --emit FILE.adx` wrote. It has native code: whoever loads it must
   trust its author. Of the options it takes `threads`. */
AdjointError *adjointProgramLoad(const void *file, size_t size, const char *name,
                                 const AdjointOption *options, size_t numOptions, AdjointProgram **program);
void adjointProgramDestroy(AdjointProgram *program);

/* An argument or a result. */
typedef struct AdjointValue {
  const char *name;
  adrt_type type;
  int32_t rank;
  const int64_t *shape; /* `rank` sizes; a negative one is known at run time only */
  int32_t donatedTo;    /* of an argument: the result that may take its memory, or -1 */
} AdjointValue;

size_t adjointProgramGetNumArguments(const AdjointProgram *program);
AdjointValue adjointProgramGetArgument(const AdjointProgram *program, size_t index);
size_t adjointProgramGetNumResults(const AdjointProgram *program);
AdjointValue adjointProgramGetResult(const AdjointProgram *program, size_t index);

/* What the program asks of the host while it runs. Each function may be NULL, and gets `user`. A feed and a
   receive return NULL, or why they fail: a text that lives until their next call. */
typedef struct AdjointHost {
  void *user;
  const char *(*feed)(void *user, const char *name, const adrt_tensor *destination);
  const char *(*receive)(void *user, const char *name, const adrt_tensor *values, size_t numValues);
  bool (*isInterrupted)(void *user); /* true stops the run */
} AdjointHost;

typedef struct AdjointResults AdjointResults;

/* Runs the program once. Arguments are dense, row-major, in host memory, and of the types and sizes of the
   program; the run reads them until it returns, and may write donated ones, which must overlap no other.
   `outputs` is NULL, or has a tensor for each result, of its type and shape, which is written to and overlaps
   no argument but the one that is donated to the result; one with null data leaves the result to memory of
   the library. `host` may be NULL. */
AdjointError *adjointProgramCall(const AdjointProgram *program, const adrt_tensor *arguments,
                                 size_t numArguments, const adrt_tensor *outputs, size_t numOutputs,
                                 const AdjointHost *host, AdjointResults **results);
size_t adjointResultsGetNum(const AdjointResults *results);
/* A result: in the memory of its output if it has one, else in memory of `results`. */
adrt_tensor adjointResultsGet(const AdjointResults *results, size_t index);
void adjointResultsDestroy(AdjointResults *results);

#ifdef __cplusplus
}
#endif

#endif /* ADJOINT_C_PROGRAM_H */
