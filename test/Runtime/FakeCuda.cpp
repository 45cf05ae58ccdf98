/* Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

   A library in the place of the CUDA driver, for tests of what we ask of one. Its memory is the host's, its
   kernels are not executed, and all else is done at once. $AD_FAKE_CUDA names one call that fails. Each call
   is printed; what was made and not given back is counted when the context is released. */
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <string>
#include <vector>

using Address = unsigned long long;

// By address; streams are numbered.
static std::map<void *, std::string> &living() {
  static std::map<void *, std::string> things;
  return things;
}

// Whether the call is the one that is to fail; says that it was made.
static int fails(const char *call, const std::string &detail = "") {
  const char *wanted = std::getenv("AD_FAKE_CUDA");
  std::fprintf(stderr, "fake: %s%s%s\n", call, detail.empty() ? "" : " ", detail.c_str());
  return wanted && std::strcmp(wanted, call) == 0 ? 700 : 0;
}

template <class Pointer>
static int make(const char *call, Pointer *thing, const char *name, size_t bytes = 1) {
  if (int code = fails(call))
    return code;
  void *memory = std::calloc(bytes, 1);
  living()[memory] = name;
  *thing = (Pointer)memory;
  return 0;
}

static int drop(const char *call, void *thing) {
  if (!living().erase(thing))
    std::fprintf(stderr, "fake: %s of something unknown\n", call);
  else
    std::free(thing);
  return fails(call);
}

/// What a node of a graph copies; nothing for a kernel.
struct NodeCopy {
  Address target = 0, source = 0;
  size_t bytes = 0;
};
struct Node {
  void *handle;
  NodeCopy copy;
};

/// CUDA_KERNEL_NODE_PARAMS
struct KernelNode {
  void *function;
  unsigned blocks[3], threads[3], shared;
  void **arguments;
};

#ifndef AD_FAKE_WITHOUT_GRAPHS
// By graph, also by executable ones.
static std::map<void *, std::vector<Node>> &graphs() {
  static std::map<void *, std::vector<Node>> known;
  return known;
}

// One behind the other, or it says so.
static void *addNode(void *graph, void *const *behind, size_t count, NodeCopy copy) {
  static uintptr_t handles = 0;
  std::vector<Node> &nodes = graphs()[graph];
  bool isNext = nodes.empty() ? count == 0 : count == 1 && behind[0] == nodes.back().handle;
  if (!isNext)
    std::fprintf(stderr, "fake: nodes that are no chain\n");
  nodes.push_back({reinterpret_cast<void *>(++handles), copy});
  return nodes.back().handle;
}

#endif

// A kernel that takes arguments is given some, and those of a test have one of 8 bytes at least.
static std::string describeGrid(unsigned blocks, unsigned threads, unsigned shared, void **arguments) {
  std::string text = std::to_string(blocks) + " x " + std::to_string(threads);
  if (shared)
    text += ", " + std::to_string(shared) + " bytes";
  if (!arguments || !arguments[0])
    text += " without arguments";
  return text;
}

#ifndef AD_FAKE_WITHOUT_GRAPHS
static std::string describeNode(const KernelNode &node) {
  return describeGrid(node.blocks[0], node.threads[0], node.shared, node.arguments);
}
#endif

static const std::string &nameOf(void *thing) { return living()[thing]; }

extern "C" {
int cuInit(unsigned) { return fails("cuInit"); }
int cuGetErrorName(int code, const char **name) {
  return *name = code == 700 ? "CUDA_ERROR_FAKE" : nullptr, 0;
}
int cuGetErrorString(int, const char **text) { return *text = "as the test wants it", 0; }
int cuDeviceGetCount(int *count) { return *count = fails("cuDeviceGetCount") ? 0 : 1, 0; }
int cuDeviceGet(int *device, int ordinal) { return *device = ordinal, fails("cuDeviceGet"); }
int cuDriverGetVersion(int *version) { return *version = 13010, 0; }
int cuDeviceGetName(char *name, int bytes, int) { return std::snprintf(name, bytes, "Fake GPU"), 0; }
int cuDeviceTotalMem_v2(size_t *bytes, int) { return *bytes = size_t(80) << 30, 0; }
// $AD_FAKE_CUDA_CHIP is the compute capability, such as 90.
int cuDeviceGetAttribute(int *value, int attribute, int) {
  const char *chip = std::getenv("AD_FAKE_CUDA_CHIP");
  int capability = chip ? std::atoi(chip) : 80;
  *value = attribute == 75 ? capability / 10 : attribute == 76 ? capability % 10 : attribute;
  return fails("cuDeviceGetAttribute");
}
int cuDevicePrimaryCtxRetain(void **context, int) {
  return make("cuDevicePrimaryCtxRetain", context, "context");
}
int cuDevicePrimaryCtxRelease_v2(int) {
  size_t left = living().size() - 1;
  for (const auto &[thing, name] : living())
    if (name != "context")
      std::fprintf(stderr, "fake: left: %s\n", name.c_str());
  return fails("cuDevicePrimaryCtxRelease", std::to_string(left) + " left");
}
int cuCtxSetCurrent(void *) { return 0; }
int cuModuleLoadDataEx(void **module, const void *image, unsigned count, int *names, void **values) {
  const char *text = static_cast<const char *>(image);
  std::fprintf(stderr, "fake: image %s\n",
               std::strstr(text, ".target sm_90a")  ? "sm_90a"
               : std::strstr(text, ".target sm_80") ? "sm_80"
                                                    : "?");
  int failed = make("cuModuleLoadDataEx", module, "module");
  for (unsigned i = 0; failed && i < count; ++i)
    if (names[i] == 5) // the log of errors
      std::strcpy(static_cast<char *>(values[i]), "line 1: no");
  return failed;
}
int cuModuleUnload(void *module) { return drop("cuModuleUnload", module); }
int cuModuleGetFunction(void **function, void *module, const char *name) {
  return *function = module, fails("cuModuleGetFunction", name);
}
int cuFuncSetAttribute(void *, int, int) { return fails("cuFuncSetAttribute"); }
int cuStreamCreate(void **stream, unsigned) {
  static int count = 0;
  return make("cuStreamCreate", stream, ("stream " + std::to_string(++count)).c_str());
}
int cuStreamDestroy_v2(void *stream) { return drop("cuStreamDestroy", stream); }
int cuStreamSynchronize(void *stream) { return fails("cuStreamSynchronize", nameOf(stream)); }
int cuStreamWaitEvent(void *stream, void *, unsigned) { return fails("cuStreamWaitEvent", nameOf(stream)); }
int cuEventCreate(void **event, unsigned) { return make("cuEventCreate", event, "event"); }
int cuEventDestroy_v2(void *event) { return drop("cuEventDestroy", event); }
int cuEventRecord(void *, void *stream) { return fails("cuEventRecord", nameOf(stream)); }
int cuEventSynchronize(void *) { return fails("cuEventSynchronize"); }
int cuEventQuery(void *) { return 600; } // not yet, as far as anybody can tell
int cuMemHostAlloc(void **memory, size_t bytes, unsigned) {
  return make("cuMemHostAlloc", memory, "host memory", bytes);
}
int cuMemFreeHost(void *memory) { return drop("cuMemFreeHost", memory); }
int cuMemAlloc_v2(Address *memory, size_t bytes) { return make("cuMemAlloc", memory, "memory", bytes); }
int cuMemFree_v2(Address memory) { return drop("cuMemFree", reinterpret_cast<void *>(memory)); }
int cuMemcpyHtoDAsync_v2(Address target, const void *source, size_t bytes, void *stream) {
  std::memcpy(reinterpret_cast<void *>(target), source, bytes);
  return fails("cuMemcpyHtoDAsync", nameOf(stream));
}
int cuMemcpyDtoHAsync_v2(void *target, Address source, size_t bytes, void *stream) {
  std::memcpy(target, reinterpret_cast<void *>(source), bytes);
  return fails("cuMemcpyDtoHAsync", nameOf(stream));
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
                   unsigned shared, void *, void **arguments, void **) {
  return fails("cuLaunchKernel", describeGrid(blocks, threads, shared, arguments));
}

#ifndef AD_FAKE_WITHOUT_GRAPHS
//===- Graphs -------------------------------------------------------------===//

int cuGraphCreate(void **graph, unsigned) {
  int failed = make("cuGraphCreate", graph, "graph");
  if (!failed)
    graphs()[*graph];
  return failed;
}
int cuGraphDestroy(void *graph) {
  graphs().erase(graph);
  return drop("cuGraphDestroy", graph);
}
int cuGraphAddKernelNode(void **node, void *graph, void *const *behind, size_t count,
                         const KernelNode *kernel) {
  *node = addNode(graph, behind, count, {});
  return fails("cuGraphAddKernelNode", describeNode(*kernel));
}
int cuGraphAddMemcpyNode(void **node, void *graph, void *const *behind, size_t count, const size_t *copy,
                         void *) {
  // CUDA_MEMCPY3D in words: addresses of the device's memory (kind 2) and the bytes of a single row.
  bool isRow = copy[4] == 2 && copy[15] == 2 && copy[23] == 1 && copy[24] == 1;
  *node = addNode(graph, behind, count, {copy[17], copy[6], isRow ? copy[22] : 0});
  return fails("cuGraphAddMemcpyNode", isRow ? std::to_string(copy[22]) + " bytes" : "astray");
}
int cuGraphInstantiateWithFlags(void **executable, void *graph, unsigned long long) {
  int failed = make("cuGraphInstantiateWithFlags", executable, "executable graph");
  if (!failed)
    graphs()[*executable] = graphs()[graph];
  return failed;
}
int cuGraphExecDestroy(void *executable) {
  graphs().erase(executable);
  return drop("cuGraphExecDestroy", executable);
}
int cuGraphExecKernelNodeSetParams(void *executable, void *node, const KernelNode *kernel) {
  const std::vector<Node> &nodes = graphs()[executable];
  bool known = std::any_of(nodes.begin(), nodes.end(), [&](const Node &n) { return n.handle == node; });
  return fails("cuGraphExecKernelNodeSetParams", known ? describeNode(*kernel) : "astray");
}
int cuGraphLaunch(void *executable, void *stream) {
  const std::vector<Node> &nodes = graphs()[executable];
  for (const Node &node : nodes)
    if (node.copy.bytes > 0)
      std::memcpy(reinterpret_cast<void *>(node.copy.target), reinterpret_cast<void *>(node.copy.source),
                  node.copy.bytes);
  return fails("cuGraphLaunch", std::to_string(nodes.size()) + " nodes, " + nameOf(stream));
}
#endif
}
