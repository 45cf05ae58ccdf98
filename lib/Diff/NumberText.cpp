// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Numbers as Python prints them.
#include "adjoint/Diff/NumberText.h"

#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <iterator>

using namespace mlir::ad;

std::string diff::pythonNumber(double value) {
  if (std::isnan(value))
    return "nan";
  if (std::isinf(value))
    return value < 0 ? "-inf" : "inf";
  char buffer[64];
  auto end = std::to_chars(buffer, std::end(buffer), value, std::chars_format::scientific);
  std::string text(buffer, end.ptr);
  // to_chars writes at least two digits of the exponent, as Python does.
  size_t exponentAt = text.find('e');
  constexpr int base = 10;
  long exponent = std::strtol(text.c_str() + exponentAt + 1, nullptr, base);
  constexpr long minFixed = -4, maxFixed = 15;
  if (exponent < minFixed || exponent > maxFixed)
    return text;
  end = std::to_chars(buffer, std::end(buffer), value, std::chars_format::fixed);
  text.assign(buffer, end.ptr);
  return text.find('.') == std::string::npos ? text + ".0" : text;
}

std::string diff::pythonNumber(double value, std::optional<uint64_t> integer) {
  return integer && value >= kFirstInexact ? std::to_string(*integer) : pythonNumber(value);
}

std::string diff::pythonNumber(double value, std::optional<int64_t> integer) {
  return integer && std::fabs(value) >= kFirstInexact ? std::to_string(*integer) : pythonNumber(value);
}

std::string diff::generalNumber(double value, int digits) {
  char buffer[64];
  std::snprintf(buffer, sizeof(buffer), "%.*g", digits, value);
  return buffer;
}
