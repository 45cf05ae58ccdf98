// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// The elementary functions by name, and their values. ElementaryFunctions.def lists them. Compiled programs
// execute code that is emitted from the same definitions (Math/*.h, EmitElementary.h), so both give the same
// bits. docs/numerics-functions.md lists formulas and error bounds.
#ifndef ADJOINT_NUMERICS_ELEMENTARY_H
#define ADJOINT_NUMERICS_ELEMENTARY_H

#include <optional>
#include <string_view>

namespace mlir::ad::numerics {

enum class Elementary {
#define ELEMENTARY_FUNCTION(ENUMERATOR, NAME, CALL, OPERANDS, COST) ENUMERATOR,
#include "adjoint/Numerics/ElementaryFunctions.def"
};

inline constexpr int elementaryCount = 0
#define ELEMENTARY_FUNCTION(ENUMERATOR, NAME, CALL, OPERANDS, COST) +1
#include "adjoint/Numerics/ElementaryFunctions.def"
    ;

/// The name in snake case, e.g. "gelu_tanh".
std::string_view elementaryName(Elementary function);
std::optional<Elementary> elementaryFromName(std::string_view name);

/// The approximate number of instructions of the function's code, divided by ten.
int elementaryCost(Elementary function);

/// pow(x, y) and atan2(y, x) take two arguments, in this order; all others one.
bool isBinary(Elementary function);

/// Whether there is a shorter form, which the permission `approx` allows.
bool hasApproximation(Elementary function);

float evaluate(Elementary function, float first, float second = 0);
double evaluate(Elementary function, double first, double second = 0);

/// The shorter form of a function that has one.
float evaluateApproximate(Elementary function, float x);

} // namespace mlir::ad::numerics

#endif // ADJOINT_NUMERICS_ELEMENTARY_H
