/* Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

   The loader searches its own folders and those of LD_LIBRARY_PATH. Containers and distributions install the
   driver into other folders, too. */
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

// secure_getenv: a program with more rights than its caller must not load a library that the caller names.
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
    const char *message = dlerror();
    reason = message ? message : name;
    return nullptr;
  }
  // The driver finds a loaded compiler by its name, in whichever folder it is. If there is none, the driver
  // reports it when it gets PTX.
  if (size_t end = name.rfind('/'); end != std::string::npos)
    (void)dlopen((name.substr(0, end + 1) + compiler).c_str(), RTLD_NOW | RTLD_GLOBAL);
  return library;
}

std::string adrt::fileOf(const void *function, const std::string &name) {
  Dl_info info;
  return function && dladdr(function, &info) && info.dli_fname ? info.dli_fname : name;
}
