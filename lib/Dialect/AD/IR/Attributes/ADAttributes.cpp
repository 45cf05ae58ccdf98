// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Attributes of the `ad` dialect and the numerics contract that they carry.

#include "BufferAssembly.h"
#include "LaunchAssembly.h"
#include "adjoint/Dialect/AD/IR/ADPrecisionAttributes.h"
#include "adjoint/Dialect/AD/IR/NumericsContract.h"
#include "adjoint/Dialect/AD/IR/NumericsOpInterface.h"
#include "adjoint/Dialect/AD/IR/Permissions.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::ad;

#include "adjoint/Dialect/AD/IR/NumericsOpInterface.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "adjoint/Dialect/AD/IR/ADAttributes.cpp.inc"

AsmPrinter &numerics::operator<<(AsmPrinter &printer, Elementary function) {
  return printer << StringRef(elementaryName(function));
}

// The words of the parsers that TableGen makes for enumerations.
FailureOr<numerics::Elementary> FieldParser<numerics::Elementary>::parse(AsmParser &parser) {
  SMLoc loc = parser.getCurrentLocation();
  std::string word;
  if (failed(parser.parseOptionalKeywordOrString(&word)))
    return parser.emitError(loc, "expected keyword for an elementary function");
  if (std::optional<numerics::Elementary> function = numerics::elementaryFromName(word))
    return *function;
  InFlightDiagnostic error = parser.emitError(loc, "expected one of [");
  llvm::interleaveComma(llvm::seq(numerics::elementaryCount), error, [&](int number) {
    error << StringRef(numerics::elementaryName(static_cast<numerics::Elementary>(number)));
  });
  return error << "] for an elementary function, got: " << word;
}

void ADDialect::registerAttributes() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "adjoint/Dialect/AD/IR/ADAttributes.cpp.inc"
      >();
}

Permissions ad::permissionsOfMode(NumericsMode mode) {
  switch (mode) {
  case NumericsMode::reproducible:
    return Permissions::none;
  case NumericsMode::strict:
    return Permissions::reorder | Permissions::mma;
  case NumericsMode::fast:
    return Permissions::reorder | Permissions::algebra | Permissions::contract | Permissions::widen |
           Permissions::mma | Permissions::approx;
  }
  return Permissions::none;
}

Permissions NumericsAttr::permissions() const { return permissionsOfMode(getMode()) | getExtra(); }

NumericsAttr ad::numericsInForceAt(Operation *op) {
  for (; op; op = op->getParentOp())
    if (isa<FunctionOpInterface, ModuleOp>(op))
      if (auto attr = op->getAttrOfType<NumericsAttr>(ADDialect::kNumericsAttr))
        return attr;
  return nullptr;
}

// permission|permission: none alone, the others once.
static FailureOr<Permissions> parsePermissions(AsmParser &parser) {
  Permissions value = Permissions::none;
  bool hasNone = false;
  do {
    SMLoc loc = parser.getCurrentLocation();
    StringRef word;
    if (parser.parseKeyword(&word))
      return failure();
    std::optional<Permissions> one = symbolizePermissions(word);
    if (!one)
      return parser.emitError(
                 loc, "expected reorder, algebra, contract, widen, mma, narrow, approx, finite or none, "
                      "but got '")
             << word << (symbolizeNumericsMode(word) ? "', a mode; permissions follow one mode" : "'");
    if (hasNone || (*one == Permissions::none && value != *one))
      return parser.emitError(loc, "expected 'none' without other permissions");
    if (*one != Permissions::none && allows(value, *one))
      return parser.emitError(loc, "expected distinct permissions, but got '") << word << "' twice";
    hasNone = *one == Permissions::none;
    value = value | *one;
  } while (succeeded(parser.parseOptionalVerticalBar()));
  return value;
}

std::string ad::checkContract(NumericsMode mode, Permissions extra) {
  if (mode != NumericsMode::reproducible || extra == Permissions::none)
    return "";
  return "expected no permissions after reproducible, which promises the same bits everywhere, but got " +
         stringifyPermissions(extra) + "; use strict or fast";
}

// <mode> or <mode, permissions>
Attribute NumericsAttr::parse(AsmParser &parser, Type) {
  StringRef word;
  SMLoc loc;
  if (parser.parseLess() || (loc = parser.getCurrentLocation(), parser.parseKeyword(&word)))
    return {};
  std::optional<NumericsMode> mode = symbolizeNumericsMode(word);
  if (!mode) {
    parser.emitError(loc, "expected reproducible, strict or fast, but got '") << word << "'";
    return {};
  }
  Permissions extra = Permissions::none;
  if (succeeded(parser.parseOptionalComma())) {
    loc = parser.getCurrentLocation();
    FailureOr<Permissions> given = parsePermissions(parser);
    if (failed(given))
      return {};
    extra = *given;
  }
  if (std::string problem = checkContract(*mode, extra); !problem.empty()) {
    parser.emitError(loc, problem);
    return {};
  }
  if (parser.parseGreater())
    return {};
  return NumericsAttr::get(parser.getContext(), *mode, extra);
}

void NumericsAttr::print(AsmPrinter &printer) const {
  printer << "<" << stringifyNumericsMode(getMode());
  if (getExtra() != Permissions::none)
    printer << ", " << stringifyPermissions(getExtra());
  printer << ">";
}

Attribute PermissionsAttr::parse(AsmParser &parser, Type) {
  if (parser.parseLess())
    return {};
  FailureOr<Permissions> value = parsePermissions(parser);
  if (failed(value) || parser.parseGreater())
    return {};
  return PermissionsAttr::get(parser.getContext(), *value);
}

void PermissionsAttr::print(AsmPrinter &printer) const {
  printer << "<" << stringifyPermissions(getValue()) << ">";
}

// Of 16-bit floats, and of 8-bit floats.
LogicalResult InstructionAttr::verify(function_ref<InFlightDiagnostic()> emitError, int64_t m, int64_t n,
                                      int64_t k, int64_t promote, int64_t chain) {
  if (m != kM || n != kN || (k != kShortK && k != kByteK))
    return emitError() << "expected the instruction m = " << kM << ", n = " << kN << ", k = " << kShortK
                       << " or k = " << kByteK << ", but got m = " << m << ", n = " << n << ", k = " << k;
  if (promote < (k == kByteK ? k : 0) || promote % k != 0)
    return emitError() << "expected promote to be " << (k == kByteK ? "" : "0 or ")
                       << "a positive multiple of k = " << k << ", but got " << promote;
  if (chain < 0 || chain % kChainUnit != 0 || (promote != 0 && chain % promote != 0))
    return emitError() << "expected chain to be 0 or a positive multiple of " << kChainUnit
                       << (promote != 0 ? " and of promote" : "") << ", but got " << chain;
  return success();
}

Type ad::accumulatorType(Type element) {
  if (isa<FloatType>(element))
    return element.isF64() ? element : Float32Type::get(element.getContext());
  return element.isInteger(8) ? IntegerType::get(element.getContext(), 32) : element;
}

Type ad::computeType(Type element) {
  if (isa<FloatType>(element) && element.getIntOrFloatBitWidth() < 32)
    return Float32Type::get(element.getContext());
  return element;
}
