// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Links programs to libraries of C. The parts of a program become one object, in which all symbols but its
// function are local, so that programs whose kernels have the same names are linked into one binary.
#include "EmitLibrary.h"
#include "Adx.h"
#include "Linker.h"
#include "adjoint/Runner/Compile/Compile.h"
#include "adjoint/Support/Error.h"
#include "adjoint/Support/OutputFile.h"
#include "adjoint/Support/SymbolName.h"
#include "llvm/ObjCopy/ConfigManager.h"
#include "llvm/ObjCopy/ObjCopy.h"
#include "llvm/Object/Binary.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"

using namespace mlir::ad::runner;
using llvm::Error;
using llvm::Expected;
using llvm::StringRef;

bool mlir::ad::runner::isLibraryPath(StringRef path) { return path.ends_with(".o") || path.ends_with(".so"); }

namespace {

Error internalError(Error error) {
  return exitError(ExitProgramError,
                   "internal error: the compiled program does not link: " + llvm::toString(std::move(error)));
}

/// `object` with one global function, `function`, which is `entry` in it.
Expected<std::string> withOneFunction(const std::string &object, StringRef entry, StringRef function) {
  llvm::objcopy::ConfigManager config;
  llvm::objcopy::CommonConfig &common = config.Common;
  common.SymbolsToRename[entry] = function;
  // Compilers give these names to functions that libgcc may lack.
  common.SymbolsToRename["__truncsfbf2"] = "adrt_bf16_from_f32";
  common.SymbolsToRename["__truncdfbf2"] = "adrt_bf16_from_f64";
  auto noError = [](Error error) { return error; };
  for (StringRef kept : {entry, function})
    if (Error error = common.SymbolsToKeepGlobal.addMatcher(
            llvm::objcopy::NameOrPattern::create(kept, llvm::objcopy::MatchStyle::Literal, noError)))
      return internalError(std::move(error));
  auto binary = llvm::object::createBinary(llvm::MemoryBufferRef(object, "program"));
  if (!binary)
    return internalError(binary.takeError());
  llvm::SmallVector<char, 0> bytes;
  llvm::raw_svector_ostream os(bytes);
  if (Error error = llvm::objcopy::executeObjcopyOnBinary(config, **binary, os))
    return internalError(std::move(error));
  return std::string(bytes.begin(), bytes.end());
}

/// The runtime that belongs to this compiler, in a package or in the folder of a build.
Expected<std::string> findRuntime() {
  std::string own = ownFolder();
  for (StringRef folder : {"", "/../lib", "/../" ADJOINT_LIBRARY_FOLDER})
    if (std::string path = (own + folder + "/libadrt.so").str(); llvm::sys::fs::exists(path))
      return path;
  return exitError(ExitNoTarget, "--emit of a shared object needs libadrt.so, which is not beside '" + own +
                                     "' and not in the folder lib there; install it, or emit FILE.o");
}

Expected<std::string> linkLibrary(StringRef path, const CompiledProgram &program, StringRef function) {
  Expected<std::unique_ptr<LinkFolder>> folder = LinkFolder::create();
  if (!folder)
    return folder.takeError();
  Expected<std::string> whole = (*folder)->link(program.objects, {"-r"});
  if (!whole)
    return whole.takeError();
  Expected<std::string> object =
      withOneFunction(*whole, adrt::entrySymbol(program.signature.entry), (function + "_entry").str());
  if (!object || path.ends_with(".o"))
    return object;
  Expected<std::string> runtime = findRuntime();
  if (!runtime)
    return runtime.takeError();
  return (*folder)->link(*object, {"-shared", "--soname=" + llvm::sys::path::filename(path).str(), *runtime});
}

} // namespace

Error mlir::ad::runner::emitLibrary(StringRef path, const CompiledProgram &program, const CpuTarget &cpu) {
  if (!program.device.empty())
    return usageError("--emit writes libraries of programs for target cpu only; emit FILE.adx for " +
                      program.device);
  llvm::SmallString<128> header(path);
  llvm::sys::path::replace_extension(header, ".h");
  if (Error error = checkWritable(header))
    return error;
  std::string function = libraryProgram(path, program.signature.entry);
  Expected<std::string> library = linkLibrary(path, program, function);
  if (!library)
    return library.takeError();
  std::string declarations = cHeader(llvm::sys::path::filename(header), function, program.signature, cpu);
  StringRef libraryText = *library, headerText = declarations;
  return replaceFiles({{path, libraryText}, {header, headerText}});
}

Error mlir::ad::runner::emitProgram(StringRef path, CompiledProgram program, const CpuTarget &cpu,
                                    std::vector<Weight> weights) {
  if (!isLibraryPath(path))
    return emitAdx(path, std::move(program), cpu, std::move(weights));
  if (!weights.empty())
    return usageError("--emit writes libraries without values of arguments, but '" + weights.front().name +
                      "' has a source; emit FILE.adx, or pass the argument in C");
  return emitLibrary(path, program, cpu);
}
