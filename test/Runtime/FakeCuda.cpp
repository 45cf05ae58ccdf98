/* Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

   A library in the place of the CUDA driver, for tests of what we ask of one. Its memory is the host's, and
   its kernels are not executed. $AD_FAKE_CUDA names one call that fails. */
#include <cstdio>
#include <cstdlib>
#include <cstring>

using Address = unsigned long long;

// Whether the call is the one that is to fail; says that it was made.
static int fails(const char *call, const char *detail = "") {
  const char *wanted = std::getenv("AD_FAKE_CUDA");
  std::fprintf(stderr, "fake: %s%s%s\n", call, *detail ? " " : "", detail);
  return wanted && std::strcmp(wanted, call) == 0 ? 700 : 0;
}

static void *handle() {
  static int place;
  return &place;
}

extern "C" {
int cuInit(unsigned) { return fails("cuInit"); }
int cuGetErrorName(int code, const char **name) {
  return *name = code == 700 ? "CUDA_ERROR_FAKE" : nullptr, 0;
}
int cuGetErrorString(int, const char **text) { return *text = "as the test wants it", 0; }
int cuDeviceGetCount(int *count) { return *count = fails("cuDeviceGetCount") ? 0 : 1, 0; }
int cuDeviceGet(int *device, int ordinal) { return *device = ordinal, fails("cuDeviceGet"); }
// $AD_FAKE_CUDA_CHIP is the compute capability, such as 90.
int cuDeviceGetAttribute(int *value, int attribute, int) {
  const char *chip = std::getenv("AD_FAKE_CUDA_CHIP");
  int capability = chip ? std::atoi(chip) : 80;
  return *value = attribute == 75 ? capability / 10 : capability % 10, fails("cuDeviceGetAttribute");
}
int cuDevicePrimaryCtxRetain(void **context, int) {
  return *context = handle(), fails("cuDevicePrimaryCtxRetain");
}
int cuDevicePrimaryCtxRelease_v2(int) { return fails("cuDevicePrimaryCtxRelease"); }
int cuCtxSetCurrent(void *) { return 0; }
int cuModuleLoadDataEx(void **module, const void *image, unsigned count, int *names, void **values) {
  *module = handle();
  int failed =
      fails("cuModuleLoadDataEx", std::strstr(static_cast<const char *>(image), ".target sm_90a")  ? "sm_90a"
                                  : std::strstr(static_cast<const char *>(image), ".target sm_80") ? "sm_80"
                                                                                                   : "?");
  for (unsigned i = 0; failed && i < count; ++i)
    if (names[i] == 5) // the log of errors
      std::strcpy(static_cast<char *>(values[i]), "line 1: no");
  return failed;
}
int cuModuleUnload(void *) { return fails("cuModuleUnload"); }
int cuModuleGetFunction(void **function, void *, const char *name) {
  return *function = handle(), fails("cuModuleGetFunction", name);
}
int cuFuncSetAttribute(void *, int, int) { return fails("cuFuncSetAttribute"); }
int cuStreamCreate(void **stream, unsigned) { return *stream = handle(), fails("cuStreamCreate"); }
int cuStreamDestroy_v2(void *) { return fails("cuStreamDestroy"); }
int cuStreamSynchronize(void *) { return fails("cuStreamSynchronize"); }
int cuMemAlloc_v2(Address *memory, size_t bytes) {
  *memory = reinterpret_cast<Address>(std::calloc(bytes, 1));
  return fails("cuMemAlloc");
}
int cuMemFree_v2(Address memory) { return std::free(reinterpret_cast<void *>(memory)), fails("cuMemFree"); }
int cuMemcpyHtoDAsync_v2(Address target, const void *source, size_t bytes, void *) {
  return std::memcpy(reinterpret_cast<void *>(target), source, bytes), fails("cuMemcpyHtoDAsync");
}
int cuMemcpyDtoHAsync_v2(void *target, Address source, size_t bytes, void *) {
  return std::memcpy(target, reinterpret_cast<void *>(source), bytes), fails("cuMemcpyDtoHAsync");
}
int cuMemcpyDtoDAsync_v2(Address target, Address source, size_t bytes, void *) {
  std::memcpy(reinterpret_cast<void *>(target), reinterpret_cast<void *>(source), bytes);
  return fails("cuMemcpyDtoDAsync");
}
int cuMemsetD8Async(Address memory, unsigned char value, size_t bytes, void *) {
  return std::memset(reinterpret_cast<void *>(memory), value, bytes), fails("cuMemsetD8Async");
}
int cuTensorMapEncodeTiled(void *map, int type, unsigned rank, void *, const unsigned long *sizes,
                           const unsigned long *strides, const unsigned *box, const unsigned *steps,
                           int interleave, int swizzle, int promotion, int fill) {
  char text[256];
  int at =
      std::snprintf(text, sizeof text, "type %d swizzle %d promotion %d rest %d, map %s,", type, swizzle,
                    promotion, interleave + fill, reinterpret_cast<Address>(map) % 64 ? "astray" : "aligned");
  for (unsigned axis = 0; axis < rank; ++axis)
    at += std::snprintf(text + at, sizeof text - at, " %lu by %u step %u%s", sizes[axis], box[axis],
                        steps[axis], axis + 1 < rank ? "" : ", strides");
  for (unsigned axis = 0; axis + 1 < rank; ++axis)
    at += std::snprintf(text + at, sizeof text - at, " %lu", strides[axis]);
  return std::memset(map, 0, 128), fails("cuTensorMapEncodeTiled", text);
}
int cuLaunchKernel(void *, unsigned blocks, unsigned, unsigned, unsigned threads, unsigned, unsigned,
                   unsigned shared, void *, void **, void **) {
  char grid[64];
  std::snprintf(grid, sizeof grid, shared ? "%u x %u, %u bytes" : "%u x %u", blocks, threads, shared);
  return fails("cuLaunchKernel", grid);
}
}
