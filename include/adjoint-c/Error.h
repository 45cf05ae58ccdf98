/* Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

   Errors of the C API. A function that can fail returns NULL, or an error that the caller destroys; what it
   writes is written only when it returns NULL. No function prints, and none ends the process but for lack of
   memory for small objects, as in LLVM; too little memory for tensors is an error.

   Threads: an error belongs to one thread at a time. */
#ifndef ADJOINT_C_ERROR_H
#define ADJOINT_C_ERROR_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct AdjointError AdjointError;

/* What was at fault. */
typedef enum AdjointReason {
  ADJOINT_OPTIONS = 0,     /* an option or an argument of the call, such as a source that is no text */
  ADJOINT_SOURCE = 1,      /* the program: it does not parse, or a pass refuses it */
  ADJOINT_TARGET = 2,      /* the target is not there, or cannot run the program */
  ADJOINT_PROGRAM = 3,     /* the run: shapes, bounds, trip counts */
  ADJOINT_CHECK = 4,       /* a check.* operation failed */
  ADJOINT_HOST = 5,        /* a callback, or too little memory */
  ADJOINT_INTERRUPTED = 6, /* the host stopped the run */
  ADJOINT_OUTPUT = 7,      /* an output has another shape than its result */
  ADJOINT_FILE = 8         /* a file that cannot be read or written */
} AdjointReason;

typedef enum AdjointSeverity {
  ADJOINT_SEVERITY_ERROR = 0,
  ADJOINT_SEVERITY_WARNING = 1,
  ADJOINT_SEVERITY_REMARK = 2,
  ADJOINT_SEVERITY_NOTE = 3
} AdjointSeverity;

/* A message with its place in the source. Notes follow the message that they explain. */
typedef struct AdjointDiagnostic {
  AdjointSeverity severity;
  const char *file;      /* empty when the message is about no file */
  unsigned line, column; /* from 1; 0 when the message is about the whole file, or none */
  const char *text;
} AdjointDiagnostic;

AdjointReason adjointErrorGetReason(const AdjointError *error);
/* All that there is to say, one message per line as compilers print them: `file:line:column: error: text`.
   The text lives as long as the error, and so do those of its diagnostics. */
const char *adjointErrorGetText(const AdjointError *error);
size_t adjointErrorGetNumDiagnostics(const AdjointError *error);
/* `index` is below adjointErrorGetNumDiagnostics. */
AdjointDiagnostic adjointErrorGetDiagnostic(const AdjointError *error, size_t index);
/* Takes NULL too. */
void adjointErrorDestroy(AdjointError *error);

#ifdef __cplusplus
}
#endif

#endif /* ADJOINT_C_ERROR_H */
