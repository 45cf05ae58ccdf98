// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Directives of the assembly formats for enumerations. Private to the library.

#ifndef ADJOINT_LIB_DIALECT_AD_IR_ATTRIBUTES_NAMEDIRECTIVES_H
#define ADJOINT_LIB_DIALECT_AD_IR_ATTRIBUTES_NAMEDIRECTIVES_H

#include "mlir/IR/OpImplementation.h"

namespace mlir::ad {
/// One of the names of an enumeration, as a keyword. The parsers that TableGen makes add a second error in
/// the words of C++.
template <typename EnumAttr, typename Enum>
ParseResult parseName(OpAsmParser &parser, StringRef expected, std::optional<Enum> (*symbolize)(StringRef),
                      EnumAttr &value) {
  SMLoc loc = parser.getCurrentLocation();
  std::string word;
  bool given = succeeded(parser.parseOptionalKeywordOrString(&word));
  std::optional<Enum> found = given ? symbolize(word) : std::nullopt;
  if (!found) {
    InFlightDiagnostic error = parser.emitError(loc, "expected ") << expected;
    return given ? error << ", but got '" << word << "'" : error;
  }
  value = EnumAttr::get(parser.getContext(), *found);
  return success();
}
} // namespace mlir::ad

#endif // ADJOINT_LIB_DIALECT_AD_IR_ATTRIBUTES_NAMEDIRECTIVES_H
