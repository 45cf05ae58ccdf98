/* Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

   Differentiates a function from C, over MLIR's C API: parses a module, appends the gradient of @f, prints
   the code that computes it, and calls it.

     cc gradient.c $(pkg-config --cflags --libs adjoint) -o gradient && ./gradient [TARGET] */
#include "adjoint-c/Module.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* f(x) = sum of x^3 */
static const char source[] = "func.func @f(%x: tensor<4xf32>) -> tensor<f32> {\n"
                             "  %0 = ad.mul %x, %x : tensor<4xf32>\n"
                             "  %1 = ad.mul %0, %x : tensor<4xf32>\n"
                             "  %2 = ad.reduce_sum %1 axes [0] : tensor<4xf32> -> tensor<f32>\n"
                             "  return %2 : tensor<f32>\n"
                             "}\n";

static void check(AdjointError *error) {
  if (!error)
    return;
  fprintf(stderr, "%s\n", adjointErrorGetText(error));
  adjointErrorDestroy(error);
  exit(1);
}

static void print(MlirStringRef text, void *file) { fwrite(text.data, 1, text.length, (FILE *)file); }

int main(int argc, char **argv) {
  MlirDialectRegistry registry = mlirDialectRegistryCreate();
  adjointRegisterDialects(registry);
  MlirContext context = mlirContextCreateWithRegistry(registry, /*threadingEnabled=*/false);
  mlirDialectRegistryDestroy(registry);

  MlirModule module;
  check(adjointModuleParse(context, source, strlen(source), "cube.mlir", &module));
  int64_t wrt[] = {0};
  check(adjointModuleAddGradient(module, "f", "gradient", wrt, 1));

  AdjointOption options[] = {{"entry", "gradient"}, {"target", argc > 1 ? argv[1] : "cpu"}, {"cache", "off"}};
  AdjointProgram *program = NULL;
  check(adjointModuleCompile(module, options, 3, &program));

  float x[] = {1, 2, 3, -0.5f};
  int64_t shape[] = {4};
  adrt_tensor argument = {x, shape, 1, ADRT_F32, ADRT_HOST_MEMORY};
  AdjointResults *results = NULL;
  check(adjointProgramCall(program, &argument, 1, NULL, 0, NULL, &results));
  const float *value = adjointResultsGet(results, 0).data, *gradient = adjointResultsGet(results, 1).data;
  printf("value %g, gradient %g %g %g %g\n", value[0], gradient[0], gradient[1], gradient[2], gradient[3]);
  adjointResultsDestroy(results);
  adjointProgramDestroy(program);

  check(adjointModuleRunPipeline(module, "ad-set-numerics,ad-differentiate,inline,ad-simplify"));
  mlirOperationPrint(mlirModuleGetOperation(module), print, stdout);
  mlirModuleDestroy(module);
  mlirContextDestroy(context);
  return 0;
}
