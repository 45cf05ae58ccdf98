// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Prints all patterns of passes from `ad` to `ad`, one a line: set, name, root, permissions.
// `canonicalization` are those without a label, which must be exact. `--upstream` prints the verdict on each
// pattern of MLIR instead.

#include "../../lib/Dialect/AD/Transforms/UpstreamPatterns.h"
#include "adjoint/Dialect/AD/IR/ADDialect.h"
#include "adjoint/Dialect/AD/Transforms/PatternLog.h"
#include "adjoint/Dialect/AD/Transforms/Patterns.h"
#include "adjoint/Support/OutputFile.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::ad;

static StringRef needs(const Pattern &pattern) {
  for (StringRef label : pattern.getDebugLabels())
    if (label.consume_front("needs="))
      return label;
  return "exact";
}

static void print(StringRef set, MLIRContext &context, function_ref<void(RewritePatternSet &)> populate) {
  RewritePatternSet patterns(&context);
  populate(patterns);
  for (const std::unique_ptr<RewritePattern> &pattern : patterns.getNativePatterns())
    llvm::outs() << set << " " << patternName(*pattern) << " "
                 << (pattern->getRootKind() ? pattern->getRootKind()->getStringRef() : "any") << " "
                 << needs(*pattern) << "\n";
}

int main(int argc, char **argv) {
  runner::keepStandardDescriptors();
  runner::checkStandardOutputAtExit("ad-list-patterns");
  MLIRContext context(MLIRContext::Threading::DISABLED);
  context.loadDialect<ADDialect, arith::ArithDialect, scf::SCFDialect, tensor::TensorDialect>();
  if (argc > 1 && StringRef(argv[1]) == "--upstream") {
    listUpstreamPatterns(&context, llvm::outs());
    return 0;
  }
  print("decompose", context, populateDecomposeNNPatterns);
  print("decompose", context, populateDecomposeReductionPatterns);
  print("decompose", context, populateDecomposeContractionPatterns);
  print("decompose", context, populateDecomposeScatterPatterns);
  print("decompose", context, populateDecomposeSortingPatterns);
  print("decompose", context, populateDecomposeConvPatterns);
  print("decompose-for-gpus", context, populatePatchesOfConvPatterns);
  print("simplify", context, populateIndexPatterns);
  print("simplify", context, populateLoopPatterns);
  print("simplify", context, populateMovementPatterns);
  print("simplify", context, populateAlgebraPatterns);
  print("simplify", context, populateContractionPatterns);
  print("split-k", context, [](RewritePatternSet &patterns) { populateSplitKPatterns(patterns, 128); });
  print("sort-scatters", context,
        [](RewritePatternSet &patterns) { populateSortScattersPatterns(patterns, 1); });
  print("choose-instructions", context, populateInstructionPatterns);
  print("widen-operands", context,
        [](RewritePatternSet &patterns) { populateWidenOperandsPatterns(patterns, /*dotProducts=*/false); });
  print("canonicalization", context, populateAllowedPatterns);
  return 0;
}
