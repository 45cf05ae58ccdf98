// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
#include "ProgramText.h"
#include "../AOT/AdxFile.h"
#include "adjoint/Support/Error.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir::ad::runner;
using llvm::Error;
using llvm::StringRef;

Error mlir::ad::runner::checkProgramText(const llvm::MemoryBuffer &input) {
  std::string name = "'" + input.getBufferIdentifier().str() + "'";
  StringRef text = input.getBuffer();
  if (text.trim().empty())
    return usageError(name + " is empty, expected a program in MLIR");
  if (text.starts_with("ML\xefR")) // bytecode of MLIR
    return Error::success();
  if (isAdx(text))
    return usageError(name + " is compiled already, expected a program in MLIR; run it with adrt-run" +
                      (input.getBufferIdentifier().ends_with(".adx")
                           ? " or ad-runner"
                           : ", or with ad-runner under a name that ends with .adx"));
  const char *binary = llvm::find_if(
      text, [](char c) { return (static_cast<unsigned char>(c) < ' ' && !llvm::isSpace(c)) || c == '\x7f'; });
  if (binary == text.end())
    return Error::success();
  return usageError(name + " is not a text file, expected a program in MLIR: byte " +
                    llvm::Twine(binary - text.begin()) + " is 0x" +
                    llvm::utohexstr(static_cast<unsigned char>(*binary), /*LowerCase=*/true, /*Width=*/2));
}
