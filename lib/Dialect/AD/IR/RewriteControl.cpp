// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// The list of applied rewrites, its text, and the decision about each.

#include "adjoint/Dialect/AD/IR/RewriteControl.h"
#include "adjoint/Support/LocationText.h"

#include <algorithm>

using namespace mlir;
using namespace mlir::ad;

static constexpr StringLiteral kHeader = "rewrite\tpermission\toperation\tlocation";
static constexpr size_t kCells = 4; // without the pass

std::string ad::formatRewrites(const std::set<Rewrite> &rewrites, bool withPass) {
  std::string text = kHeader.str() + (withPass ? "\tpass\n" : "\n");
  for (const Rewrite &rewrite : rewrites)
    text += rewrite.name + "\t" + rewrite.permission + "\t" + rewrite.operation + "\t" + rewrite.location +
            (withPass ? "\t" + rewrite.pass : "") + "\n";
  return text;
}

FailureOr<std::set<Rewrite>> ad::parseRewrites(StringRef text, std::string &error) {
  std::set<Rewrite> rewrites;
  SmallVector<StringRef> lines;
  text.split(lines, '\n');
  for (auto [number, line] : llvm::enumerate(lines)) {
    StringRef row = line.trim("\r ");
    if (row.empty() || row.starts_with("#") || row.starts_with(kHeader))
      continue;
    SmallVector<StringRef> cells;
    row.split(cells, '\t');
    if (cells.size() != kCells && cells.size() != kCells + 1) {
      error = ("line " + Twine(number + 1) + ": expected rewrite, permission, operation, location and, " +
               "optionally, pass, separated by tabs, but got '" + row + "'")
                  .str();
      return failure();
    }
    std::string pass = cells.size() > kCells ? cells[kCells].str() : "";
    rewrites.insert({cells[0].str(), cells[1].str(), cells[2].str(), cells[3].str(), std::move(pass)});
  }
  return rewrites;
}

RewriteControl &RewriteControl::attach(MLIRContext *context) {
  auto *dialect = context->getOrLoadDialect<ADDialect>();
  if (!get(context))
    dialect->addInterfaces<RewriteControl>();
  return *get(context);
}

RewriteControl *RewriteControl::get(MLIRContext *context) {
  auto *dialect = context->getLoadedDialect<ADDialect>();
  return dialect ? dialect->getRegisteredInterface<RewriteControl>() : nullptr;
}

void RewriteControl::allowOnly(std::set<Rewrite> rewrites) {
  std::lock_guard<std::mutex> lock(mutex);
  listed = std::move(rewrites);
  listedOnly = true;
}

void RewriteControl::allowAllExcept(std::set<Rewrite> rewrites) {
  std::lock_guard<std::mutex> lock(mutex);
  listed = std::move(rewrites);
  listedOnly = false;
}

// Passes nest: those on functions run inside of an adaptor, a pass that has no name.
static SmallVectorImpl<StringRef> &runningPasses() {
  static thread_local SmallVector<StringRef> passes;
  return passes;
}

void RewriteControl::enterPass(StringRef argument) {
  SmallVectorImpl<StringRef> &passes = runningPasses();
  passes.push_back(argument.empty() && !passes.empty() ? passes.back() : argument);
}

void RewriteControl::leavePass() { runningPasses().pop_back(); }

bool RewriteControl::allows(Rewrite rewrite) {
  if (!runningPasses().empty())
    rewrite.pass = runningPasses().back().str();
  std::lock_guard<std::mutex> lock(mutex);
  bool allowed = (listed.count(rewrite) != 0) == listedOnly;
  if (allowed)
    applied.insert(std::move(rewrite));
  return allowed;
}

std::set<Rewrite> RewriteControl::getApplied() const {
  std::lock_guard<std::mutex> lock(mutex);
  return applied;
}

// A place as a cell of the table: names of files may have tabs and line breaks.
static std::string cellOf(Location loc) {
  std::string text = locationText(loc);
  std::replace_if(text.begin(), text.end(), [](char c) { return c == '\t' || c == '\n' || c == '\r'; }, '?');
  return text;
}

bool ad::allowsRewrite(StringRef name, Permissions used, Operation *op) {
  return allowsRewrite(name, stringifyPermissions(used), op);
}

bool ad::allowsRewrite(StringRef name, StringRef allowedBy, Operation *op) {
  RewriteControl *control = RewriteControl::get(op->getContext());
  return !control || control->allows({name.str(), allowedBy.str(), op->getName().getStringRef().str(),
                                      cellOf(op->getLoc())});
}

LogicalResult ad::requireAllowed(RewriterBase &rewriter, StringRef name, Permissions used, Operation *op) {
  return allowsRewrite(name, used, op)
             ? success()
             : rewriter.notifyMatchFailure(op, "expected a rewrite that no option switches off");
}
