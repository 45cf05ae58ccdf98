/* Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

   Our own declarations of the functions of the CUDA driver that we call. Internal to the runtime. */
#ifndef ADJOINT_LIB_RUNTIME_CUDA_CUDADRIVER_H
#define ADJOINT_LIB_RUNTIME_CUDA_CUDADRIVER_H

#include <cstddef>
#include <cstdint>
#include <string>

namespace adrt {

struct MemoryCount;

using CudaResult = int; // CUresult; 0 is success
using CudaAddress = unsigned long long;
using CudaDeviceNumber = int;

constexpr CudaResult cudaInvalidValue = 1; // CUDA_ERROR_INVALID_VALUE
constexpr CudaResult cudaOutOfMemory = 2;  // CUDA_ERROR_OUT_OF_MEMORY

/// Enumerators of the driver, with their names in cuda.h.
enum : int {
  cudaJitErrorLog = 5,             // CU_JIT_ERROR_LOG_BUFFER
  cudaJitErrorLogBytes = 6,        // CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES
  cudaStreamNonBlocking = 1,       // CU_STREAM_NON_BLOCKING
  cudaEventTimed = 0,              // CU_EVENT_DEFAULT
  cudaEventDisableTiming = 2,      // CU_EVENT_DISABLE_TIMING
  cudaDeviceThreadsOfBlock = 1,    // CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK
  cudaDeviceRegistersOfBlock = 12, // CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK
  cudaDeviceMultiprocessors = 16,  // CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT
  cudaDeviceMajor = 75,            // CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR
  cudaDeviceMinor = 76,            // CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR
  cudaDeviceSharedOfBlock = 97,    // CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN
  cudaMaxDynamicShared = 8,        // CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
  cudaMapBytes = 0,                // CU_TENSOR_MAP_DATA_TYPE_UINT8
  cudaMapI32 = 3,                  // CU_TENSOR_MAP_DATA_TYPE_INT32
  cudaMapI64 = 5,                  // CU_TENSOR_MAP_DATA_TYPE_INT64
  cudaMapF16 = 6,                  // CU_TENSOR_MAP_DATA_TYPE_FLOAT16
  cudaMapF32 = 7,                  // CU_TENSOR_MAP_DATA_TYPE_FLOAT32
  cudaMapF64 = 8,                  // CU_TENSOR_MAP_DATA_TYPE_FLOAT64
  cudaMapBF16 = 9,                 // CU_TENSOR_MAP_DATA_TYPE_BFLOAT16
  cudaMapTF32 = 11,                // CU_TENSOR_MAP_DATA_TYPE_TFLOAT32
  cudaInterleaveNone = 0,          // CU_TENSOR_MAP_INTERLEAVE_NONE
  cudaSwizzleNone = 0,             // CU_TENSOR_MAP_SWIZZLE_NONE
  cudaSwizzle32 = 1,               // CU_TENSOR_MAP_SWIZZLE_32B
  cudaSwizzle64 = 2,               // CU_TENSOR_MAP_SWIZZLE_64B
  cudaSwizzle128 = 3,              // CU_TENSOR_MAP_SWIZZLE_128B
  cudaPromote256 = 3,              // CU_TENSOR_MAP_L2_PROMOTION_L2_256B
  cudaFillZeros = 0,               // CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE
  cudaMemoryOfDevice = 2,          // CU_MEMORYTYPE_DEVICE
  cudaPointerMemory = 2,           // CU_POINTER_ATTRIBUTE_MEMORY_TYPE
};

/// A kernel in a graph. This is the first version of the structure, which every driver with graphs accepts.
struct CudaKernelNode { // CUDA_KERNEL_NODE_PARAMS_v1
  void *function = nullptr;
  uint32_t blocks[3] = {};    // gridDimX
  uint32_t threads[3] = {};   // blockDimX
  uint32_t sharedBytes = 0;   // sharedMemBytes
  void **arguments = nullptr; // kernelParams
  void **extra = nullptr;     // extra
};

struct CudaCopyEnd { // begin of CUDA_MEMCPY3D
  size_t x = 0, y = 0, z = 0, level = 0;
  int memoryType = cudaMemoryOfDevice; // srcMemoryType
  void *host = nullptr;                // srcHost
  CudaAddress device = 0;              // srcDevice
  void *array = nullptr;               // srcArray
  void *reserved = nullptr;            // reserved0
  size_t rowBytes = 0;                 // srcPitch
  size_t rows = 0;                     // srcHeight
};

/// A copy in a graph, of a single row, so that pitches have no meaning.
struct CudaCopyNode { // CUDA_MEMCPY3D
  CudaCopyEnd source; // srcXInBytes
  CudaCopyEnd target; // dstXInBytes
  size_t bytes = 0;   // WidthInBytes
  size_t rows = 1;    // Height
  size_t layers = 1;  // Depth
};

/// A call of the driver and its result.
struct CudaAnswer {
  const char *call;
  CudaResult result;
};

/// The functions of the driver, by their names in the library.
struct CudaDriver {
  CudaResult (*cuInit)(unsigned flags);
  CudaResult (*cuGetErrorName)(CudaResult, const char **);
  CudaResult (*cuGetErrorString)(CudaResult, const char **);
  CudaResult (*cuDeviceGetCount)(int *);
  CudaResult (*cuDeviceGet)(CudaDeviceNumber *, int ordinal);
  CudaResult (*cuDriverGetVersion)(int *);
  CudaResult (*cuDeviceGetName)(char *, int bytes, CudaDeviceNumber);
  CudaResult (*cuDeviceTotalMem_v2)(size_t *, CudaDeviceNumber);
  CudaResult (*cuDeviceGetAttribute)(int *, int attribute, CudaDeviceNumber);
  CudaResult (*cuDevicePrimaryCtxRetain)(void **context, CudaDeviceNumber);
  CudaResult (*cuDevicePrimaryCtxRelease_v2)(CudaDeviceNumber);
  CudaResult (*cuCtxSetCurrent)(void *context);
  CudaResult (*cuModuleLoadDataEx)(void **module, const void *image, unsigned options, int *names,
                                   void **values);
  CudaResult (*cuModuleUnload)(void *module);
  CudaResult (*cuModuleGetFunction)(void **function, void *module, const char *name);
  CudaResult (*cuFuncSetAttribute)(void *function, int attribute, int value);
  CudaResult (*cuStreamCreate)(void **stream, unsigned flags);
  CudaResult (*cuStreamDestroy_v2)(void *stream);
  CudaResult (*cuStreamSynchronize)(void *stream);
  CudaResult (*cuStreamWaitEvent)(void *stream, void *event, unsigned flags);
  CudaResult (*cuEventCreate)(void **event, unsigned flags);
  CudaResult (*cuEventDestroy_v2)(void *event);
  CudaResult (*cuEventRecord)(void *event, void *stream);
  CudaResult (*cuEventSynchronize)(void *event);
  CudaResult (*cuEventQuery)(void *event);
  CudaResult (*cuEventElapsedTime)(float *milliseconds, void *start, void *end);
  CudaResult (*cuMemHostAlloc)(void **, size_t, unsigned flags);
  CudaResult (*cuMemFreeHost)(void *);
  CudaResult (*cuMemAlloc_v2)(CudaAddress *, size_t);
  CudaResult (*cuMemFree_v2)(CudaAddress);
  CudaResult (*cuMemGetInfo_v2)(size_t *free, size_t *total);
  CudaResult (*cuPointerGetAttribute)(void *value, int attribute, CudaAddress);
  CudaResult (*cuMemcpyHtoDAsync_v2)(CudaAddress, const void *, size_t, void *stream);
  CudaResult (*cuMemcpyDtoHAsync_v2)(void *, CudaAddress, size_t, void *stream);
  CudaResult (*cuMemcpyDtoDAsync_v2)(CudaAddress, CudaAddress, size_t, void *stream);
  CudaResult (*cuMemsetD8Async)(CudaAddress, unsigned char, size_t, void *stream);
  CudaResult (*cuLaunchKernel)(void *function, unsigned gridX, unsigned gridY, unsigned gridZ,
                               unsigned blockX, unsigned blockY, unsigned blockZ, unsigned sharedBytes,
                               void *stream, void **arguments, void **extra);
  /// Null where the driver is older than tensor maps.
  CudaResult (*cuTensorMapEncodeTiled)(void *map, int elementType, uint32_t rank, void *base,
                                       const uint64_t *sizes, const uint64_t *strides, const uint32_t *box,
                                       const uint32_t *steps, int interleave, int swizzle, int promotion,
                                       int fill);

  /// Where the driver is older than graphs, cuGraphCreate is null and the others may be.
  CudaResult (*cuGraphCreate)(void **graph, unsigned flags);
  CudaResult (*cuGraphDestroy)(void *graph);
  CudaResult (*cuGraphAddKernelNode)(void **node, void *graph, void *const *dependencies, size_t count,
                                     const CudaKernelNode *);
  CudaResult (*cuGraphAddMemcpyNode)(void **node, void *graph, void *const *dependencies, size_t count,
                                     const CudaCopyNode *, void *context);
  CudaResult (*cuGraphInstantiateWithFlags)(void **executable, void *graph, unsigned long long flags);
  CudaResult (*cuGraphExecKernelNodeSetParams)(void *executable, void *node, const CudaKernelNode *);
  CudaResult (*cuGraphExecDestroy)(void *executable);
  CudaResult (*cuGraphLaunch)(void *executable, void *stream);

  /// The memory of the device of the current context.
  MemoryCount countMemory() const;
  /// CALL: NAME (DESCRIPTION), and the free memory if there is too little.
  std::string explain(const char *call, CudaResult result) const;
};

/// The driver, loaded and initialised once for the process. Null, with the reason in `problem`, when there is
/// no driver or no GPU.
const CudaDriver *loadCudaDriver(std::string &problem);
/// The file of the driver that was loaded.
const std::string &cudaDriverFile();

} // namespace adrt

#endif // ADJOINT_LIB_RUNTIME_CUDA_CUDADRIVER_H
