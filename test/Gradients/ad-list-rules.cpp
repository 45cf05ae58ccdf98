// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Prints the names of all operations that have a derivative rule, one a line. The build compares them with
// the cases of the gradient tests.

#include "adjoint/Dialect/AD/Derivatives/Derivatives.h"
#include "adjoint/Dialect/AD/IR/ADDialect.h"
#include "adjoint/Dialect/Check/IR/CheckOps.h"
#include "adjoint/Support/OutputFile.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/MLIRContext.h"

using namespace mlir;

int main() {
  ad::runner::keepStandardDescriptors();
  ad::runner::checkStandardOutputAtExit("ad-list-rules");
  DialectRegistry registry;
  registry.insert<ad::ADDialect, arith::ArithDialect, math::MathDialect, scf::SCFDialect,
                  tensor::TensorDialect>();
  ad::registerDerivatives(registry);
  MLIRContext context(registry);
  context.loadAllAvailableDialects();
  for (StringRef name : ad::operationsWithDerivatives(context))
    llvm::outs() << name << "\n";
  return 0;
}
