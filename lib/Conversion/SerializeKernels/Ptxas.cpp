// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// The one use of the CUDA toolkit: code of one chip, when it is asked for.

#include "Ptx.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FileUtilities.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Program.h"

using namespace mlir;
using namespace mlir::ad;

static std::optional<std::string> findPtxas() {
  if (const char *named = std::getenv("ADJOINT_PTXAS"))
    return std::string(named);
  if (auto found = llvm::sys::findProgramByName("ptxas"))
    return *found;
  SmallVector<StringRef> folders;
  for (const char *variable : {"CUDA_HOME", "CUDA_PATH"})
    if (const char *root = std::getenv(variable))
      folders.push_back(root);
  folders.append({"/usr/local/cuda", "/opt/cuda", "/usr/lib/nvidia-cuda-toolkit"});
  for (StringRef folder : folders) {
    SmallString<128> bin(folder);
    llvm::sys::path::append(bin, "bin");
    if (auto found = llvm::sys::findProgramByName("ptxas", {StringRef(bin)}))
      return *found;
  }
  return std::nullopt;
}

static std::string readFile(StringRef path) {
  auto buffer = llvm::MemoryBuffer::getFile(path);
  return buffer ? (*buffer)->getBuffer().str() : std::string();
}

FailureOr<std::string> ad::assemble(Operation *op, StringRef ptx, const Chip &chip) {
  std::optional<std::string> program = findPtxas();
  if (!program)
    return op->emitError(
        "format=bin needs ptxas of the CUDA toolkit, which is neither in the search path nor in "
        "$CUDA_HOME/bin; take format=isa, or name it in $ADJOINT_PTXAS");
  SmallString<128> input, output, messages;
  if (llvm::sys::fs::createTemporaryFile("adjoint", "ptx", input) ||
      llvm::sys::fs::createTemporaryFile("adjoint", "cubin", output) ||
      llvm::sys::fs::createTemporaryFile("adjoint", "log", messages))
    return op->emitError("cannot make temporary files for ptxas");
  llvm::FileRemover removeInput(input), removeOutput(output), removeMessages(messages);
  {
    std::error_code problem;
    llvm::raw_fd_ostream file(input, problem);
    file << ptx;
    file.flush();
    if (problem || file.has_error()) {
      file.clear_error();
      return op->emitError("cannot write '") << input << "' for ptxas";
    }
  }
  std::optional<StringRef> redirects[] = {StringRef(""), StringRef(messages), StringRef(messages)};
  std::string reason;
  int code =
      llvm::sys::ExecuteAndWait(*program, {*program, "-arch", chip.name, "-o", output, input}, std::nullopt,
                                redirects, /*SecondsToWait=*/0, /*MemoryLimit=*/0, &reason);
  if (code != 0)
    return op->emitError("'") << *program << "' failed: " << reason << StringRef(readFile(messages)).trim();
  return readFile(output);
}
