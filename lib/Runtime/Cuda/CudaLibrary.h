/* Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

   Where the library of the CUDA driver may lie. Internal to the runtime. */
#ifndef ADJOINT_LIB_RUNTIME_CUDA_CUDALIBRARY_H
#define ADJOINT_LIB_RUNTIME_CUDA_CUDALIBRARY_H

#include <string>
#include <vector>

namespace adrt {

/// Names for dlopen, the likeliest first. $ADJOINT_LIBCUDA, a library or the folder that holds libcuda.so.1,
/// is the only one when it is set.
std::vector<std::string> cudaLibraries();

/// The library, and beside it the driver's compiler for PTX, which the driver asks for by name alone and
/// would not find in a folder that the loader does not know. Null and the loader's words in `reason`.
void *openCudaLibrary(const std::string &name, std::string &reason);

/// The file that a function was loaded from; `name` where the loader does not say.
std::string fileOf(const void *function, const std::string &name);

} // namespace adrt

#endif // ADJOINT_LIB_RUNTIME_CUDA_CUDALIBRARY_H
