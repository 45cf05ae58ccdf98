// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Compares run.json of two traces, and their programs.
#include "RunFiles.h"
#include "adjoint/Diff/ProgramEdits.h"
#include "adjoint/Support/Error.h"
#include "adjoint/Support/FolderFile.h"
#include "adjoint/Support/JSONText.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"

using namespace mlir::ad::runner;
using llvm::Expected;
using llvm::StringRef;
using mlir::ad::fileInFolder;

namespace {

/// What run.json holds; an empty object if the run is a table alone.
Expected<llvm::json::Object> readRunFile(StringRef folder) {
  Expected<std::string> path = fileInFolder(folder, "run.json");
  if (!path)
    return path.takeError();
  if (!llvm::sys::fs::exists(*path))
    return llvm::json::Object();
  Expected<llvm::json::Value> value = mlir::ad::readJSON(*path);
  if (value && value->getAsObject())
    return std::move(*value->getAsObject());
  return usageError("'" + *path + "' is not of a trace: " +
                    (value ? "expected an object" : llvm::toString(value.takeError())));
}

std::string valueText(const llvm::json::Value *value) {
  if (!value)
    return "none";
  if (std::optional<StringRef> text = value->getAsString())
    return text->empty() ? "default" : text->str();
  return mlir::ad::jsonLine(*value);
}

void compareFields(const llvm::json::Object &left, const llvm::json::Object &right, const std::string &prefix,
                   std::vector<std::string> &lines) {
  std::vector<StringRef> keys;
  for (const llvm::json::Object *object : {&left, &right})
    for (const auto &entry : *object)
      if (!llvm::is_contained(keys, StringRef(entry.first)))
        keys.push_back(entry.first);
  llvm::sort(keys);
  for (StringRef key : keys) {
    const llvm::json::Value *l = left.get(key), *r = right.get(key);
    if (l && r && *l == *r)
      continue;
    if (std::string texts[] = {valueText(l), valueText(r)}; texts[0] != texts[1])
      lines.push_back(prefix + key.str() + ": " + texts[0] + " and " + texts[1]);
  }
}

llvm::json::Object sourcesOf(const llvm::json::Object &run, StringRef key) {
  llvm::json::Object sources;
  const llvm::json::Array *values = run.getArray(key);
  if (!values)
    return sources;
  for (const llvm::json::Value &value : *values)
    if (const llvm::json::Object *object = value.getAsObject())
      if (std::optional<StringRef> name = object->getString("name"), source = object->getString("source");
          name && source)
        sources[name->str()] = source->str();
  return sources;
}

/// None if the run names no program, or one that is not there.
Expected<std::optional<std::string>> programText(StringRef folder, const llvm::json::Object &run) {
  StringRef name = run.getString("program").value_or("");
  if (name.empty())
    return std::optional<std::string>();
  Expected<std::string> path = fileInFolder(folder, name);
  if (!path)
    return path.takeError();
  auto text = llvm::MemoryBuffer::getFile(*path);
  return text ? std::optional((*text)->getBuffer().str()) : std::nullopt;
}

} // namespace

Expected<std::optional<int64_t>> mlir::ad::diff::recordCount(StringRef folder) {
  Expected<llvm::json::Object> run = readRunFile(folder);
  if (!run)
    return run.takeError();
  return run->getInteger("records");
}

namespace {

/// The text of a program and the name of its file; no text if the run has none.
struct NamedProgram {
  std::string name;
  std::optional<std::string> text;
};

/// A program that came from no file, but from standard input or Python, has a name such as <string> in
/// locations.
Expected<std::string> nameInLocations(StringRef folder, StringRef file) {
  Expected<std::string> path = fileInFolder(folder, "records.tsv");
  if (!path)
    return path.takeError();
  if (!llvm::sys::fs::exists(*path))
    return file.str();
  Expected<std::vector<mlir::ad::diff::Record>> records = mlir::ad::diff::readRecords(*path);
  if (!records)
    return records.takeError();
  for (const mlir::ad::diff::Record &record : *records)
    if (StringRef location = record.location; location.starts_with("<") && location.contains('>'))
      return location.take_front(location.find('>') + 1).str();
  return file.str();
}

Expected<NamedProgram> readProgramOf(StringRef path) {
  if (path.ends_with(".mlir")) {
    auto text = llvm::MemoryBuffer::getFile(path);
    return NamedProgram{llvm::sys::path::filename(path).str(),
                        text ? std::optional((*text)->getBuffer().str()) : std::nullopt};
  }
  Expected<llvm::json::Object> run = readRunFile(path);
  if (!run)
    return run.takeError();
  StringRef file = run->getString("program").value_or("");
  if (!file.ends_with(".mlir"))
    return NamedProgram{file.str(), std::nullopt};
  Expected<std::string> name = nameInLocations(path, file);
  if (!name)
    return name.takeError();
  Expected<std::optional<std::string>> text = programText(path, *run);
  if (!text)
    return text.takeError();
  return NamedProgram{std::move(*name), std::move(*text)};
}

} // namespace

Expected<std::vector<mlir::ad::diff::ProgramEdit>> mlir::ad::diff::findEditsOfRuns(StringRef left,
                                                                                   StringRef right) {
  Expected<NamedProgram> l = readProgramOf(left);
  if (!l)
    return l.takeError();
  Expected<NamedProgram> r = readProgramOf(right);
  if (!r)
    return r.takeError();
  if (!l->text || !r->text || *l->text == *r->text)
    return std::vector<ProgramEdit>();
  return findEdits(*l->text, l->name, *r->text, r->name);
}

Expected<std::vector<std::string>> mlir::ad::diff::compareRunFiles(StringRef left, StringRef right) {
  Expected<llvm::json::Object> l = readRunFile(left);
  if (!l)
    return l.takeError();
  Expected<llvm::json::Object> r = readRunFile(right);
  if (!r)
    return r.takeError();
  std::vector<std::string> lines;
  if (l->empty() || r->empty())
    return lines;
  Expected<std::optional<std::string>> leftText = programText(left, *l);
  if (!leftText)
    return leftText.takeError();
  Expected<std::optional<std::string>> rightText = programText(right, *r);
  if (!rightText)
    return rightText.takeError();
  if (*leftText != *rightText)
    lines.push_back("program: " + valueText(l->get("program")) + " and " + valueText(r->get("program")) +
                    " have other texts");
  for (StringRef key : {"status", "cpu", "numerics"})
    if (std::string a = valueText(l->get(key)), b = valueText(r->get(key)); a != b)
      lines.push_back(key.str() + ": " + a + " and " + b);
  static const llvm::json::Object none;
  for (auto [key, prefix] : {std::pair("options", "option "), {"versions", "version of "}}) {
    const llvm::json::Object *a = l->getObject(key), *b = r->getObject(key);
    compareFields(a ? *a : none, b ? *b : none, prefix, lines);
  }
  for (auto [key, prefix] : {std::pair("inputs", "source of argument "), {"feeds", "source of feed "}})
    compareFields(sourcesOf(*l, key), sourcesOf(*r, key), prefix, lines);
  return lines;
}
