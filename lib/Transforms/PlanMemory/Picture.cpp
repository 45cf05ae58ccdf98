// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// The memory plan as a picture: one panel for each pool, offsets against the operations of the program. Only
// presentation attributes with plain colours: viewers that read no CSS show it too.

#include "Report.h"
#include "adjoint/Support/Printable.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/MathExtras.h"

#include <cmath>

using namespace mlir;
using namespace mlir::ad;

// Layout, in pixels. A panel has room for the numbers of its axis on the left and for names below.
static constexpr int64_t kWidth = 1000, kHeight = 400;
static constexpr int64_t kLeft = 110, kRight = 30, kTop = 50, kBottom = 190;
static constexpr int64_t kPanel = kTop + kHeight + kBottom;
static constexpr double kFont = 12, kMinFont = 5;
// Of a character, as a part of the font size; generous, since viewers choose the font.
static constexpr double kCharacter = 0.62;
static constexpr int64_t kTicksAcross = 25, kTicksUp = 8;
static constexpr size_t kMaxNameLength = 28;

// Consecutive numbers have colours far apart, all light enough for black text.
static std::string colourOf(size_t number) {
  double hue = static_cast<double>(number * 137 % 360) / 60;
  auto channel = [&](double shift) {
    double distance = std::fabs(std::fmod(hue + shift, 6) - 3);
    return static_cast<int>(std::lround(255 * (0.55 + 0.35 * std::clamp(distance - 1, 0.0, 1.0))));
  };
  std::string text;
  llvm::raw_string_ostream(text) << llvm::format("#%02x%02x%02x", channel(0), channel(4), channel(2));
  return text;
}

static std::string bytesText(int64_t bytes) {
  static constexpr StringLiteral units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  double value = static_cast<double>(bytes);
  size_t unit = 0;
  for (; value >= 1024 && unit + 1 < std::size(units); ++unit)
    value /= 1024;
  std::string text;
  llvm::raw_string_ostream(text) << llvm::format("%.4g ", value) << units[unit];
  return text;
}

static std::string escaped(StringRef text) {
  std::string safe;
  llvm::raw_string_ostream os(safe);
  llvm::printHTMLEscaped(printable(text), os);
  return safe;
}

static std::string shortened(StringRef name) {
  return name.size() <= kMaxNameLength ? name.str() : (name.take_front(kMaxNameLength - 3) + "...").str();
}

namespace {
// One panel.
class PoolDrawing {
public:
  PoolDrawing(const PlannedFunction &function, int64_t number, int64_t top, raw_ostream &os)
      : function(function), pool(function.pools[number]), number(number), top(top + kTop), os(os),
        perStep(double(kWidth) / std::max<int64_t>(function.end, 1)),
        perByte(double(kHeight) / std::max<int64_t>(pool.used, 1)) {}

  void draw() {
    text(kLeft, top - 20, 14,
         "@" + function.name + ", pool " + std::to_string(number) + ": " + std::to_string(pool.used) +
             " of " + std::to_string(pool.total) + " bytes, at least " + std::to_string(pool.live));
    os << "<rect x=\"" << kLeft << "\" y=\"" << top << "\" width=\"" << kWidth << "\" height=\"" << kHeight
       << "\" fill=\"#ffffff\" stroke=\"#333333\" stroke-width=\"1\"/>\n";
    for (auto [id, buffer] : llvm::enumerate(function.buffers))
      if (buffer.isInPool() && buffer.number == number)
        drawBuffer(buffer, id);
    drawAxes();
  }

private:
  double across(double step) const { return kLeft + step * perStep; }
  double up(double bytes) const { return top + kHeight - bytes * perByte; }
  static llvm::format_object<double> at(double value) { return llvm::format("%.2f", value); }

  void text(double x, double y, double size, StringRef content, StringRef attributes = "") {
    os << "<text x=\"" << at(x) << "\" y=\"" << at(y) << "\" font-size=\"" << at(size)
       << "\" fill=\"#000000\"" << attributes << ">" << escaped(content) << "</text>\n";
  }

  void line(double x1, double y1, double x2, double y2) {
    os << "<line x1=\"" << at(x1) << "\" y1=\"" << at(y1) << "\" x2=\"" << at(x2) << "\" y2=\"" << at(y2)
       << "\" stroke=\"#333333\" stroke-width=\"1\"/>\n";
  }

  void drawBuffer(const PlannedBuffer &buffer, size_t id) {
    double width = (buffer.last - buffer.first + 1) * perStep;
    double height = std::max<int64_t>(buffer.bytes, 1) * perByte;
    double x = across(buffer.first), y = up(buffer.offset) - height;
    os << "<g><rect x=\"" << at(x) << "\" y=\"" << at(y) << "\" width=\"" << at(width) << "\" height=\""
       << at(height) << "\" fill=\"" << colourOf(id) << "\" stroke=\"#333333\" stroke-width=\"0.3\"/>\n";
    drawLabel(buffer, id, x, y, width, height);
    // Viewers show it under the pointer.
    os << "<title>buffer " << id << ": " << buffer.bytes << " bytes at " << buffer.offset << ", operations "
       << buffer.first << " to " << buffer.last << ", made by " << escaped(nameOf(buffer.first))
       << "</title></g>\n";
  }

  // As much as the rectangle has room for.
  void drawLabel(const PlannedBuffer &buffer, size_t id, double x, double y, double width, double height) {
    std::string name = nameOf(buffer.first), size = bytesText(buffer.bytes);
    for (const std::string &label : {name + ", " + size, size, std::to_string(id)}) {
      double font = std::min({kFont, 0.8 * height, width / (kCharacter * (label.size() + 1))});
      if (font >= kMinFont)
        return text(x + 0.3 * font, y + font, font, label);
    }
  }

  std::string nameOf(int64_t operation) const {
    return operation < static_cast<int64_t>(function.operations.size()) ? function.operations[operation] : "";
  }

  void drawAxes() {
    int64_t step = 1;
    while (pool.used / step > kTicksUp)
      step *= 2;
    for (int64_t bytes = 0; bytes <= pool.used; bytes += step) {
      line(kLeft - 5, up(bytes), kLeft, up(bytes));
      text(kLeft - 8, up(bytes) + 4, kFont, bytesText(bytes), " text-anchor=\"end\"");
    }
    std::string title = number == 0 ? "offset" : "offset per element of the dynamic sizes";
    std::string rotation;
    llvm::raw_string_ostream(rotation)
        << " text-anchor=\"middle\" transform=\"rotate(-90 20 " << at(top + kHeight / 2.0) << ")\"";
    text(20, top + kHeight / 2.0, 14, title, rotation);
    drawOperations();
    text(kLeft + kWidth / 2.0, top + kHeight + kBottom - 12, 14, "operation, in the order of the program",
         " text-anchor=\"middle\"");
  }

  void drawOperations() {
    int64_t step = std::max<int64_t>(1, llvm::divideCeil(function.end, kTicksAcross));
    for (int64_t operation = 0; operation < function.end; operation += step) {
      double x = across(operation + 0.5), y = top + kHeight;
      line(x, y, x, y + 5);
      std::string rotation;
      llvm::raw_string_ostream(rotation)
          << " text-anchor=\"end\" transform=\"rotate(-50 " << at(x + 4) << " " << at(y + 16) << ")\"";
      text(x + 4, y + 16, 11, std::to_string(operation) + " " + shortened(nameOf(operation)), rotation);
    }
  }

  const PlannedFunction &function;
  const PoolSummary &pool;
  int64_t number, top;
  raw_ostream &os;
  double perStep, perByte;
};
} // namespace

void ad::drawPicture(ArrayRef<PlannedFunction> functions, raw_ostream &os) {
  int64_t panels = 0, width = kLeft + kWidth + kRight;
  for (const PlannedFunction &function : functions)
    panels += function.pools.size();
  os << "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"" << width << "\" height=\"" << panels * kPanel
     << "\" viewBox=\"0 0 " << width << " " << panels * kPanel << "\" font-family=\"sans-serif\">\n"
     << "<rect x=\"0\" y=\"0\" width=\"" << width << "\" height=\"" << panels * kPanel
     << "\" fill=\"#ffffff\"/>\n";
  int64_t top = 0;
  for (const PlannedFunction &function : functions)
    for (size_t number = 0; number < function.pools.size(); ++number, top += kPanel)
      PoolDrawing(function, number, top, os).draw();
  os << "</svg>\n";
}
