// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Heat maps and bar charts.
#include "adjoint/Diff/Pictures.h"
#include "adjoint/Diff/NumberText.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>

using namespace mlir::ad::diff;
using llvm::StringRef;

namespace {

constexpr double fontSize = 12, smallSize = 10;

/// Elements of one picture.
class Picture {
public:
  void rectangle(double x, double y, double width, double height, StringRef fill, StringRef stroke) {
    body += "<rect x=\"" + at(x) + "\" y=\"" + at(y) + "\" width=\"" + at(width) + "\" height=\"" +
            at(height) + "\" fill=\"" + fill.str() + "\" stroke=\"" + stroke.str() + "\"/>\n";
  }

  void text(double x, double y, StringRef text, double size, StringRef anchor, int angle = 0) {
    std::string turn =
        angle == 0 ? "" : " transform=\"rotate(" + std::to_string(angle) + " " + at(x) + " " + at(y) + ")\"";
    body += "<text x=\"" + at(x) + "\" y=\"" + at(y) + "\" font-size=\"" + at(size) + "\" text-anchor=\"" +
            anchor.str() + "\"" + turn + ">" + escapeMarkup(text) + "</text>\n";
  }

  std::string finish(double width, double height) const {
    return "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"" + at(width) + "\" height=\"" + at(height) +
           "\" viewBox=\"0 0 " + at(width) + " " + at(height) +
           "\" font-family=\"sans-serif\">\n<rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n" +
           body + "</svg>\n";
  }

private:
  static std::string at(double coordinate) {
    constexpr int digits = 6;
    return generalNumber(coordinate, digits);
  }

  std::string body;
};

/// The room that the longest of the texts takes, by the usual width of a letter.
double widthOf(const std::vector<std::string> &texts) {
  constexpr double letter = 0.62;
  size_t longest = 0;
  for (const std::string &text : texts)
    longest = std::max(longest, text.size());
  return letter * fontSize * static_cast<double>(longest);
}

/// From 0 to 1 for each bar.
class BarScale {
public:
  explicit BarScale(llvm::ArrayRef<Bar> bars) {
    for (const Bar &bar : bars)
      if (bar.value > 0 && std::isfinite(bar.value)) {
        least = std::min(least, bar.value);
        most = std::max(most, bar.value);
      }
  }
  bool isLogarithmic() const {
    constexpr double manyMagnitudes = 100;
    return most / least >= manyMagnitudes;
  }
  double lengthOf(double value) const {
    constexpr double shortest = 0.05;
    if (!(value > 0))
      return 0;
    if (!std::isfinite(value))
      return 1;
    if (!isLogarithmic())
      return value / most;
    return shortest + (1 - shortest) * std::log(value / least) / std::log(most / least);
  }

private:
  double least = std::numeric_limits<double>::max(), most = 0;
};

} // namespace

std::string mlir::ad::diff::heatColor(double value, double max) {
  // At 0, 1/4, 1/2, 3/4 and 1.
  static constexpr unsigned char stops[][3] = {
      {0xe4, 0xff, 0x7a}, {0xff, 0xe8, 0x1a}, {0xff, 0xbd, 0x00}, {0xff, 0xa0, 0x00}, {0xfc, 0x7f, 0x00}};
  constexpr size_t intervals = std::size(stops) - 1;
  if (value == 0)
    return "#ffffff";
  double place = value < max ? value / max * static_cast<double>(intervals) : static_cast<double>(intervals);
  size_t from = std::min(static_cast<size_t>(place), intervals - 1);
  double weight = place - static_cast<double>(from);
  char color[8];
  unsigned channels[3];
  for (size_t i = 0; i < std::size(channels); ++i)
    channels[i] =
        static_cast<unsigned>(std::lround((1 - weight) * stops[from][i] + weight * stops[from + 1][i]));
  std::snprintf(color, sizeof(color), "#%02x%02x%02x", channels[0], channels[1], channels[2]);
  return color;
}

std::string mlir::ad::diff::heatMapSVG(const DiffMatrix &matrix, StringRef title) {
  constexpr double cell = 46, margin = 16, top = 48, slope = 0.7071;
  constexpr int downwards = -45;
  double left = margin + widthOf(matrix.getLabels()), max = matrix.getMax();
  auto count = static_cast<double>(matrix.size());
  Picture picture;
  for (size_t row = 0; row < matrix.size(); ++row) {
    double y = top + cell * static_cast<double>(row);
    for (size_t column = 0; column < matrix.size(); ++column) {
      double value = matrix.at(row, column), x = left + cell * static_cast<double>(column);
      picture.rectangle(x, y, cell, cell, heatColor(value, max), "#dddddd");
      picture.text(x + cell / 2, y + cell / 2 + smallSize / 3, generalNumber(value, 1), smallSize, "middle");
    }
    picture.text(left - 6, y + cell / 2 + fontSize / 3, matrix.getLabels()[row], fontSize, "end");
    double x = left + cell * (static_cast<double>(row) + 0.5);
    picture.text(x, top + cell * count + fontSize, matrix.getLabels()[row], fontSize, "end", downwards);
  }
  std::string heading = "max=" + generalNumber(max, 2);
  if (!title.empty())
    heading = (title + " ").str() + heading;
  double width = std::max(left + cell * count + margin, widthOf({heading}) + 2 * margin);
  picture.text(width / 2, top / 2, heading, fontSize + 2, "middle");
  return picture.finish(width, top + cell * count + slope * left + 2 * margin);
}

std::string mlir::ad::diff::barChartSVG(StringRef title, llvm::ArrayRef<Bar> bars) {
  constexpr double height = 22, length = 360, margin = 16, top = 40, numbers = 110;
  constexpr int digits = 6;
  std::vector<std::string> labels;
  for (const Bar &bar : bars)
    labels.push_back(bar.label);
  double left = 2 * margin + widthOf(labels), y = top;
  BarScale scale(bars);
  Picture picture;
  std::string heading = title.str() + (scale.isLogarithmic() ? ", logarithmic" : "");
  picture.text(margin, top / 2, heading, fontSize + 2, "start");
  for (const Bar &bar : bars) {
    double end = left + length * scale.lengthOf(bar.value);
    picture.text(left - 6, y + height / 2 + fontSize / 3, bar.label, fontSize, "end");
    picture.rectangle(left, y + 3, end - left, height - 6, "#ffa000", "none");
    picture.text(end + 4, y + height / 2 + fontSize / 3, generalNumber(bar.value, digits), smallSize,
                 "start");
    y += height;
  }
  return picture.finish(std::max(left + length + numbers, widthOf({heading}) + 2 * margin), y + margin);
}
