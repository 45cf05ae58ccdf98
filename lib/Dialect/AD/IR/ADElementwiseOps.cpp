// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Elementwise operations: generated definitions. What they do is in BroadcastTypes.cpp and
// ADElementwiseFolders.cpp.

#include "Elementwise.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::ad;

// One of the names of an enumeration, as a keyword. The parsers that TableGen makes add a second error in the
// words of C++.
template <typename Enum>
static ParseResult parseName(OpAsmParser &parser, StringRef expected,
                             std::optional<Enum> (*symbolize)(StringRef), Enum &value) {
  SMLoc loc = parser.getCurrentLocation();
  std::string word;
  bool given = succeeded(parser.parseOptionalKeywordOrString(&word));
  std::optional<Enum> found = given ? symbolize(word) : std::nullopt;
  if (!found) {
    InFlightDiagnostic error = parser.emitError(loc, "expected ") << expected;
    return given ? error << ", but got '" << word << "'" : error;
  }
  value = *found;
  return success();
}

static ParseResult parsePredicate(OpAsmParser &parser, ComparePredicateAttr &predicate) {
  ComparePredicate value;
  if (parseName<ComparePredicate>(parser, "eq, ne, lt, le, gt or ge", symbolizeComparePredicate, value))
    return failure();
  predicate = ComparePredicateAttr::get(parser.getContext(), value);
  return success();
}

static void printPredicate(OpAsmPrinter &printer, Operation *, ComparePredicateAttr predicate) {
  printer << stringifyComparePredicate(predicate.getValue());
}

static ParseResult parseForm(OpAsmParser &parser, GeluFormAttr &form) {
  GeluForm value;
  if (parseName<GeluForm>(parser, "none or tanh", symbolizeGeluForm, value))
    return failure();
  form = GeluFormAttr::get(parser.getContext(), value);
  return success();
}

static void printForm(OpAsmPrinter &printer, Operation *, GeluFormAttr form) {
  printer << stringifyGeluForm(form.getValue());
}

#define GET_OP_CLASSES
#include "adjoint/Dialect/AD/IR/ADElementwiseOps.cpp.inc"

void ADDialect::registerElementwiseOps() {
  addOperations<
#define GET_OP_LIST
#include "adjoint/Dialect/AD/IR/ADElementwiseOps.cpp.inc"
      >();
}
