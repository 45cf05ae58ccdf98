// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Writes a compiled program for adrt-run.
#include "../Executable/CompiledExecutable.h"
#include "Adx.h"
#include "Linker.h"
#include "adjoint/Runner/Compile/Compile.h"
#include "adjoint/Support/Error.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Config/llvm-config.h"

using namespace mlir::ad::runner;
using llvm::Error;
using llvm::Expected;
using llvm::StringRef;

namespace {

/// Links a shared object that exports `parts` alone, and `alias`, another name of the first part.
Expected<std::string> linkShared(llvm::ArrayRef<std::string> objects, llvm::ArrayRef<std::string> parts,
                                 const std::string &alias) {
  Expected<std::unique_ptr<LinkFolder>> folder = LinkFolder::create();
  if (!folder)
    return folder.takeError();
  Expected<std::string> script = (*folder)->write("symbols", "{ global: \"" + llvm::join(parts, "\"; \"") +
                                                                 "\"; \"" + alias + "\"; local: *; };\n");
  if (!script)
    return script.takeError();
  return (*folder)->link(objects, {"-shared", "--strip-all", "--hash-style=sysv",
                                   "--version-script=" + *script, "--defsym=" + alias + "=" + parts.front()});
}

} // namespace

Error mlir::ad::runner::emitAdx(StringRef path, CompiledProgram program, const CpuTarget &cpu,
                                std::vector<Weight> weights) {
  program.numericsReport = nullptr; // about the compilation; --numerics-report writes it
  Expected<std::string> code = linkShared(program.objects, partsOf(program), descriptionSymbol(program));
  if (!code)
    return code.takeError();
  program.objects = {std::move(*code)};
  // Checked here, since the user of the file cannot repair it.
  if (Expected<std::unique_ptr<Executable>> loaded = loadAdx(program); !loaded)
    return loaded.takeError();
  return writeAdx(path, {std::move(program),
                         {hostMachine(), cpu.needed},
                         "Adjoint " ADJOINT_VERSION " (LLVM " LLVM_VERSION_STRING ")",
                         std::move(weights)});
}
