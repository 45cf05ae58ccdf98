// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Registration of the derivative rules.

#include "adjoint/Dialect/AD/Derivatives/Derivatives.h"
#include "Rules.h"

using namespace mlir;
using namespace mlir::ad;

void ad::registerDerivatives(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, ADDialect *) {
    attachUnaryRules(context);
    attachBinaryRules(context);
    attachShapeRules(context);
    attachSliceRules(context);
    attachIndexingRules(context);
    attachSortingRules(context);
    attachWindowRules(context);
    attachContractionRules(context);
    attachReductionRules(context);
    attachRunningRules(context);
    attachLayerRules(context);
    attachNNRules(context);
    attachAttentionRules(context);
    attachControlRules(context);
    attachScalarRules(context);
  });
  registerForeignRules(registry);
}

SmallVector<StringRef> ad::operationsWithDerivatives(MLIRContext &context) {
  SmallVector<StringRef> names;
  for (RegisteredOperationName name : context.getRegisteredOperations())
    if (name.hasInterface<DifferentiableOpInterface>())
      names.push_back(name.getStringRef());
  llvm::sort(names);
  return names;
}
