// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Links the objects of a program with lld. It runs as a process: lld's libraries cannot be linked together
// with the shared libLLVM.
#include "../Executable/CompiledExecutable.h"
#include "Adx.h"
#include "adjoint/Runner/Compile/Compile.h"
#include "adjoint/Support/Error.h"
#include "adjoint/Support/TemporaryPath.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Config/llvm-config.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Program.h"

#include <dlfcn.h>

using namespace mlir::ad::runner;
using llvm::Error;
using llvm::Expected;
using llvm::StringRef;

namespace {

/// A folder that is removed with its content at the end of the lifetime.
class LinkFolder {
public:
  static Expected<std::unique_ptr<LinkFolder>> create() {
    std::error_code code;
    TemporaryPath path([&] {
      llvm::SmallString<128> made;
      code = llvm::sys::fs::createUniqueDirectory("adjoint", made);
      return code ? std::string() : made.str().str();
    });
    if (code)
      return usageError("cannot make a temporary folder: " + code.message());
    return std::unique_ptr<LinkFolder>(new LinkFolder(std::move(path)));
  }

  std::string file(const llvm::Twine &name) const {
    llvm::SmallString<128> full(path.get());
    llvm::sys::path::append(full, name);
    return full.str().str();
  }

  Expected<std::string> write(const llvm::Twine &name, StringRef content) const {
    std::string full = file(name);
    std::error_code code;
    llvm::raw_fd_ostream os(full, code);
    os << content;
    os.close();
    if (!code)
      code = os.error();
    os.clear_error();
    if (code)
      return usageError("cannot write '" + full + "': " + code.message());
    return full;
  }

private:
  explicit LinkFolder(TemporaryPath path) : path(std::move(path)) {}
  TemporaryPath path;
};

/// The folder of the program or of the library that has this code.
std::string ownFolder() {
  Dl_info info = {};
  if (::dladdr(reinterpret_cast<void *>(&ownFolder), &info) == 0 || !info.dli_fname)
    return "";
  return llvm::sys::path::parent_path(info.dli_fname).str();
}

/// The linker beside this code, as in a package that brings its own, or in its folder bin; else that on the
/// path, or that of the LLVM that this code was built with.
Expected<std::string> findLinker() {
  const std::string own = ownFolder(), bin = own + "/bin";
  for (StringRef folder : {StringRef(own), StringRef(bin), StringRef(), StringRef(ADJOINT_LLVM_TOOLS)})
    for (StringRef name : {"ld.lld-22", "ld.lld"})
      if (auto path = folder.empty() ? llvm::sys::findProgramByName(name)
                                     : llvm::sys::findProgramByName(name, folder))
        return *path;
  return exitError(ExitNoTarget,
                   "--emit needs LLVM's linker, and there is no ld.lld-22 and no ld.lld; install "
                   "the package lld-22");
}

Error runLinker(const LinkFolder &folder, const std::vector<std::string> &arguments) {
  std::vector<StringRef> words(arguments.begin(), arguments.end());
  std::string log = folder.file("log"), problem;
  std::optional<StringRef> redirects[] = {StringRef(), StringRef(log), StringRef(log)};
  int code = llvm::sys::ExecuteAndWait(words.front(), words, std::nullopt, redirects, 0, 0, &problem);
  if (code == 0)
    return Error::success();
  // What the linker says, or the loader of its libraries, is better than the number that it ends with.
  constexpr int notStarted = -1;
  if (auto text = llvm::MemoryBuffer::getFile(log))
    if (StringRef said = (*text)->getBuffer().trim();
        !said.empty() && (code == notStarted || problem.empty()))
      problem = said.str();
  if (code == notStarted)
    return exitError(ExitNoTarget, "cannot start '" + words.front() + "': " + problem +
                                       "; raise the limit on processes (see ulimit -u) or on memory (see "
                                       "ulimit -v)");
  return exitError(ExitProgramError, "internal error: the compiled program does not link: " + problem);
}

/// Links a shared object that exports `parts` alone, and `alias`, another name of the first part.
Expected<std::string> linkShared(llvm::ArrayRef<std::string> objects, llvm::ArrayRef<std::string> parts,
                                 const std::string &alias) {
  Expected<std::string> linker = findLinker();
  if (!linker)
    return linker.takeError();
  Expected<std::unique_ptr<LinkFolder>> folder = LinkFolder::create();
  if (!folder)
    return folder.takeError();
  std::string result = (*folder)->file("code.so");
  Expected<std::string> script = (*folder)->write("symbols", "{ global: \"" + llvm::join(parts, "\"; \"") +
                                                                 "\"; \"" + alias + "\"; local: *; };\n");
  if (!script)
    return script.takeError();
  std::vector<std::string> words{*linker,
                                 "-shared",
                                 "--strip-all",
                                 "--hash-style=sysv",
                                 "--build-id=none",
                                 "--threads=1", // the linker ends by a signal if one of them does not start
                                 "--version-script=" + *script,
                                 "--defsym=" + alias + "=" + parts.front(),
                                 "-o",
                                 result};
  for (auto [index, object] : llvm::enumerate(objects)) {
    Expected<std::string> path = (*folder)->write(llvm::Twine(index) + ".o", object);
    if (!path)
      return path.takeError();
    words.push_back(*path);
  }
  if (Error error = runLinker(**folder, words))
    return std::move(error);
  auto linked = llvm::MemoryBuffer::getFile(result, /*IsText=*/false, /*RequiresNullTerminator=*/false);
  if (!linked)
    return usageError("cannot read '" + result + "': " + linked.getError().message());
  return (*linked)->getBuffer().str();
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
