/* Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

   Finds the library of the CUDA driver. Internal to the runtime. */
#ifndef ADJOINT_LIB_RUNTIME_CUDA_CUDALIBRARY_H
#define ADJOINT_LIB_RUNTIME_CUDA_CUDALIBRARY_H

#include <string>
#include <vector>

namespace adrt {

/// Names for dlopen, in the order of the search. If $ADJOINT_LIBCUDA is set, it is the only one: a library,
/// or the folder of libcuda.so.1.
std::vector<std::string> cudaLibraries();

/// Opens the library, and the driver's compiler for PTX in the same folder: the driver loads its compiler by
/// name alone and would not find it in a folder that the loader does not search. Null, with the loader's
/// message in `reason`.
void *openCudaLibrary(const std::string &name, std::string &reason);

/// The file that a function was loaded from; `name` if the loader does not give it.
std::string fileOf(const void *function, const std::string &name);

} // namespace adrt

#endif // ADJOINT_LIB_RUNTIME_CUDA_CUDALIBRARY_H
