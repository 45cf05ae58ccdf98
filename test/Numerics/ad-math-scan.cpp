// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Compares the elementary functions with MPFR: every binade in f32 and f64, every value in the 16- and 8-bit
// types. Prints one line per function and type and fails when an error is above the documented bound
// (docs/numerics-functions.md).
#include "Oracle.h"
#include "Samples.h"
#include "adjoint/Numerics/Casts.h"
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <string>

using namespace mlir::ad::numerics;
using namespace mlir::ad::numerics::test;

namespace {

struct Options {
  std::optional<Elementary> function;
  std::optional<ElementType> type;
  int samples = 16;
  bool exhaustive = false;
};

/// The largest error so far and where it occurred.
struct Worst {
  double error = -1, first = 0, second = 0;
  long count = 0;

  void update(double candidate, double x, double y) {
    ++count;
    if (!(candidate <= error)) {
      error = candidate;
      first = x;
      second = y;
    }
  }
};

bool isNarrow(ElementType type) { return type != ElementType::F64 && type != ElementType::F32; }

/// The documented bound in units in the last place.
double documentedBound(ElementType type) {
  switch (type) {
  case ElementType::F64:
  case ElementType::F32:
    return 1.0;
  case ElementType::BF16:
    return 0.5 + 0x1p-16;
  default: // f16 and the 8-bit types, which have fewer digits still
    return 0.5 + 0x1p-13;
  }
}

/// The function in `type`: 16- and 8-bit results are the f32 function, rounded.
double evaluateIn(ElementType type, Elementary function, double x, double y) {
  if (type == ElementType::F64)
    return evaluate(function, x, y);
  float result = evaluate(function, static_cast<float>(x), static_cast<float>(y));
  return isNarrow(type) ? toDouble(type, fromFloat(type, result)) : result;
}

class Scan {
public:
  Scan(Elementary function, ElementType type)
      : function(function), type(type), oracle(type == ElementType::F64 ? 160 : 96) {}

  void at(double x, double y = 0) {
    worst.update(oracle.error(function, x, y, evaluateIn(type, function, x, y), type), x, y);
  }

  /// For inputs too many to ask the oracle about each: it sees only those that the double function, itself
  /// tested against it, finds near the bound.
  void filtered(double x, double y = 0) {
    double expected = evaluate(function, x, y), result = evaluateIn(type, function, x, y);
    double magnitude = std::fabs(expected);
    FloatRange range = floatRange(type);
    bool ordinary = magnitude >= std::ldexp(1.0, range.lowestExponent) &&
                    magnitude < std::ldexp(1.0, range.highestExponent);
    double unit = ordinary ? std::ldexp(1.0, std::ilogb(expected) - range.precision + 1) : 0;
    if (ordinary && std::fabs(result - expected) < (worst.error < 0 ? 0 : worst.error) * unit * 0.999)
      ++worst.count;
    else
      at(x, y);
  }

  const Worst &run(const Options &options) {
    Stream stream(static_cast<uint64_t>(function) * 16 + static_cast<uint64_t>(type));
    if (isBinary(function))
      pairs(options, stream);
    else if (isNarrow(type))
      for (double x : everyValue(type))
        at(x);
    else
      unary(options, stream);
    return worst;
  }

private:
  void unary(const Options &options, Stream &stream) {
    int perBinade = type == ElementType::F64 ? (options.samples + 3) / 4 : options.samples;
    for (double x : stratifiedValues(type, options.exhaustive ? 64 * perBinade : perBinade, stream))
      at(x);
    if (options.exhaustive && type == ElementType::F32)
      for (uint64_t bits = 0; bits < uint64_t(1) << 32; ++bits)
        filtered(toFloat(type, bits));
  }

  void pairs(const Options &options, Stream &stream) {
    int count = (options.exhaustive ? 200 : 1) * 1000 * options.samples;
    if (!isNarrow(type)) {
      for (auto [x, y] : stratifiedPairs(function, type, count, stream))
        at(x, y);
      return;
    }
    std::vector<double> values = everyValue(type);
    bool all = values.size() == 256 || options.exhaustive;
    if (!all)
      for (int i = 0; i < count; ++i)
        at(values[stream.next() % values.size()], values[stream.next() % values.size()]);
    else
      for (double x : values)
        for (double y : values)
          values.size() == 256 ? at(x, y) : filtered(x, y);
  }

  Elementary function;
  ElementType type;
  Oracle oracle;
  Worst worst;
};

int usage(const char *message, const char *word) {
  std::fprintf(stderr, "ad-math-scan: %s '%s'\n", message, word);
  std::fprintf(stderr, "usage: ad-math-scan [--function=NAME] [--type=f64|f32|f16|bf16|f8E4M3FN|f8E5M2]\n"
                       "                    [--samples=N] [--exhaustive]\n");
  return 2;
}

/// The value of an option: `--name=VALUE` or `--name VALUE`.
const char *valueOf(const char *name, int argc, char **argv, int &i) {
  size_t length = std::strlen(name);
  if (std::strncmp(argv[i], name, length))
    return nullptr;
  if (argv[i][length] == '=')
    return argv[i] + length + 1;
  return argv[i][length] == 0 && i + 1 < argc ? argv[++i] : nullptr;
}

int parse(int argc, char **argv, Options &options) {
  for (int i = 1; i < argc; ++i) {
    if (!std::strcmp(argv[i], "--exhaustive")) {
      options.exhaustive = true;
    } else if (const char *name = valueOf("--function", argc, argv, i)) {
      options.function = elementaryFromName(name);
      if (!options.function)
        return usage("expected the name of an elementary function, found", name);
    } else if (const char *name = valueOf("--type", argc, argv, i)) {
      options.type = elementTypeFromName(name);
      if (!options.type || !isFloat(*options.type))
        return usage("expected a floating-point type, found", name);
    } else if (const char *text = valueOf("--samples", argc, argv, i)) {
      options.samples = std::atoi(text);
      if (options.samples < 1)
        return usage("expected a positive number of samples per binade, found", text);
    } else {
      return usage("unknown option", argv[i]);
    }
  }
  return 0;
}

/// One line of the table; whether the bound holds.
bool report(Elementary function, ElementType type, const Worst &worst) {
  double bound = documentedBound(type);
  bool holds = worst.error <= bound;
  std::string name(elementaryName(function)), typeName(elementTypeName(type));
  char input[80];
  int length = std::snprintf(input, sizeof input, "%a", worst.first);
  if (isBinary(function))
    std::snprintf(input + length, sizeof input - length, ", %a", worst.second);
  std::printf("%-10s %-9s %10.6f %-52s %10.6f %10ld%s\n", name.c_str(), typeName.c_str(), worst.error, input,
              bound, worst.count, holds ? "" : "  ABOVE THE BOUND");
  std::fflush(stdout);
  return holds;
}

} // namespace

int main(int argc, char **argv) {
  Options options;
  if (int status = parse(argc, argv, options))
    return status;
  std::printf("%-10s %-9s %10s %-52s %10s %10s\n", "function", "type", "max-ulp", "worst-input", "bound",
              "inputs");
  int run = 0, failed = 0;
  for (int t = 0; t < elementTypeCount; ++t)
    for (int f = 0; f < elementaryCount; ++f) {
      auto type = static_cast<ElementType>(t);
      auto function = static_cast<Elementary>(f);
      if (!isFloat(type) || (options.type && *options.type != type) ||
          (options.function && *options.function != function))
        continue;
      Scan scan(function, type);
      ++run;
      failed += !report(function, type, scan.run(options));
    }
  std::printf("math: %d run, %d failed\n", run, failed);
  return failed != 0;
}
