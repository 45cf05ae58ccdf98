// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Writes the C header of a program that was compiled to a library.
#include "EmitLibrary.h"
#include "adjoint/Runner/Compile/Compile.h"
#include "adjoint/Support/Elements.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir::ad::runner;
using llvm::StringRef;

// Of a name, what C allows in an identifier.
static std::string identifier(StringRef name) {
  std::string text;
  for (char c : name)
    text += llvm::isAlnum(c) || c == '_' ? c : '_';
  if (text.empty() || llvm::isDigit(text.front()))
    text.insert(0, "_");
  return text;
}

std::string mlir::ad::runner::libraryProgram(StringRef path, StringRef entry) {
  StringRef stem = llvm::sys::path::stem(path);
  if (stem.size() > 3)
    stem.consume_front("lib");
  return identifier((stem + "_" + entry).str());
}

static std::string quoted(StringRef name) {
  std::string text;
  llvm::raw_string_ostream os(text);
  os << '"';
  for (char c : name)
    if (c == '"' || c == '\\' || c == '?')
      os << '\\' << c;
    else if (llvm::isPrint(c))
      os << c;
    else // three digits end an octal escape
      os << '\\' << char('0' + (c >> 6 & 3)) << char('0' + (c >> 3 & 7)) << char('0' + (c & 7));
  os << '"';
  return text;
}

static std::string typeConstant(adrt_type type) { return "ADRT_" + StringRef(adrt::typeName(type)).upper(); }

// Shapes, then a table of parameters. C has no arrays without elements.
static void writeParameters(llvm::raw_ostream &os, StringRef table, llvm::ArrayRef<TensorSpec> tensors) {
  if (tensors.empty())
    return;
  for (auto [number, tensor] : llvm::enumerate(tensors))
    if (!tensor.shape.empty())
      os << "static const int64_t " << table << "_shape_" << number << "[] = {"
         << llvm::join(
                llvm::map_range(tensor.shape,
                                [](int64_t size) { return std::to_string(size == dynamicSize ? -1 : size); }),
                ", ")
         << "};\n";
  os << "static const adrt_parameter " << table << "[] = {\n";
  for (auto [number, tensor] : llvm::enumerate(tensors)) {
    std::string shape = tensor.shape.empty() ? "0" : (table + "_shape_" + llvm::Twine(number)).str();
    os << "    {" << quoted(tensor.name) << ", " << typeConstant(tensor.type) << ", " << tensor.shape.size()
       << ", " << shape << "},\n";
  }
  os << "};\n";
}

std::string mlir::ad::runner::cHeader(StringRef name, StringRef function, const Signature &signature,
                                      const CpuTarget &cpu) {
  std::string text, guard = StringRef(identifier(name)).upper();
  std::string arguments = (function + "_arguments").str(), results = (function + "_results").str();
  auto tableOf = [](const std::string &table, llvm::ArrayRef<TensorSpec> tensors) {
    return std::to_string(tensors.size()) + ", " + (tensors.empty() ? "0" : table);
  };
  llvm::raw_string_ostream os(text);
  os << "/* A program that Adjoint " << ADJOINT_VERSION << " compiled for the CPU " << cpu.cpu
     << ". Link it with libadrt;\n   adjoint/Runtime/adrt_host.h explains how to run it. */\n"
     << "#ifndef " << guard << "\n#define " << guard << "\n\n"
     << "#include \"adjoint/Runtime/adrt_host.h\"\n\n"
     << "#if ADRT_ABI_VERSION != " << ADRT_ABI_VERSION << "\n"
     << "#error \"the program was compiled for another libadrt; compile it again\"\n#endif\n\n"
     << "#ifdef __cplusplus\nextern \"C\"\n#endif\n"
     << "int32_t " << function
     << "_entry(adrt_context *context, const adrt_tensor *arguments, adrt_tensor *results);\n\n";
  writeParameters(os, arguments, signature.arguments);
  writeParameters(os, results, signature.results);
  os << "static const adrt_program " << function << " = {ADRT_ABI_VERSION, " << function << "_entry, "
     << tableOf(arguments, signature.arguments) << ", " << tableOf(results, signature.results)
     << "};\n\n#endif\n";
  return text;
}
