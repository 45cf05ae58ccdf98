// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// The allow-list of upstream patterns and folders, from the tables of Upstream/Tables.h.
// test/Permissions/upstream_patterns_test.py compares the tables with MLIR, and refuses upstream pattern sets
// in other files.

#include "UpstreamPatterns.h"
#include "Upstream/Tables.h"
#include "adjoint/Dialect/AD/IR/ADDialect.h"
#include "adjoint/Dialect/AD/Transforms/PatternLog.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/Transforms/Transforms.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;
using namespace mlir::ad;
using namespace mlir::ad::upstream;

template <class Fn> static void forEachTable(Fn fn) {
  for (const Table &table : {arithTable(), controlTable(), sizesTable()})
    fn(table);
}

static const PatternRow *findRow(StringRef operation, const Pattern &pattern) {
  const PatternRow *found = nullptr;
  StringRef name = patternName(pattern);
  forEachTable([&](const Table &table) {
    for (const PatternRow &row : table.patterns)
      if (row.operation == operation && row.pattern == name)
        found = &row;
  });
  return found;
}

static llvm::StringSet<> collectFolded() {
  llvm::StringSet<> folded;
  forEachTable([&](const Table &table) {
    for (const FolderRow &row : table.folders)
      if (row.refusal.empty())
        folded.insert(row.operation);
  });
  return folded;
}

static bool isFolded(StringRef operation) {
  static const llvm::StringSet<> folded = collectFolded();
  return folded.contains(operation);
}

bool ad::mayFold(Operation *op) {
  return isa_and_nonnull<ADDialect>(op->getDialect()) ||
         (isFolded(op->getName().getStringRef()) && mayFoldTypes(op));
}

// All dialects with a table. Of `tensor`, only operations on sizes.
static bool hasTable(RegisteredOperationName name) {
  return isa<arith::ArithDialect, scf::SCFDialect>(name.getDialect()) ||
         name.getTypeID() == TypeID::get<tensor::DimOp>() ||
         name.getTypeID() == TypeID::get<tensor::CastOp>();
}

using Visit = function_ref<void(StringRef, std::unique_ptr<RewritePattern> &)>;

// Calls `visit` with each pattern of MLIR and the operation that it is registered for.
static void forEachUpstreamPattern(MLIRContext *context, Visit visit) {
  for (RegisteredOperationName name : context->getRegisteredOperations()) {
    if (!hasTable(name))
      continue;
    RewritePatternSet patterns(context);
    name.getCanonicalizationPatterns(patterns, context);
    for (std::unique_ptr<RewritePattern> &pattern : patterns.getNativePatterns())
      visit(name.getStringRef(), pattern);
  }
  RewritePatternSet sizes(context);
  memref::populateResolveRankedShapedTypeResultDimsPatterns(sizes);
  for (std::unique_ptr<RewritePattern> &pattern : sizes.getNativePatterns())
    visit(pattern->getRootKind() ? pattern->getRootKind()->getStringRef() : "any", pattern);
}

namespace {
// A pattern of MLIR that asks whether its operation may fold. A driver starts with operations that may; an
// operation that another pattern moves, out of a branch that is inlined, comes to the patterns unasked.
struct WhereAllowed : RewritePattern {
  WhereAllowed(std::unique_ptr<RewritePattern> inner, OperationName operation)
      : RewritePattern(operation.getStringRef(), inner->getBenefit(), operation.getContext()),
        inner(std::move(inner)) {
    setDebugName(this->inner->getDebugName());
    setHasBoundedRewriteRecursion(this->inner->hasBoundedRewriteRecursion());
  }

  LogicalResult matchAndRewrite(Operation *op, PatternRewriter &rewriter) const override {
    return success(mayFold(op) && succeeded(inner->matchAndRewrite(op, rewriter)));
  }

  std::unique_ptr<RewritePattern> inner;
};
} // namespace

void ad::populateAllowedPatterns(RewritePatternSet &patterns) {
  MLIRContext *context = patterns.getContext();
  for (RegisteredOperationName name : context->getRegisteredOperations())
    if (isa<ADDialect>(name.getDialect()))
      name.getCanonicalizationPatterns(patterns, context);
  forEachUpstreamPattern(context, [&](StringRef operation, std::unique_ptr<RewritePattern> &pattern) {
    const PatternRow *row = findRow(operation, *pattern);
    if (!row || !row->refusal.empty())
      return;
    std::optional<OperationName> root = pattern->getRootKind();
    if (root)
      pattern = std::make_unique<WhereAllowed>(std::move(pattern), *root);
    patterns.add(std::move(pattern));
  });
}

// A row without a pattern of MLIR is one of an older version.
static void listStaleRows(const llvm::DenseSet<const PatternRow *> &found, raw_ostream &os) {
  forEachTable([&](const Table &table) {
    for (const PatternRow &row : table.patterns) {
      if (!found.contains(&row))
        os << "stale " << row.operation << " " << row.pattern << "\n";
      else if (row.refusal.empty() && !isFolded(row.operation))
        os << "unvisited " << row.operation << " " << row.pattern << "\n";
    }
  });
}

void ad::listUpstreamPatterns(MLIRContext *context, raw_ostream &os) {
  llvm::DenseSet<const PatternRow *> found;
  forEachUpstreamPattern(context, [&](StringRef operation, std::unique_ptr<RewritePattern> &pattern) {
    const PatternRow *row = findRow(operation, *pattern);
    found.insert(row);
    os << (!row                   ? "unknown"
           : row->refusal.empty() ? "admitted"
                                  : "refused")
       << " " << operation << " " << patternName(*pattern)
       << (row && !row->refusal.empty() ? " " + row->refusal : "") << "\n";
  });
  listStaleRows(found, os);
}
