// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Policies of mixed precision as files in YAML.

#include "adjoint/Numerics/PrecisionPolicy.h"
#include "PolicyText.h"
#include "adjoint/Numerics/BuiltinPolicies.h"
#include "adjoint/Support/Nesting.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/YAMLTraits.h"

using namespace mlir::ad::numerics;
using llvm::StringRef;

static constexpr StringRef ruleNames[] = {"always", "follow", "never"};
static constexpr PrecisionRule rules[] = {PrecisionRule::always, PrecisionRule::follow, PrecisionRule::never};

StringRef mlir::ad::numerics::ruleName(PrecisionRule rule) { return ruleNames[static_cast<int>(rule)]; }

std::optional<PrecisionRule> mlir::ad::numerics::ruleFromName(StringRef name) {
  for (PrecisionRule rule : rules)
    if (ruleName(rule) == name)
      return rule;
  return std::nullopt;
}

llvm::ArrayRef<std::string> PrecisionPolicy::operationsOf(PrecisionRule rule) const {
  return rule == PrecisionRule::always ? always : rule == PrecisionRule::follow ? follow : never;
}

std::optional<PrecisionRule> PrecisionPolicy::find(StringRef name) const {
  for (PrecisionRule rule : rules)
    if (llvm::is_contained(operationsOf(rule), name))
      return rule;
  return std::nullopt;
}

static bool isHalf(StringRef type) { return type == "bf16" || type == "f16"; }
static bool isByte(StringRef type) { return type == "f8E4M3FN" || type == "f8E5M2"; }
static bool isNarrow(StringRef type) { return isHalf(type) || isByte(type); }
static bool isAccumulate(StringRef word) { return word == "f32" || word == "narrow"; }

static constexpr char expectedCompute[] = "expected bf16, f16, f8E4M3FN or f8E5M2 as the type to compute in";
static constexpr char expectedGradient[] = "expected f8E4M3FN or f8E5M2 as the type of gradients";
static constexpr char expectedAccumulate[] =
    "expected f32 or narrow (the type of the value) as the type in which cotangents are added";

bool mlir::ad::numerics::computesInBytes(const PrecisionPolicy &policy) { return isByte(policy.compute); }

void mlir::ad::numerics::setDefaultTypes(PrecisionPolicy &policy) {
  bool bytes = computesInBytes(policy);
  if (policy.gradient.empty() && bytes)
    policy.gradient = "f8E5M2";
  if (policy.result.empty())
    policy.result = bytes ? "f32" : policy.compute;
  if (policy.accumulate.empty())
    policy.accumulate = "narrow";
}

// What is wrong with the types of results and gradients; the narrow type is known.
static std::string checkTypes(const PrecisionPolicy &policy) {
  if (!mlir::ad::numerics::computesInBytes(policy)) {
    if (!policy.gradient.empty())
      return "expected a type of gradients only with an 8-bit type to compute in, but got '" +
             policy.gradient + "' with " + policy.compute;
    if (policy.result != policy.compute && policy.result != "f32")
      return "expected " + policy.compute + " or f32 as the type of results, but got '" + policy.result + "'";
    return "";
  }
  if (!isByte(policy.gradient))
    return std::string(expectedGradient) + ", but got '" + policy.gradient + "'";
  if (!isHalf(policy.result) && policy.result != "f32")
    return "expected bf16, f16 or f32 as the type of results, but got '" + policy.result + "'";
  if (policy.defaultRule == PrecisionRule::always)
    return "expected follow or never as the default with an 8-bit type to compute in, but got always";
  return "";
}

std::string mlir::ad::numerics::checkPolicy(const PrecisionPolicy &policy) {
  if (!isNarrow(policy.compute))
    return std::string(expectedCompute) + ", but got '" + policy.compute + "'";
  if (std::string problem = checkTypes(policy); !problem.empty())
    return problem;
  if (!isAccumulate(policy.accumulate))
    return std::string(expectedAccumulate) + ", but got '" + policy.accumulate + "'";
  llvm::StringSet<> seen;
  for (PrecisionRule rule : rules)
    for (const std::string &name : policy.operationsOf(rule))
      if (!seen.insert(name).second)
        return "expected each operation once in one list, but got '" + name + "' again in " +
               ruleName(rule).str();
  return "";
}

//===- YAML ---------------------------------------------------------------===//

namespace {
// Words of a file that are checked where they are, so that an error has their position.
struct NarrowType {
  std::string name;
};
struct GradientType {
  std::string name;
};
struct ResultType {
  std::string name;
};
struct AccumulateType {
  std::string name;
};
} // namespace

namespace llvm::yaml {
/// What the words of all keys have in common.
template <typename T> struct WordTraits {
  static void output(const T &word, void *, raw_ostream &os) { os << word.name; }
  static QuotingType mustQuote(StringRef) { return QuotingType::None; }
};

template <> struct ScalarTraits<NarrowType> : WordTraits<NarrowType> {
  static StringRef input(StringRef word, void *, NarrowType &type) {
    type.name = word.str();
    return isNarrow(word) ? "" : expectedCompute;
  }
};

template <> struct ScalarTraits<GradientType> : WordTraits<GradientType> {
  static StringRef input(StringRef word, void *, GradientType &type) {
    type.name = word.str();
    return isByte(word) ? "" : expectedGradient;
  }
};

template <> struct ScalarTraits<ResultType> : WordTraits<ResultType> {
  static StringRef input(StringRef word, void *, ResultType &type) {
    type.name = word.str();
    return isHalf(word) || word == "f32" ? "" : "expected bf16, f16 or f32 as the type of results";
  }
};

template <> struct ScalarTraits<AccumulateType> : WordTraits<AccumulateType> {
  static StringRef input(StringRef word, void *, AccumulateType &type) {
    type.name = word.str();
    return isAccumulate(word) ? "" : expectedAccumulate;
  }
};

template <> struct ScalarTraits<PrecisionRule> {
  static void output(const PrecisionRule &rule, void *, raw_ostream &os) { os << ruleName(rule); }
  static StringRef input(StringRef word, void *, PrecisionRule &rule) {
    std::optional<PrecisionRule> known = ruleFromName(word);
    rule = known.value_or(PrecisionRule::never);
    return known ? "" : "expected always, follow or never as the default";
  }
  static QuotingType mustQuote(StringRef) { return QuotingType::None; }
};

template <> struct MappingTraits<PrecisionPolicy> {
  static void mapping(IO &io, PrecisionPolicy &policy) {
    NarrowType compute;
    io.mapRequired("compute", compute);
    policy.compute = compute.name;
    GradientType gradient;
    io.mapOptional("gradient", gradient);
    policy.gradient = gradient.name;
    ResultType result;
    io.mapOptional("result", result);
    policy.result = result.name;
    AccumulateType accumulate;
    io.mapOptional("accumulate", accumulate);
    policy.accumulate = accumulate.name;
    mlir::ad::numerics::setDefaultTypes(policy);
    io.mapOptional("always", policy.always);
    io.mapOptional("follow", policy.follow);
    io.mapOptional("never", policy.never);
    io.mapOptional("default", policy.defaultRule);
  }
  static std::string validate(IO &io, PrecisionPolicy &policy) {
    return io.error() ? std::string() : checkPolicy(policy);
  }
};
} // namespace llvm::yaml

static constexpr char keyList[] =
    ", expected compute, gradient, result, accumulate, always, follow, never or default";

// The first problem, as FILE:LINE:COLUMN: what is wrong. A problem of the whole file has no position.
static void keepProblem(const llvm::SMDiagnostic &diagnostic, void *problem) {
  auto &text = *static_cast<std::string *>(problem);
  if (!text.empty())
    return;
  if (diagnostic.getLineNo() > 0)
    text = std::to_string(diagnostic.getLineNo()) + ":" + std::to_string(diagnostic.getColumnNo() + 1) + ": ";
  text += diagnostic.getMessage();
  if (diagnostic.getMessage().starts_with("unknown key"))
    text += keyList;
}

// Why the text is not parsed at all, with its place, or empty.
static std::string findLimit(StringRef text) {
  constexpr size_t kMaxBytes = size_t(1) << 16; // the parser takes quadratic time
  if (text.size() > kMaxBytes)
    return "1:1: expected a policy of at most " + std::to_string(kMaxBytes) + " bytes";
  std::optional<mlir::ad::UnreadableText> deep = mlir::ad::findTooDeepInYAML(text);
  if (!deep)
    return "";
  StringRef before = text.take_front(deep->at - text.data());
  size_t line = before.count('\n') + 1,
         column = before.size() - before.take_front(before.rfind('\n') + 1).size() + 1;
  return std::to_string(line) + ":" + std::to_string(column) + ": " + deep->message;
}

llvm::Expected<PrecisionPolicy> mlir::ad::numerics::parsePolicy(StringRef text, StringRef file) {
  if (std::string problem = findLimit(text); !problem.empty())
    return llvm::createStringError(file + ":" + problem);
  PolicyText examined = examinePolicy(text);
  std::string problem = std::move(examined.problem);
  llvm::yaml::Input input(text, nullptr, keepProblem, &problem);
  PrecisionPolicy policy;
  policy.name = file.str();
  for (const auto &[name, place] : examined.places)
    policy.places[name] = (file + ":" + place).str();
  input >> policy;
  if (problem.empty() && policy.compute.empty()) // an empty file, about which YAML says nothing
    problem = "1:1: missing required key 'compute'";
  if (!problem.empty())
    return llvm::createStringError(file + ":" + problem);
  return policy;
}

llvm::Expected<PrecisionPolicy> mlir::ad::numerics::loadPolicy(StringRef nameOrFile, bool takesNone) {
  if (std::string_view text = builtinPolicyText(nameOrFile); !text.empty())
    return parsePolicy(text, nameOrFile);
  if (!nameOrFile.ends_with(".yaml"))
    return llvm::createStringError("expected " + llvm::join(builtinPolicyNames(), ", ") +
                                   (takesNone ? ", none" : "") + " or FILE.yaml as the policy, but got '" +
                                   nameOrFile + "'");
  auto buffer = llvm::MemoryBuffer::getFile(nameOrFile);
  if (std::error_code code = buffer.getError())
    return llvm::createStringError(code, "cannot read policy '" + nameOrFile + "': " + code.message());
  return parsePolicy((*buffer)->getBuffer(), nameOrFile);
}
