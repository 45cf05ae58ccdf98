/* Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

   A dialect's part of MLIR's C API: there is one MLIR in the process, so that the dialect that it loads is
   the one that a program is parsed with. */
#include "adjoint-c/Module.h"
#include "mlir-c/Dialect/Func.h"

#include <stdio.h>
#include <string.h>

int main(void) {
  MlirDialectRegistry registry = mlirDialectRegistryCreate();
  adjointRegisterDialects(registry);
  MlirContext context = mlirContextCreateWithRegistry(registry, /*threadingEnabled=*/false);
  MlirDialect dialect = mlirDialectHandleLoadDialect(mlirGetDialectHandle__func__(), context);
  MlirStringRef name = mlirDialectGetNamespace(dialect);
  const char *source = "func.func @f(%x: tensor<f32>) -> tensor<f32> { return %x : tensor<f32> }";
  MlirModule module;
  AdjointError *error = adjointModuleParse(context, source, strlen(source), "f.mlir", &module);
  printf("%.*s %s\n", (int)name.length, name.data, error ? adjointErrorGetText(error) : "parsed");
  adjointErrorDestroy(error);
  mlirModuleDestroy(module);
  mlirContextDestroy(context);
  mlirDialectRegistryDestroy(registry);
  return 0;
}
