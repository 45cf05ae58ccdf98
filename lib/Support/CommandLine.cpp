// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Command lines of tools.
#include "adjoint/Support/CommandLine.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir::ad::runner;
using llvm::ArrayRef;
using llvm::Error;
using llvm::StringRef;
using llvm::Twine;
using llvm::opt::Arg;
using llvm::opt::Option;

std::string mlir::ad::runner::suggestValue(StringRef given, ArrayRef<StringRef> known) {
  StringRef best;
  unsigned distance = given.size() / 2 + 1;
  for (StringRef candidate : known) {
    // A prefix of a name is preferred to any edit distance.
    if (!given.empty() && candidate.starts_with(given))
      return (", did you mean '" + candidate + "'?").str();
    unsigned current = given.edit_distance(candidate, /*AllowReplacements=*/true, distance);
    if (current < distance) {
      distance = current;
      best = candidate;
    }
  }
  return best.empty() ? "" : (", did you mean '" + best + "'?").str();
}

// A suggestion must share two thirds of the name.
std::string CommandLine::suggestOption(StringRef given) const {
  std::string nearest;
  StringRef name = given.split('=').first;
  if (table.findNearest(name, nearest, visibility) > name.size() / 3)
    return "";
  return (", did you mean '" + StringRef(nearest).rtrim('=') + "'?").str();
}

Error CommandLine::checkUnknown(unsigned unknownId) const {
  const Arg *unknown = list.getLastArgNoClaim(unknownId);
  if (!unknown)
    return Error::success();
  std::string given = unknown->getAsString(list);
  StringRef name = StringRef(given).split('=').first;
  for (unsigned id = 1; id <= table.getNumOptions() && name != given; ++id)
    if (Option option = table.getOption(id); option.getKind() == Option::FlagClass &&
                                             option.hasVisibilityFlag(visibility) &&
                                             option.getPrefixedName() == name)
      return usageError("option '" + name + "' takes no value, found '" + given + "'");
  return usageError("unknown option '" + given + "'" + suggestOption(given));
}

Error CommandLine::checkValues(ArrayRef<unsigned> repeatable) const {
  for (const Arg *arg : list) {
    const Option &option = arg->getOption();
    if (arg->getNumValues() == 0 || option.getKind() == Option::InputClass ||
        option.getKind() == Option::UnknownClass)
      continue;
    if (StringRef(arg->getValue()).empty())
      return usageError("option '" + option.getPrefixedName() + "' expects a value");
    bool isRepeatable = llvm::any_of(repeatable, [&](unsigned id) { return option.matches(id); });
    if (!isRepeatable && list.getLastArgNoClaim(option.getID()) != arg)
      return usageError("option '" + option.getPrefixedName() + "' is given twice");
  }
  return Error::success();
}

Error CommandLine::readCount(unsigned id, unsigned minimum, unsigned maximum, unsigned &value) const {
  if (!list.hasArg(id))
    return Error::success();
  std::string given = text(id);
  if (StringRef(given).getAsInteger(10, value) || value < minimum || value > maximum)
    return usageError("expected " + table.getOption(id).getPrefixedName() + " with a number from " +
                      Twine(minimum) + " to " + Twine(maximum) + ", found '" + given + "'");
  return Error::success();
}

Error CommandLine::readName(unsigned id, StringRef what, ArrayRef<StringRef> names,
                            std::string &value) const {
  value = text(id, value);
  if (llvm::is_contained(names, value))
    return Error::success();
  std::string expected = llvm::join(names.drop_back(), ", ") + " or " + names.back().str();
  // Another number is no misspelling: sm_80 is no suggestion for sm_70.
  StringRef stem = StringRef(value).rtrim("0123456789");
  bool isOtherNumber = stem.ends_with("_") &&
                       llvm::any_of(names, [&](StringRef name) { return name.rtrim("0123456789") == stem; });
  return usageError("unknown " + what + " '" + value + "', expected " + expected +
                    (isOtherNumber ? std::string() : suggestValue(value, names)));
}
