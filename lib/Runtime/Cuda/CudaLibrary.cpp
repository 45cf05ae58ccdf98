/* Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

   The loader knows its own folders and those of LD_LIBRARY_PATH. Containers and distributions keep the driver
   in others, too. */
#include "CudaLibrary.h"

#include <cstdlib>
#include <dlfcn.h>
#include <sys/stat.h>

using namespace adrt;

namespace {

constexpr const char *driver = "libcuda.so.1", *compiler = "libnvidia-ptxjitcompiler.so.1";
constexpr const char *folders[] = {"/usr/lib/x86_64-linux-gnu", "/usr/lib64", "/usr/lib/wsl/lib",
                                   "/usr/local/nvidia/lib64", "/usr/local/cuda/compat"};

bool isFolder(const std::string &path) {
  struct stat status;
  return ::stat(path.c_str(), &status) == 0 && S_ISDIR(status.st_mode);
}

} // namespace

// A program with more rights than its caller does not load what the caller names: secure_getenv.
std::vector<std::string> adrt::cudaLibraries() {
  if (const char *named = secure_getenv("ADJOINT_LIBCUDA"); named && *named)
    return {isFolder(named) ? std::string(named) + "/" + driver : named};
  std::vector<std::string> names{driver};
  for (const char *folder : folders)
    names.push_back(std::string(folder) + "/" + driver);
  return names;
}

void *adrt::openCudaLibrary(const std::string &name, std::string &reason) {
  void *library = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    const char *said = dlerror();
    reason = said ? said : name;
    return nullptr;
  }
  // A library that is loaded already is found by its name, wherever it came from. Without one the driver says
  // so when it is given PTX.
  if (size_t end = name.rfind('/'); end != std::string::npos)
    (void)dlopen((name.substr(0, end + 1) + compiler).c_str(), RTLD_NOW | RTLD_GLOBAL);
  return library;
}

std::string adrt::fileOf(const void *function, const std::string &name) {
  Dl_info info;
  return function && dladdr(function, &info) && info.dli_fname ? info.dli_fname : name;
}
