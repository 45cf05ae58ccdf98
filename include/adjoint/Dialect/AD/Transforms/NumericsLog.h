// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// The record of every permission that a rewrite or a lowering used, and of the casts of ad-autocast: what
// --numerics-report writes. One log for each context, owned by its `ad` dialect, safe under multithreaded
// passes.

#ifndef ADJOINT_DIALECT_AD_TRANSFORMS_NUMERICSLOG_H
#define ADJOINT_DIALECT_AD_TRANSFORMS_NUMERICSLOG_H

#include "adjoint/Dialect/AD/IR/ADDialect.h"
#include "mlir/IR/DialectInterface.h"
#include "llvm/Support/JSON.h"
#include <map>
#include <mutex>

namespace mlir::ad {
class NumericsLog : public DialectInterface::Base<NumericsLog> {
public:
  explicit NumericsLog(Dialect *dialect) : Base(dialect) {}

  /// Gives every context that loads `ad` through this registry a log. Passes that record do this themselves.
  static void registerInto(DialectRegistry &registry);

  /// The log of the context; null when none was registered.
  static NumericsLog *get(MLIRContext *context);

  void record(Location loc, StringRef user, Permissions used);
  /// The same for what needs no permission: `what` is in the place of the permissions.
  void record(Location loc, StringRef user, StringRef what);
  void clear();
  bool empty() const;

  /// One object per location, user and permissions, sorted, with a count.
  llvm::json::Array toJSON() const;

private:
  // File, line, column, user, permissions: what the report is sorted by, whatever the order of the threads.
  using Row = std::tuple<std::string, unsigned, unsigned, std::string, std::string>;

  mutable std::mutex mutex;
  std::map<Row, int64_t> counts;
};

/// Says that `user`, a pattern or a lowering, did at `loc` what `used` permits: a remark of the category
/// ad-numerics and a row of the log. Nothing when `used` is none. `user` has to outlive the context: a
/// literal.
void recordNumericsUse(Location loc, StringRef user, Permissions used);
} // namespace mlir::ad

#endif // ADJOINT_DIALECT_AD_TRANSFORMS_NUMERICSLOG_H
