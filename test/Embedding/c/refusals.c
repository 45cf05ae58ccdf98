/* Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

   Compiles each file that is named, as a program and as a module, and prints a line for each: what came of
   it. Whatever the files are, nothing else is printed and the process does not end early. */
#include "../../../examples/c/npy.h"
#include "adjoint-c/Module.h"

/* `program` or `module`, the reason, whether a diagnostic names a file, and the first line of the text. */
static void report(const char *kind, AdjointError *error) {
  if (!error) {
    printf("%s compiled\n", kind);
    return;
  }
  int isLocated = 0;
  for (size_t index = 0; index < adjointErrorGetNumDiagnostics(error); ++index)
    isLocated |= adjointErrorGetDiagnostic(error, index).file[0] != '\0';
  const char *text = adjointErrorGetText(error);
  printf("%s refused %d %s %.*s\n", kind, (int)adjointErrorGetReason(error),
         isLocated ? "located" : "unlocated", (int)strcspn(text, "\n"), text);
  adjointErrorDestroy(error);
}

static AdjointError *compileModule(MlirContext context, const Array *source, const char *name) {
  MlirModule module;
  AdjointError *error = adjointModuleParse(context, source->data, source->bytes, name, &module);
  if (error)
    return error;
  AdjointOption options[] = {{"cache", "off"}, {"threads", "1"}};
  AdjointProgram *program = NULL;
  error = adjointModuleCompile(module, options, 2, &program);
  if (!error)
    error = adjointModuleRunPipeline(module, "ad-to-cpu");
  adjointProgramDestroy(program);
  mlirModuleDestroy(module);
  return error;
}

int main(int argc, char **argv) {
  MlirDialectRegistry registry = mlirDialectRegistryCreate();
  adjointRegisterDialects(registry);
  for (int index = 1; index < argc; ++index) {
    Array source = readFile(argv[index]);
    AdjointOption options[] = {{"cache", "off"}, {"threads", "1"}};
    AdjointProgram *program = NULL;
    report("program", adjointProgramCompile(source.data, source.bytes, argv[index], options, 2, &program));
    adjointProgramDestroy(program);
    MlirContext context = mlirContextCreateWithRegistry(registry, /*threadingEnabled=*/false);
    report("module", compileModule(context, &source, argv[index]));
    mlirContextDestroy(context);
    free(source.memory);
    fflush(stdout);
  }
  mlirDialectRegistryDestroy(registry);
  return 0;
}
