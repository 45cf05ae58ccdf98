/* Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

   Errors of calls that are wrong, and of runs: each is a line with its reason and text. Then two threads call
   one program at once. */
#include "adjoint-c/Module.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char source[] =
    "func.func @main(%x: tensor<?xf32> {ad.name = \"x\"}, %i: tensor<i32> {ad.name = \"i\"})\n"
    "    -> (tensor<2xf32> {ad.name = \"y\"}) {\n"
    "  %batch = ad.feed \"batch\" : tensor<2xf32>\n"
    "  %0 = ad.add %x, %batch : tensor<?xf32>, tensor<2xf32>\n"
    "  return %0 : tensor<2xf32>\n"
    "}\n";
static const char square[] = "func.func @main(%x: tensor<1000xf64>) -> tensor<1000xf64> {\n"
                             "  %0 = ad.mul %x, %x : tensor<1000xf64>\n"
                             "  return %0 : tensor<1000xf64>\n"
                             "}\n";

static void show(const char *what, AdjointError *error) {
  printf("%s: %d %s\n", what, error ? (int)adjointErrorGetReason(error) : -1,
         error ? adjointErrorGetText(error) : "no error");
  adjointErrorDestroy(error);
}

static const char loop[] =
    "func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {\n"
    "  %begin = arith.constant 0 : index\n"
    "  %end = arith.constant 100000000 : index\n"
    "  %step = arith.constant 1 : index\n"
    "  %y = scf.for %i = %begin to %end step %step iter_args(%c = %x) -> tensor<4xf32> {\n"
    "    %0 = ad.tanh %c : tensor<4xf32>\n"
    "    scf.yield %0 : tensor<4xf32>\n"
    "  }\n"
    "  return %y : tensor<4xf32>\n"
    "}\n";

static AdjointError *compile(const char *text, const char *option, const char *value,
                             AdjointProgram **program) {
  AdjointOption options[] = {{"cache", "off"}, {"threads", "1"}, {option, value}};
  return adjointProgramCompile(text, strlen(text), "misuse.mlir", options, option ? 3 : 2, program);
}

static const char *refuse(void *user, const char *name, const adrt_tensor *destination) {
  (void)name, (void)destination;
  return user;
}

static const char *ones(void *user, const char *name, const adrt_tensor *destination) {
  (void)user, (void)name;
  float *data = destination->data;
  data[0] = data[1] = 1;
  return NULL;
}

static bool stop(void *user) {
  (void)user;
  return true;
}

static void showCalls(const AdjointProgram *program) {
  float x[] = {1, 2, 3}, y[3] = {0, 0, 0};
  int32_t i = 0;
  int64_t two[] = {2}, three[] = {3}, negative[] = {-1};
  adrt_tensor index = {&i, NULL, 0, ADRT_I32, ADRT_HOST_MEMORY};
  adrt_tensor good[] = {{x, two, 1, ADRT_F32, ADRT_HOST_MEMORY}, index};
  adrt_tensor odd[] = {{x, three, 1, ADRT_F32, ADRT_HOST_MEMORY}, index};
  adrt_tensor typed[] = {{x, two, 1, ADRT_F64, ADRT_HOST_MEMORY}, index};
  adrt_tensor unknown[] = {{x, two, 1, 99, ADRT_HOST_MEMORY}, index};
  adrt_tensor missing[] = {{NULL, two, 1, ADRT_F32, ADRT_HOST_MEMORY}, index};
  adrt_tensor deep[] = {{x, two, 0, ADRT_F32, ADRT_HOST_MEMORY}, index};
  adrt_tensor small[] = {{x, negative, 1, ADRT_F32, ADRT_HOST_MEMORY}, index};
  adrt_tensor device[] = {{x, two, 1, ADRT_F32, ADRT_DEVICE_MEMORY}, index};
  adrt_tensor output = {y, three, 1, ADRT_F32, ADRT_HOST_MEMORY};
  AdjointHost fed = {NULL, ones, NULL, NULL}, refusing = {"the disk is gone", refuse, NULL, NULL};
  AdjointResults *results = NULL;
  show("few arguments", adjointProgramCall(program, good, 1, NULL, 0, &fed, &results));
  show("no feed", adjointProgramCall(program, good, 2, NULL, 0, NULL, &results));
  show("refused feed", adjointProgramCall(program, good, 2, NULL, 0, &refusing, &results));
  show("sizes", adjointProgramCall(program, odd, 2, NULL, 0, &fed, &results));
  show("type", adjointProgramCall(program, typed, 2, NULL, 0, &fed, &results));
  show("unknown type", adjointProgramCall(program, unknown, 2, NULL, 0, &fed, &results));
  show("rank", adjointProgramCall(program, deep, 2, NULL, 0, &fed, &results));
  show("no data", adjointProgramCall(program, missing, 2, NULL, 0, &fed, &results));
  show("negative size", adjointProgramCall(program, small, 2, NULL, 0, &fed, &results));
  show("device", adjointProgramCall(program, device, 2, NULL, 0, &fed, &results));
  show("null arguments", adjointProgramCall(program, NULL, 2, NULL, 0, &fed, &results));
  show("null program", adjointProgramCall(NULL, good, 2, NULL, 0, &fed, &results));
  show("null results", adjointProgramCall(program, good, 2, NULL, 0, &fed, NULL));
  show("outputs", adjointProgramCall(program, good, 2, &output, 2, &fed, &results));
  show("output", adjointProgramCall(program, good, 2, &output, 1, &fed, &results));
  output.shape = two;
  show("right", adjointProgramCall(program, good, 2, &output, 1, &fed, &results));
  adrt_tensor result = adjointResultsGet(results, 0);
  printf("result %g %g in its output: %d\n", y[0], y[1], result.data == y);
  adjointResultsDestroy(results);
}

static void showInterruption(const AdjointProgram *program) {
  float x[] = {1, 2, 3, 4};
  int64_t four[] = {4};
  adrt_tensor argument = {x, four, 1, ADRT_F32, ADRT_HOST_MEMORY};
  AdjointHost stopping = {NULL, NULL, NULL, stop};
  AdjointResults *results = NULL;
  show("interrupted", adjointProgramCall(program, &argument, 1, NULL, 0, &stopping, &results));
}

static void showModules(void) {
  MlirDialectRegistry registry = mlirDialectRegistryCreate();
  adjointRegisterDialects(registry);
  MlirContext context = mlirContextCreateWithRegistry(registry, false);
  mlirDialectRegistryDestroy(registry);
  MlirModule module;
  int64_t zero[] = {0}, seven[] = {7};
  show("module", adjointModuleParse(context, "func.func @f(", 13, "cut.mlir", &module));
  show("square", adjointModuleParse(context, square, strlen(square), "square.mlir", &module));
  show("pipeline", adjointModuleRunPipeline(module, "ad-nothing"));
  show("nested pipeline", adjointModuleRunPipeline(module, "func.func(ad-to-cpu)"));
  show("nested device pipeline", adjointModuleRunPipeline(module, "func.func(canonicalize,ad-to-gpu)"));
  show("open pipeline", adjointModuleRunPipeline(module, "builtin.module(ad-to-cpu"));
  show("whole pipeline", adjointModuleRunPipeline(module, " builtin.module(ad-to-cpu{numerics=slow}) "));
  show("null pipeline", adjointModuleRunPipeline(module, NULL));
  show("null name", adjointModuleAddGradient(module, "main", NULL, zero, 1));
  show("null source", adjointModuleParse(context, NULL, 5, "null.mlir", &module));
  MlirModule none = {NULL};
  AdjointProgram *program = NULL;
  show("null module", adjointModuleRunPipeline(none, "ad-to-cpu"));
  show("null module compiled", adjointModuleCompile(none, NULL, 0, &program));
  show("no function", adjointModuleAddGradient(module, "f", "g", zero, 1));
  show("no argument", adjointModuleAddGradient(module, "main", "g", seven, 1));
  show("no name", adjointModuleAddGradient(module, "main", "", zero, 1));
  show("taken", adjointModuleAddGradient(module, "main", "main", zero, 1));
  show("no scalar", adjointModuleAddGradient(module, "main", "g", zero, 1));
  show("still valid", adjointModuleRunPipeline(module, "ad-to-cpu"));
  mlirModuleDestroy(module);
  mlirContextDestroy(context);
}

/* Calls the program a hundred times; gives the number of wrong elements. */
static void *callOften(void *program) {
  static const int64_t shape[] = {1000};
  double x[1000];
  size_t wrong = 0;
  for (int turn = 0; turn < 100; ++turn) {
    for (int index = 0; index < 1000; ++index)
      x[index] = turn + index;
    adrt_tensor argument = {x, shape, 1, ADRT_F64, ADRT_HOST_MEMORY};
    AdjointResults *results = NULL;
    AdjointError *error = adjointProgramCall(program, &argument, 1, NULL, 0, NULL, &results);
    wrong += error != NULL;
    adjointErrorDestroy(error);
    if (!results)
      continue;
    const double *y = adjointResultsGet(results, 0).data;
    for (int index = 0; index < 1000; ++index)
      wrong += y[index] != x[index] * x[index];
    adjointResultsDestroy(results);
  }
  return (void *)wrong;
}

int main(void) {
  AdjointProgram *program = NULL, *other = NULL;
  show("null text", adjointProgramCompile(NULL, 5, "null.mlir", NULL, 0, &program));
  show("null title", adjointProgramCompile(source, 3, NULL, NULL, 0, &program));
  show("null options", adjointProgramCompile(source, 3, "null.mlir", NULL, 2, &program));
  show("null place", adjointProgramCompile(source, 3, "null.mlir", NULL, 0, NULL));
  show("null file", adjointProgramLoad(NULL, 10, "x.adx", NULL, 0, &program));
  show("unknown option", compile(source, "speed", "high", &other));
  show("threads", compile(source, "threads", "many", &other));
  show("target", compile(source, "target", "moon", &other));
  show("empty", compile("", NULL, NULL, &other));
  show("parse", compile("func.func @main() { return 1 }", NULL, NULL, &other));
  show("entry", compile(source, "entry", "other", &other));
  show("file", adjointProgramLoad("no program", 10, "x.adx", NULL, 0, &other));
  show("compiled", compile(source, NULL, NULL, &program));
  AdjointValue value = adjointProgramGetArgument(program, 0);
  printf("argument %s, type %d, rank %d, dynamic %d\n", value.name, (int)value.type, value.rank,
         value.shape[0] < 0);
  showCalls(program);
  showModules();
  adjointProgramDestroy(program);
  show("compiled", compile(loop, NULL, NULL, &program));
  showInterruption(program);
  adjointProgramDestroy(program);

  show("compiled", compile(square, NULL, NULL, &program));
  pthread_t threads[2];
  void *wrong[2];
  for (int index = 0; index < 2; ++index)
    pthread_create(&threads[index], NULL, callOften, program);
  for (int index = 0; index < 2; ++index)
    pthread_join(threads[index], &wrong[index]);
  printf("wrong elements: %zu\n", (size_t)wrong[0] + (size_t)wrong[1]);
  adjointProgramDestroy(program);
  return 0;
}
