// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Assembly and checks of #ad.precision.

#include "adjoint/Dialect/AD/IR/ADPrecisionAttributes.h"
#include "adjoint/Numerics/BuiltinPolicies.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace mlir::ad;

static bool isPolicyName(StringRef name) {
  return name == kNoPrecision || !numerics::builtinPolicyText(name).empty();
}

std::optional<numerics::PrecisionPolicy> ad::policyOf(PrecisionAttr attribute) {
  StringRef name = attribute.getName();
  if (name == kNoPrecision)
    return std::nullopt;
  if (!name.empty())
    return llvm::cantFail(numerics::loadPolicy(name));
  auto texts = [](ArrayRef<StringAttr> names) {
    std::vector<std::string> result;
    for (StringAttr one : names)
      result.push_back(one.str());
    return result;
  };
  return numerics::PrecisionPolicy{kPrecisionAttr.str(),
                                   attribute.getCompute().str(),
                                   attribute.getGradient().str(),
                                   attribute.getResult().str(),
                                   attribute.getAccumulate().str(),
                                   texts(attribute.getAlways()),
                                   texts(attribute.getFollow()),
                                   texts(attribute.getNever()),
                                   *numerics::ruleFromName(attribute.getDefaultRule())};
}

//===- Assembly -----------------------------------------------------------===//

namespace {
// The parameters of a policy, each of which may be given once.
class PolicyParser {
public:
  explicit PolicyParser(AsmParser &parser) : parser(parser) {}

  // The key has been parsed.
  ParseResult parse(StringRef key, SMLoc loc) {
    while (true) {
      if (parseValue(key, loc))
        return failure();
      if (failed(parser.parseOptionalComma()))
        return success();
      loc = parser.getCurrentLocation();
      if (parser.parseKeyword(&key))
        return failure();
    }
  }

  numerics::PrecisionPolicy policy;

private:
  ParseResult parseValue(StringRef key, SMLoc loc) {
    static constexpr StringRef keys[] = {"compute", "gradient", "result", "accumulate",
                                         "always",  "follow",   "never",  "default"};
    if (!llvm::is_contained(keys, key))
      return parser.emitError(loc, "expected compute, gradient, result, accumulate, always, follow, never or "
                                   "default, but got '")
             << key << "'";
    if (llvm::is_contained(seen, key))
      return parser.emitError(loc, "expected distinct parameters, but got '") << key << "' twice";
    seen.push_back(key);
    if (parser.parseEqual())
      return failure();
    if (std::string *word = key == "compute"      ? &policy.compute
                            : key == "gradient"   ? &policy.gradient
                            : key == "result"     ? &policy.result
                            : key == "accumulate" ? &policy.accumulate
                                                  : nullptr)
      return parser.parseKeywordOrString(word);
    if (key == "default")
      return parseDefault();
    auto &list = key == "always" ? policy.always : key == "follow" ? policy.follow : policy.never;
    return parser.parseCommaSeparatedList(AsmParser::Delimiter::Square,
                                          [&] { return parser.parseKeywordOrString(&list.emplace_back()); });
  }

  ParseResult parseDefault() {
    SMLoc loc = parser.getCurrentLocation();
    StringRef word;
    if (parser.parseKeyword(&word))
      return failure();
    std::optional<numerics::PrecisionRule> rule = numerics::ruleFromName(word);
    if (!rule)
      return parser.emitError(loc, "expected always, follow or never as the default, but got '")
             << word << "'";
    policy.defaultRule = *rule;
    return success();
  }

  AsmParser &parser;
  SmallVector<StringRef> seen;
};
} // namespace

PrecisionAttr ad::precisionAttrOf(MLIRContext *context, const numerics::PrecisionPolicy &policy) {
  auto names = [&](ArrayRef<std::string> list) {
    return llvm::map_to_vector(list, [&](const std::string &name) { return StringAttr::get(context, name); });
  };
  return PrecisionAttr::get(context, "", policy.compute, policy.gradient, policy.result, policy.accumulate,
                            names(policy.always), names(policy.follow), names(policy.never),
                            numerics::ruleName(policy.defaultRule));
}

PrecisionAttr ad::precisionAttrOf(MLIRContext *context, StringRef name) {
  return PrecisionAttr::get(context, name, "", "", "", "", {}, {}, {}, "");
}

Attribute PrecisionAttr::parse(AsmParser &parser, Type) {
  if (parser.parseLess())
    return {};
  SMLoc loc = parser.getCurrentLocation();
  StringRef word;
  if (parser.parseKeyword(&word))
    return {};
  if (succeeded(parser.parseOptionalGreater())) {
    if (isPolicyName(word) || numerics::ruleFromName(word))
      return precisionAttrOf(parser.getContext(), word);
    parser.emitError(loc, "expected ") << llvm::join(numerics::builtinPolicyNames(), ", ")
                                       << " or none as the policy, always, follow or never as the rule of an "
                                          "operation, or 'compute = TYPE', "
                                       << "but got '" << word << "'";
    return {};
  }
  PolicyParser policies(parser);
  if (policies.parse(word, loc) || parser.parseGreater())
    return {};
  numerics::PrecisionPolicy &policy = policies.policy;
  numerics::setDefaultTypes(policy);
  if (std::string problem = numerics::checkPolicy(policy); !problem.empty()) {
    parser.emitError(loc, problem);
    return {};
  }
  return precisionAttrOf(parser.getContext(), policy);
}

static void printList(AsmPrinter &printer, StringRef key, ArrayRef<StringAttr> names) {
  if (names.empty())
    return;
  printer << ", " << key << " = [";
  llvm::interleaveComma(names, printer, [&](StringAttr name) { printer.printKeywordOrString(name); });
  printer << "]";
}

void PrecisionAttr::print(AsmPrinter &printer) const {
  if (!getName().empty()) {
    printer << "<" << getName() << ">";
    return;
  }
  printer << "<compute = " << getCompute();
  numerics::PrecisionPolicy defaults;
  defaults.compute = getCompute();
  numerics::setDefaultTypes(defaults);
  if (getGradient() != defaults.gradient)
    printer << ", gradient = " << getGradient();
  if (getResult() != defaults.result)
    printer << ", result = " << getResult();
  if (getAccumulate() != defaults.accumulate)
    printer << ", accumulate = " << getAccumulate();
  printList(printer, "always", getAlways());
  printList(printer, "follow", getFollow());
  printList(printer, "never", getNever());
  if (getDefaultRule() != numerics::ruleName(numerics::PrecisionRule::never))
    printer << ", default = " << getDefaultRule();
  printer << ">";
}

//===- Checks -------------------------------------------------------------===//

LogicalResult ad::verifyPrecisionAttribute(Operation *op, NamedAttribute attribute) {
  auto precision = dyn_cast<PrecisionAttr>(attribute.getValue());
  if (!precision)
    return op->emitOpError("expected '") << kPrecisionAttr << "' to be #ad.precision<POLICY>, such as "
                                         << "#ad.precision<bf16>, but got " << attribute.getValue();
  bool isRule = numerics::ruleFromName(precision.getName()).has_value();
  bool takesPolicy = isa<ModuleOp, FunctionOpInterface>(op);
  if (takesPolicy && isRule)
    return op->emitOpError("expected a policy as '")
           << kPrecisionAttr << "' of a module or function, but got " << precision
           << ", the rule of an operation";
  if (!takesPolicy && !isRule)
    return op->emitOpError("expected always, follow or never as '")
           << kPrecisionAttr << "' of an operation, but got the policy " << precision;
  return success();
}
