// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

#include "adjoint/Support/TextFile.h"
#include "mlir/IR/Diagnostics.h"
#include "llvm/Support/FileSystem.h"

using namespace mlir;

// Writes a temporary file in the same folder and renames it: a reader sees the old file or the whole new one.
static llvm::Error replaceFile(StringRef file, StringRef text) {
  SmallString<128> path;
  if (llvm::sys::fs::real_path(file, path)) // follows links; fails if the file does not exist
    path = file;
  auto temporary = llvm::sys::fs::TempFile::create(path + ".%%%%%%");
  if (!temporary)
    return temporary.takeError();
  llvm::raw_fd_ostream os(temporary->FD, /*shouldClose=*/false);
  os << text;
  os.flush();
  if (std::error_code code = os.error()) {
    os.clear_error(); // LLVM's stream would end the process
    return llvm::joinErrors(llvm::errorCodeToError(code), temporary->discard());
  }
  return temporary->keep(path);
}

// A device or a pipe, which must not be replaced.
static llvm::Error writeInPlace(StringRef file, StringRef text) {
  std::error_code code;
  llvm::raw_fd_ostream os(file, code, llvm::sys::fs::OF_None);
  if (!code) {
    os << text;
    os.flush();
    code = os.error();
    os.clear_error();
  }
  return llvm::errorCodeToError(code);
}

llvm::Error ad::writeText(StringRef file, StringRef text) {
  llvm::sys::fs::file_status status;
  bool inPlace = file == "-" || (!llvm::sys::fs::status(file, status) && llvm::sys::fs::exists(status) &&
                                 !llvm::sys::fs::is_regular_file(status));
  return inPlace ? writeInPlace(file, text) : replaceFile(file, text);
}

LogicalResult ad::writeTextFile(Operation *op, StringRef option, StringRef file,
                                function_ref<void(raw_ostream &)> print) {
  std::string text;
  llvm::raw_string_ostream os(text);
  print(os);
  llvm::Error error = writeText(file, text);
  if (!error)
    return success();
  // Not emitted by `op`, which would attach a note with the whole program.
  return emitError(op->getLoc()) << "cannot write '" << file << "', option " << option << ": "
                                 << llvm::toString(std::move(error));
}
