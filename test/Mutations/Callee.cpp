// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
#include "Callee.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Demangle/Demangle.h"
#include "llvm/IR/Function.h"

#include <cstdlib>

using namespace llvm;

namespace adjoint::mutations {
namespace {

std::string taken(char *text) {
  std::string result = text ? text : "";
  std::free(text);
  return result;
}

/// "a<b::c>::d" → {"a<b::c>", "d"}.
std::pair<StringRef, StringRef> splitName(StringRef name) {
  // Names of operators may consist of brackets.
  size_t found = name.rfind("::operator");
  if (found != StringRef::npos)
    return {name.substr(0, found), name.substr(found + 2)};
  int depth = 0;
  for (size_t i = name.size(); i > 1; --i) {
    depth += StringRef(">)}").contains(name[i - 1]) - StringRef("<({").contains(name[i - 1]);
    if (depth == 0 && name.slice(i - 2, i) == "::")
      return {name.slice(0, i - 2), name.substr(i)};
  }
  return {"", name};
}

/// "(a, b<c, d>)" → {"a", "b<c, d>"}.
std::vector<std::string> splitParameters(StringRef text) {
  std::vector<std::string> result;
  if (!text.consume_front("(") || !text.consume_back(")") || text.empty())
    return result;
  int depth = 0;
  size_t begin = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    depth += StringRef("<([{").contains(text[i]) - StringRef(">)]}").contains(text[i]);
    if (text[i] == ',' && depth == 0) {
      result.push_back(text.slice(begin, i).trim().str());
      begin = i + 1;
    }
  }
  result.push_back(text.substr(begin).trim().str());
  return result;
}

/// Classes of a pointer and a size are passed as two arguments.
unsigned numArguments(StringRef type) {
  if (type.ends_with("&") || type.ends_with("*"))
    return 1;
  bool pair = type.starts_with("llvm::ArrayRef<") || type.starts_with("llvm::MutableArrayRef<") ||
              type.starts_with("llvm::function_ref<") || type == "llvm::StringRef" ||
              type == "mlir::ValueRange" || type == "mlir::TypeRange" || type == "mlir::OperandRange" ||
              type == "mlir::ResultRange";
  return pair ? 2 : 1;
}

} // namespace

std::string Callee::qualified() const {
  std::string result;
  int depth = 0;
  for (char c : scope) {
    depth += c == '<';
    if (depth == 0)
      result += c;
    depth -= c == '>';
  }
  return result.empty() ? name : result + "::" + name;
}

bool isConstructorOrDestructor(StringRef mangled) {
  std::string name = mangled.str();
  ItaniumPartialDemangler demangler;
  return !demangler.partialDemangle(name.c_str()) && demangler.isCtorOrDtor();
}

std::optional<Callee> calleeOf(const CallBase &call) {
  const Function *function = call.getCalledFunction();
  if (!function || function->isIntrinsic())
    return std::nullopt;
  ItaniumPartialDemangler demangler;
  std::string mangled = function->getName().str(); // the demangler keeps references into it
  if (demangler.partialDemangle(mangled.c_str()) || !demangler.isFunction())
    return std::nullopt;
  Callee callee;
  std::string name = taken(demangler.getFunctionName(nullptr, nullptr));
  callee.scope = splitName(name).first.str();
  StringRef own = splitName(name).second;
  // The names of some operators contain the character that opens the arguments of a template.
  size_t end = own.starts_with("operator<") ? own.find('<', own.find_first_not_of('<', 8)) : own.find('<');
  callee.name = own.substr(0, end).str();
  callee.templateArguments = own.substr(std::min(end, own.size())).str();
  callee.isConstructorOrDestructor = demangler.isCtorOrDtor();
  callee.parameters = splitParameters(taken(demangler.getFunctionParameters(nullptr, nullptr)));
  return callee;
}

std::vector<unsigned> argumentsOfParameters(const CallBase &call, const Callee &callee) {
  unsigned needed = 0;
  for (StringRef type : callee.parameters)
    needed += numArguments(type);
  unsigned hidden = call.hasStructRetAttr();
  if (call.arg_size() < hidden + needed || call.arg_size() > hidden + needed + 1)
    return {};
  // One more is the object of a member function.
  unsigned position = call.arg_size() - needed;
  std::vector<unsigned> result;
  for (StringRef type : callee.parameters) {
    result.push_back(position);
    position += numArguments(type);
  }
  result.push_back(position);
  return result;
}

} // namespace adjoint::mutations
