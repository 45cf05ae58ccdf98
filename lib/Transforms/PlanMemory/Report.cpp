// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

#include "Report.h"
#include "llvm/Support/Format.h"

using namespace mlir;
using namespace mlir::ad;

static double percent(int64_t part, int64_t whole) { return whole == 0 ? 0 : 100.0 * part / whole; }

void ad::printReport(ArrayRef<PlannedFunction> functions, raw_ostream &os) {
  for (const PlannedFunction &function : functions) {
    os << '@' << function.name << ":\n";
    for (auto [number, pool] : llvm::enumerate(function.pools)) {
      if (number > 0)
        os << "Pool " << number << ", bytes per element of its dynamic sizes:\n";
      os << "Using: " << pool.used << " out of " << pool.total << '\n';
      os << "Saved " << pool.total - pool.used << ". Using "
         << llvm::format("%.3f", percent(pool.used, pool.total)) << "%\n";
      if (pool.total == 0)
        continue;
      os << "Largest live set: " << pool.live << ", at " << function.peaks[number] << "; "
         << llvm::format("%.3f", percent(pool.used - pool.live, pool.live)) << "% above it (" << pool.order
         << ")\n";
    }
  }
}
