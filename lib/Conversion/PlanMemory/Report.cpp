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

// Layout of the picture, in pixels.
static constexpr int64_t kWidth = 1000, kHeight = 400, kMargin = 40;

// Neighbouring numbers get colours far apart.
static int64_t hueOf(size_t number) { return static_cast<int64_t>(number * 137 % 360); }

static void drawBuffer(const PlannedBuffer &buffer, size_t id, double x, double y, double width,
                       double height, raw_ostream &os) {
  auto at = [](double value) { return llvm::format("%.2f", value); };
  os << "<g><rect x=\"" << at(x) << "\" y=\"" << at(y) << "\" width=\"" << at(width) << "\" height=\""
     << at(height) << "\" fill=\"hsl(" << hueOf(id) << ",60%,70%)\"/>";
  // As large as the rectangle allows; the title, which viewers show under the pointer, says the rest.
  double size = std::min({height, width / 3, 14.0});
  os << "<text x=\"" << at(x) << "\" y=\"" << at(y + size) << "\" font-size=\"" << at(size) << "\">" << id
     << "</text>"
     << "<title>buffer " << id << ": " << buffer.place.bytes << " bytes at " << buffer.place.offset
     << ", operations " << buffer.first << " to " << buffer.last << "</title></g>\n";
}

static void drawPool(const PlannedFunction &function, int64_t number, int64_t top, raw_ostream &os) {
  const PoolSummary &pool = function.pools[number];
  double perStep = double(kWidth) / std::max<int64_t>(function.end, 1);
  double perByte = double(kHeight) / std::max<int64_t>(pool.used, 1);
  os << "<text x=\"" << kMargin << "\" y=\"" << top - 8 << "\">@" << function.name << ", pool " << number
     << ": " << pool.used << " of " << pool.total << " bytes, at least " << pool.live << "</text>\n";
  os << "<rect class=\"frame\" x=\"" << kMargin << "\" y=\"" << top << "\" width=\"" << kWidth
     << "\" height=\"" << kHeight << "\"/>\n";
  for (auto [id, buffer] : llvm::enumerate(function.buffers)) {
    if (buffer.place.home != Home::pool || buffer.place.number != number)
      continue;
    drawBuffer(buffer, id, kMargin + buffer.first * perStep, top + buffer.place.offset * perByte,
               (buffer.last - buffer.first + 1) * perStep, std::max<int64_t>(buffer.place.bytes, 1) * perByte,
               os);
  }
}

void ad::drawPicture(ArrayRef<PlannedFunction> functions, raw_ostream &os) {
  int64_t panels = 0;
  for (const PlannedFunction &function : functions)
    panels += function.pools.size();
  os << "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"" << kWidth + 2 * kMargin << "\" height=\""
     << panels * (kHeight + 2 * kMargin) << "\" font-family=\"sans-serif\" font-size=\"14\">\n"
     << "<style>rect{stroke:#333;stroke-width:.3}.frame{fill:#fff;stroke-width:1}</style>\n";
  int64_t top = kMargin;
  for (const PlannedFunction &function : functions)
    for (size_t number = 0; number < function.pools.size(); ++number, top += kHeight + 2 * kMargin)
      drawPool(function, number, top, os);
  os << "</svg>\n";
}
