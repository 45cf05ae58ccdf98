// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Names, costs and scalar values of the elementary functions.
#include "adjoint/Numerics/Elementary.h"
#include "Dispatch.h"

namespace mlir::ad::numerics {

namespace {
struct Entry {
  std::string_view name;
  int operands, cost;
};
} // namespace

static constexpr Entry entries[elementaryCount] = {
#define ELEMENTARY_FUNCTION(ENUMERATOR, NAME, CALL, OPERANDS, COST) {NAME, OPERANDS, COST},
#include "adjoint/Numerics/ElementaryFunctions.def"
};

static const Entry &entryOf(Elementary function) { return entries[static_cast<int>(function)]; }

std::string_view elementaryName(Elementary function) { return entryOf(function).name; }

std::optional<Elementary> elementaryFromName(std::string_view name) {
  for (int i = 0; i < elementaryCount; ++i)
    if (entries[i].name == name)
      return static_cast<Elementary>(i);
  return std::nullopt;
}

int elementaryCost(Elementary function) { return entryOf(function).cost; }

bool isBinary(Elementary function) { return entryOf(function).operands == 2; }

bool hasApproximation(Elementary function) {
  switch (function) {
#define ELEMENTARY_APPROXIMATION(ENUMERATOR, CALL) case Elementary::ENUMERATOR:
#include "adjoint/Numerics/ElementaryFunctions.def"
    return true;
  default:
    return false;
  }
}

float evaluate(Elementary function, float first, float second) {
  ScalarBuilder builder;
  return applyElementary<float>(builder, function, first, second);
}

double evaluate(Elementary function, double first, double second) {
  ScalarBuilder builder;
  return applyElementary<double>(builder, function, first, second);
}

float evaluateApproximate(Elementary function, float x) {
  ScalarBuilder builder;
  return applyApproximation<ScalarBuilder>(builder, function, x);
}

} // namespace mlir::ad::numerics
