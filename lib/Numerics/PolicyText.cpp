// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// LLVM's reader of values stops after the first document, says of an alias that it is an unknown kind of
// node, says of a value of another kind only that it is unexpected, and keeps no places.

#include "PolicyText.h"
#include "adjoint/Numerics/PrecisionPolicy.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/YAMLParser.h"
#include "llvm/Support/YAMLTraits.h"

using namespace mlir::ad::numerics;
using llvm::StringRef;
namespace yaml = llvm::yaml;

static bool takesWord(StringRef key) {
  return llvm::StringSwitch<bool>(key)
      .Cases({"compute", "gradient", "result", "accumulate", "default"}, true)
      .Default(false);
}

namespace {
class Examination {
public:
  explicit Examination(StringRef text) : stream(text, sources) {
    sources.setDiagHandler([](const llvm::SMDiagnostic &, void *) {});
  }

  PolicyText run() {
    unsigned count = 0;
    for (yaml::Document &document : stream) {
      yaml::Node *root = document.getRoot();
      if (stream.failed() || !root)
        break;
      if (++count > 1) {
        complain(root->getSourceRange().Start, "expected one document, but got another");
        break;
      }
      if (auto *mapping = llvm::dyn_cast<yaml::MappingNode>(root))
        for (yaml::KeyValueNode &entry : *mapping)
          visitEntry(entry);
      else
        visit(root, /*isListed=*/false);
      if (stream.failed())
        break;
    }
    if (stream.failed())
      found.problem.clear();
    return std::move(found);
  }

private:
  void visitEntry(yaml::KeyValueNode &entry) {
    llvm::SmallString<16> storage;
    auto *key = llvm::dyn_cast_or_null<yaml::ScalarNode>(entry.getKey());
    std::string name = key ? key->getValue(storage).str() : "";
    visit(entry.getKey(), /*isListed=*/false);
    yaml::Node *value = entry.getValue();
    if (takesWord(name) &&
        llvm::isa_and_nonnull<yaml::NullNode, yaml::SequenceNode, yaml::MappingNode>(value))
      complain(key->getSourceRange().Start, "expected one word as the value of '" + name + "'");
    if (ruleFromName(name))
      return visitList(value, name, key->getSourceRange().Start);
    visit(value, /*isListed=*/false);
  }

  // A list may lack: the reader takes that, and the words for null, for no elements.
  void visitList(yaml::Node *value, const std::string &key, llvm::SMLoc place) {
    std::string expected = "expected a list of names of operations as the value of '" + key + "'";
    auto *list = llvm::dyn_cast_or_null<yaml::SequenceNode>(value);
    if (!list) {
      if (value && !llvm::isa<yaml::NullNode, yaml::AliasNode>(value) && !isNullWord(value))
        complain(place, expected);
      return visit(value, /*isListed=*/false);
    }
    for (yaml::Node &element : *list) {
      if (!llvm::isa<yaml::ScalarNode, yaml::AliasNode>(element))
        complain(place, expected);
      visit(&element, /*isListed=*/true);
    }
  }

  static bool isNullWord(yaml::Node *value) {
    auto *scalar = llvm::dyn_cast<yaml::ScalarNode>(value);
    llvm::SmallString<8> storage;
    return scalar && llvm::yaml::isNull(scalar->getValue(storage));
  }

  void visit(yaml::Node *node, bool isListed) {
    if (!node || stream.failed())
      return;
    if (auto *alias = llvm::dyn_cast<yaml::AliasNode>(node)) {
      // The range of the node begins after it.
      auto star = llvm::SMLoc::getFromPointer(alias->getName().data() - 1);
      return complain(star, "expected the value itself, but got the alias '*" + alias->getName().str() + "'");
    }
    if (auto *scalar = llvm::dyn_cast<yaml::ScalarNode>(node)) {
      llvm::SmallString<32> storage;
      if (isListed)
        found.places.try_emplace(scalar->getValue(storage), placeOf(scalar->getSourceRange().Start));
      return;
    }
    if (auto *list = llvm::dyn_cast<yaml::SequenceNode>(node))
      for (yaml::Node &element : *list)
        visit(&element, /*isListed=*/true);
    if (auto *mapping = llvm::dyn_cast<yaml::MappingNode>(node))
      for (yaml::KeyValueNode &entry : *mapping) {
        visit(entry.getKey(), /*isListed=*/false);
        visit(entry.getValue(), /*isListed=*/false);
      }
  }

  std::string placeOf(llvm::SMLoc location) {
    auto [line, column] = sources.getLineAndColumn(location);
    return std::to_string(line) + ":" + std::to_string(column);
  }

  void complain(llvm::SMLoc location, const std::string &message) {
    if (found.problem.empty())
      found.problem = placeOf(location) + ": " + message;
  }

  llvm::SourceMgr sources;
  yaml::Stream stream;
  PolicyText found;
};
} // namespace

PolicyText mlir::ad::numerics::examinePolicy(StringRef text) { return Examination(text).run(); }
