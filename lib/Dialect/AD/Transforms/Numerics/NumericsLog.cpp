// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// The log of used permissions and its JSON form.

#include "adjoint/Dialect/AD/Transforms/NumericsLog.h"
#include "mlir/IR/Remarks.h"

using namespace mlir;
using namespace mlir::ad;

void NumericsLog::registerInto(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *, ADDialect *dialect) { dialect->addInterfaces<NumericsLog>(); });
}

NumericsLog *NumericsLog::get(MLIRContext *context) {
  auto *dialect = context->getLoadedDialect<ADDialect>();
  return dialect ? dialect->getRegisteredInterface<NumericsLog>() : nullptr;
}

void NumericsLog::record(Location loc, StringRef user, Permissions used) {
  record(loc, user, stringifyPermissions(used));
}

void NumericsLog::record(Location loc, StringRef user, StringRef what) {
  // Of an inlined or fused location, the one where the operation was written.
  auto file = loc->findInstanceOf<FileLineColLoc>();
  Row row = file ? Row(file.getFilename().str(), file.getLine(), file.getColumn(), user.str(), what.str())
                 : Row("unknown", 0, 0, user.str(), what.str());
  std::lock_guard<std::mutex> lock(mutex);
  ++counts[std::move(row)];
}

void NumericsLog::clear() {
  std::lock_guard<std::mutex> lock(mutex);
  counts.clear();
}

bool NumericsLog::empty() const {
  std::lock_guard<std::mutex> lock(mutex);
  return counts.empty();
}

llvm::json::Array NumericsLog::toJSON() const {
  std::lock_guard<std::mutex> lock(mutex);
  llvm::json::Array rows;
  for (const auto &[row, count] : counts) {
    const auto &[file, line, column, user, permission] = row;
    rows.push_back(llvm::json::Object{{"file", file},
                                      {"line", line},
                                      {"column", column},
                                      {"pattern", user},
                                      {"permission", permission},
                                      {"count", count}});
  }
  return rows;
}

void ad::recordNumericsUse(Location loc, StringRef user, Permissions used) {
  if (used == Permissions::none)
    return;
  remark::passed(loc, remark::RemarkOpts::name(user).category("ad-numerics"))
      << remark::metric("permission", stringifyPermissions(used));
  if (NumericsLog *log = NumericsLog::get(loc.getContext()))
    log->record(loc, user, used);
}
