// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// The only use of the CUDA toolkit: machine code for given chips, if an option requests it.

#include "Toolkit.h"
#include "mlir/IR/Diagnostics.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FileUtilities.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Program.h"
#include <list>

using namespace mlir;
using namespace mlir::ad;

namespace {
/// A program of the CUDA toolkit, the environment variable that may hold its path, and the value of the pass
/// option `format` that needs it.
struct Tool {
  StringLiteral name, variable, format;
};
constexpr Tool ptxas = {"ptxas", "ADJOINT_PTXAS", "bin"};
constexpr Tool fatbinary = {"fatbinary", "ADJOINT_FATBINARY", "fatbin"};

/// A temporary file, which is removed with the object.
struct Scratch {
  SmallString<128> path;
  std::error_code problem;
  llvm::FileRemover remover;

  explicit Scratch(StringRef suffix)
      : problem(llvm::sys::fs::createTemporaryFile("adjoint", suffix, path)), remover(path) {}
};
} // namespace

static std::optional<std::string> find(const Tool &tool) {
  if (const char *named = secure_getenv(tool.variable.data()))
    return std::string(named);
  if (auto found = llvm::sys::findProgramByName(tool.name))
    return *found;
  SmallVector<StringRef> folders;
  for (const char *variable : {"CUDA_HOME", "CUDA_PATH"})
    if (const char *home = secure_getenv(variable))
      folders.push_back(home);
  folders.append({"/usr/local/cuda", "/opt/cuda", "/usr/lib/nvidia-cuda-toolkit"});
  for (StringRef folder : folders) {
    SmallString<128> bin(folder);
    llvm::sys::path::append(bin, "bin");
    if (auto found = llvm::sys::findProgramByName(tool.name, {StringRef(bin)}))
      return *found;
  }
  return std::nullopt;
}

static FailureOr<std::string> readFile(Operation *op, const Scratch &file) {
  auto buffer = llvm::MemoryBuffer::getFile(file.path);
  if (!buffer)
    return op->emitError("cannot read '") << file.path << "': " << buffer.getError().message();
  return (*buffer)->getBuffer().str();
}

static LogicalResult writeFile(Operation *op, const Scratch &scratch, StringRef content) {
  std::error_code problem = scratch.problem;
  if (!problem) {
    llvm::raw_fd_ostream file(scratch.path, problem);
    file << content;
    file.flush();
    if (file.has_error())
      problem = file.error();
    file.clear_error();
  }
  if (problem)
    return op->emitError("cannot write the temporary file '") << scratch.path << "': " << problem.message();
  return success();
}

static LogicalResult run(Operation *op, const Tool &tool, ArrayRef<std::string> arguments) {
  std::optional<std::string> program = find(tool);
  if (!program)
    return op->emitError("format=")
           << tool.format << " needs " << tool.name
           << " of the CUDA toolkit, which is neither in the search path nor in $CUDA_HOME/bin; take "
              "format=isa, or name it in $"
           << tool.variable;
  Scratch messages("log");
  std::optional<StringRef> redirects[] = {StringRef(""), StringRef(messages.path), StringRef(messages.path)};
  SmallVector<StringRef> words = {*program};
  words.append(arguments.begin(), arguments.end());
  std::string reason;
  int code = llvm::sys::ExecuteAndWait(*program, words, std::nullopt, redirects, /*SecondsToWait=*/0,
                                       /*MemoryLimit=*/0, &reason);
  if (code == 0)
    return success();
  FailureOr<std::string> said = readFile(op, messages);
  return op->emitError("'") << *program << "' failed: " << reason
                            << (succeeded(said) ? StringRef(*said).trim() : StringRef());
}

static LogicalResult assembleInto(Operation *op, const Scratch &input, StringRef chip,
                                  const Scratch &output) {
  return run(op, ptxas, {"-arch", chip.str(), "-o", output.path.str().str(), input.path.str().str()});
}

FailureOr<std::string> ad::assemble(Operation *op, StringRef ptx, StringRef chip) {
  Scratch input("ptx"), output("cubin");
  if (failed(writeFile(op, input, ptx)) || failed(assembleInto(op, input, chip, output)))
    return failure();
  return readFile(op, output);
}

// A chip as `fatbinary` names it: 90a for sm_90a.
static std::string image(StringRef kind, StringRef chip, const Scratch &file) {
  return ("--image3=kind=" + kind + ",sm=" + chip.substr(StringRef("sm_").size()) + ",file=" + file.path)
      .str();
}

FailureOr<std::string> ad::bundle(Operation *op, StringRef ptx, StringRef ptxChip,
                                  ArrayRef<std::string> chips) {
  Scratch input("ptx"), output("fatbin");
  if (failed(writeFile(op, input, ptx)))
    return failure();
  std::vector<std::string> arguments = {"-64", ("--create=" + output.path).str(),
                                        image("ptx", ptxChip, input)};
  std::list<Scratch> code;
  for (const std::string &chip : chips) {
    if (failed(assembleInto(op, input, chip, code.emplace_back("cubin"))))
      return failure();
    arguments.push_back(image("elf", chip, code.back()));
  }
  if (failed(run(op, fatbinary, arguments)))
    return failure();
  return readFile(op, output);
}
