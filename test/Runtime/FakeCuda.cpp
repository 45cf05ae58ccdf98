/* Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

   A fake CUDA driver, for tests of our calls. Its device memory is host memory, kernels are not executed, and
   all other work is executed immediately. $AD_FAKE_CUDA names one call that fails. Each call is printed, a
   launch with the values of its arguments. Resources that were not destroyed are counted when the context is
   released. Calls on a thread without a current context fail and are counted. $AD_FAKE_CUDA_CHIP
   is the compute capability (default 80), $AD_FAKE_CUDA_SM_COUNT the number of multiprocessors (default 16),
   $AD_FAKE_CUDA_MEMORY the bytes of the device, beyond which allocations fail.
 */
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <regex>
#include <set>
#include <string>
#include <vector>

using Address = unsigned long long;

// By address; streams are numbered.
static std::map<void *, std::string> &living() {
  static std::map<void *, std::string> things;
  return things;
}

static thread_local void *current; // the context
static int callsWithoutContext = 0;

// Whether no context is current for a call that needs one.
static bool lacksContext(const char *call) {
  static const std::set<std::string> others = {"cuInit",
                                               "cuDeviceGetCount",
                                               "cuDeviceGet",
                                               "cuDeviceGetAttribute",
                                               "cuDevicePrimaryCtxRetain",
                                               "cuDevicePrimaryCtxRelease"};
  if (current || others.count(call))
    return false;
  std::fprintf(stderr, "fake: %s without a context\n", call);
  ++callsWithoutContext;
  return true;
}

// Logs the call. Returns whether it is the one that must fail, or has no context.
static int fails(const char *call, const std::string &detail = "") {
  if (lacksContext(call))
    return 201;
  const char *wanted = std::getenv("AD_FAKE_CUDA");
  std::fprintf(stderr, "fake: %s%s%s\n", call, detail.empty() ? "" : " ", detail.c_str());
  return wanted && std::strcmp(wanted, call) == 0 ? 700 : 0;
}

template <class Pointer>
static int make(const char *call, Pointer *thing, const char *name, size_t bytes = 1) {
  if (int code = fails(call))
    return code;
  constexpr size_t alignment = 256; // of the driver's allocations
  size_t rounded = (bytes + alignment - 1) / alignment * alignment;
  void *memory = std::aligned_alloc(alignment, rounded);
  std::memset(memory, 0, rounded);
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

//===- Kernels ------------------------------------------------------------===//

/// The kernels of the image, as a driver finds them.
struct Kernel {
  std::string name;
  std::vector<size_t> widths; // bytes of each argument
};
static std::map<std::string, Kernel> &kernels() {
  static std::map<std::string, Kernel> known;
  return known;
}

static void readKernels(const std::string &image) {
  static const std::regex parameter(R"(\.param (?:\.align \d+ )?\.[a-z]+(\d+)[^,\[]*(?:\[(\d+)\])?)");
  static const std::string entry = ".entry ";
  for (size_t at = image.find(entry); at != std::string::npos; at = image.find(entry, at)) {
    size_t name = at + entry.size(), open = image.find('(', name);
    at = image.find(')', open);
    std::string list = image.substr(open, at - open);
    Kernel kernel{image.substr(name, open - name), {}};
    for (std::sregex_iterator each(list.begin(), list.end(), parameter), end; each != end; ++each)
      kernel.widths.push_back(std::stoul((*each)[1]) / 8 * ((*each)[2].matched ? std::stoul((*each)[2]) : 1));
    kernels()[kernel.name] = kernel;
  }
}

/// Allocations of the device by address, numbered: addresses differ from run to run.
struct Block {
  size_t number, bytes;
};
static std::map<Address, Block> &blocks() {
  static std::map<Address, Block> known;
  return known;
}

// `m2+8` for an address in the second allocation; other numbers unchanged, and more bytes as a hash.
static std::string describeValue(const unsigned char *value, size_t bytes) {
  Address word = 0;
  if (bytes > sizeof word) {
    for (size_t at = 0; at < bytes; ++at)
      word = (word ^ value[at]) * 0x100000001b3;
    return std::to_string(bytes) + " bytes #" + std::to_string(word % 10007);
  }
  std::memcpy(&word, value, bytes);
  auto after = blocks().upper_bound(word);
  if (bytes < sizeof word || after == blocks().begin())
    return std::to_string(word);
  const auto &[start, block] = *std::prev(after);
  if (word - start >= block.bytes)
    return std::to_string(word);
  return "m" + std::to_string(block.number) + "+" + std::to_string(word - start);
}

// Copies the arguments: the caller may change them after the call.
static std::string describeCall(void *function, void **arguments) {
  const Kernel &kernel = *static_cast<Kernel *>(function);
  std::string text = kernel.name + "(";
  for (size_t number = 0; number < kernel.widths.size(); ++number)
    text += (number ? ", " : "") +
            describeValue(static_cast<unsigned char *>(arguments[number]), kernel.widths[number]);
  return text + ")";
}

//===- Nodes of graphs ----------------------------------------------------===//

/// The copy of a node of a graph; empty for a kernel.
struct NodeCopy {
  Address target = 0, source = 0;
  size_t bytes = 0;
};
static std::string describeCopy(const NodeCopy &copy) {
  auto name = [](Address memory) {
    return describeValue(reinterpret_cast<const unsigned char *>(&memory), sizeof memory);
  };
  return "copy(" + name(copy.target) + ", " + name(copy.source) + ", " + std::to_string(copy.bytes) + ")";
}
struct Node {
  void *handle;
  NodeCopy copy;
  std::string work; // in words
};

/// CUDA_KERNEL_NODE_PARAMS
struct KernelNode {
  void *function;
  unsigned blocks[3], threads[3], shared;
  void **arguments;
};

#ifndef AD_FAKE_WITHOUT_GRAPHS
// By graph and by executable graph.
static std::map<void *, std::vector<Node>> &graphs() {
  static std::map<void *, std::vector<Node>> known;
  return known;
}

// Whether the nodes are a chain; logs it if they are not.
static void *addNode(void *graph, void *const *dependencies, size_t count, const NodeCopy &copy,
                     const std::string &work) {
  static uintptr_t handles = 0;
  std::vector<Node> &nodes = graphs()[graph];
  bool isNext = nodes.empty() ? count == 0 : count == 1 && dependencies[0] == nodes.back().handle;
  if (!isNext)
    std::fprintf(stderr, "fake: nodes that are no chain\n");
  nodes.push_back({reinterpret_cast<void *>(++handles), copy, work});
  return nodes.back().handle;
}

#endif

static std::string describeGrid(unsigned blocks, unsigned threads, unsigned shared) {
  return std::to_string(blocks) + " x " + std::to_string(threads) +
         (shared ? ", " + std::to_string(shared) + " bytes" : "");
}

#ifndef AD_FAKE_WITHOUT_GRAPHS
static std::string describeNode(const KernelNode &node) {
  return describeGrid(node.blocks[0], node.threads[0], node.shared);
}
static std::string describeLaunch(const KernelNode &node) {
  return describeNode(node) + " " + describeCall(node.function, node.arguments);
}
#endif

static std::string nameOf(void *thing) {
  auto known = living().find(thing);
  if (known != living().end())
    return known->second;
  // Streams that are in every context, and those of other libraries.
  uintptr_t number = reinterpret_cast<uintptr_t>(thing);
  return number == 1 ? "legacy stream" : "foreign stream " + std::to_string(number);
}

static int numberFrom(const char *variable, int otherwise) {
  const char *text = std::getenv(variable);
  return text ? std::atoi(text) : otherwise;
}

extern "C" {
int cuInit(unsigned) { return fails("cuInit"); }
int cuGetErrorName(int code, const char **name) {
  return *name = code == 700 ? "CUDA_ERROR_FAKE" : code == 2 ? "CUDA_ERROR_OUT_OF_MEMORY" : nullptr, 0;
}
int cuGetErrorString(int, const char **text) { return *text = "as the test wants it", 0; }
int cuDeviceGetCount(int *count) { return *count = fails("cuDeviceGetCount") ? 0 : 1, 0; }
int cuDeviceGet(int *device, int ordinal) { return *device = ordinal, fails("cuDeviceGet"); }
int cuDriverGetVersion(int *version) { return *version = 13010, 0; }
int cuDeviceGetName(char *name, int bytes, int) { return std::snprintf(name, bytes, "Fake GPU"), 0; }
int cuDeviceTotalMem_v2(size_t *bytes, int) { return *bytes = size_t(80) << 30, 0; }
// The value of another attribute is its number.
int cuDeviceGetAttribute(int *value, int attribute, int) {
  const int multiprocessors = 16, major = 75, minor = 76; // CU_DEVICE_ATTRIBUTE_...
  int capability = numberFrom("AD_FAKE_CUDA_CHIP", 80);
  *value = attribute == major             ? capability / 10
           : attribute == minor           ? capability % 10
           : attribute == multiprocessors ? numberFrom("AD_FAKE_CUDA_SM_COUNT", 16)
                                          : attribute;
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
int cuCtxSetCurrent(void *context) { return current = context, 0; }
int ad_fake_calls_without_context() { return callsWithoutContext; }
int cuModuleLoadDataEx(void **module, const void *image, unsigned count, int *names, void **values) {
  const char *text = static_cast<const char *>(image);
  std::fprintf(stderr, "fake: image %s\n",
               std::strstr(text, ".target sm_90a")  ? "sm_90a"
               : std::strstr(text, ".target sm_80") ? "sm_80"
                                                    : "?");
  readKernels(text);
  int failed = make("cuModuleLoadDataEx", module, "module");
  for (unsigned i = 0; failed && i < count; ++i)
    if (names[i] == 5) // the log of errors
      std::strcpy(static_cast<char *>(values[i]), "line 1: no");
  return failed;
}
int cuModuleUnload(void *module) { return drop("cuModuleUnload", module); }
int cuModuleGetFunction(void **function, void *, const char *name) {
  return *function = &kernels()[name], fails("cuModuleGetFunction", name);
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
// No event is ever complete.
int cuEventQuery(void *) { return lacksContext("cuEventQuery") ? 201 : 600; }
int cuEventElapsedTime(float *milliseconds, void *, void *) {
  return *milliseconds = 1.5F, fails("cuEventElapsedTime");
}
int cuMemHostAlloc(void **memory, size_t bytes, unsigned) {
  return make("cuMemHostAlloc", memory, "host memory", bytes);
}
int cuMemFreeHost(void *memory) { return drop("cuMemFreeHost", memory); }
int cuMemGetInfo_v2(size_t *free, size_t *total) {
  if (lacksContext("cuMemGetInfo"))
    return 201;
  const char *limit = std::getenv("AD_FAKE_CUDA_MEMORY");
  *total = *free = limit ? std::stoull(limit) : size_t(80) << 30;
  for (const auto &[address, block] : blocks())
    *free -= block.bytes;
  return 0;
}
int cuMemAlloc_v2(Address *memory, size_t bytes) {
  static size_t count = 0;
  size_t free = 0, total = 0;
  if (cuMemGetInfo_v2(&free, &total) == 0 && bytes > free)
    return 2;
  int failed = make("cuMemAlloc", memory, "memory", bytes);
  if (!failed)
    blocks()[*memory] = {++count, bytes};
  return failed;
}
int cuMemFree_v2(Address memory) {
  blocks().erase(memory);
  return drop("cuMemFree", reinterpret_cast<void *>(memory));
}
int cuPointerGetAttribute(void *value, int attribute, Address memory) {
  const int memoryType = 2, ofDevice = 2, invalidValue = 1;
  if (int code = fails("cuPointerGetAttribute"))
    return code;
  auto after = blocks().upper_bound(memory);
  if (attribute != memoryType || after == blocks().begin())
    return invalidValue;
  const auto &[start, block] = *std::prev(after);
  if (memory - start >= block.bytes)
    return invalidValue;
  return *static_cast<unsigned *>(value) = ofDevice, 0;
}
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
  return fails("cuMemcpyDtoDAsync", describeCopy({target, source, bytes}));
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
  static uint64_t count = 0; // so that no map is like another
  std::memset(map, 0, 128);
  std::memcpy(map, &++count, sizeof count);
  return fails("cuTensorMapEncodeTiled", text);
}
int cuLaunchKernel(void *function, unsigned blocks, unsigned, unsigned, unsigned threads, unsigned, unsigned,
                   unsigned shared, void *, void **arguments, void **) {
  return fails("cuLaunchKernel",
               describeGrid(blocks, threads, shared) + " " + describeCall(function, arguments));
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
int cuGraphAddKernelNode(void **node, void *graph, void *const *dependencies, size_t count,
                         const KernelNode *kernel) {
  *node = addNode(graph, dependencies, count, {}, describeLaunch(*kernel));
  return fails("cuGraphAddKernelNode", describeNode(*kernel));
}
int cuGraphAddMemcpyNode(void **node, void *graph, void *const *dependencies, size_t count,
                         const size_t *copy, void *) {
  // CUDA_MEMCPY3D as words: addresses in device memory (kind 2) and the bytes of a single row.
  // A kind is half a word; the other half is undefined.
  auto kindAt = [&](size_t word) { return static_cast<uint32_t>(copy[word]); };
  bool isRow = kindAt(4) == 2 && kindAt(15) == 2 && copy[23] == 1 && copy[24] == 1;
  NodeCopy row{copy[17], copy[6], isRow ? copy[22] : 0};
  *node = addNode(graph, dependencies, count, row, describeCopy(row));
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
int cuGraphExecKernelNodeSetParams(void *executable, void *handle, const KernelNode *kernel) {
  for (Node &node : graphs()[executable])
    if (node.handle == handle) {
      node.work = describeLaunch(*kernel);
      return fails("cuGraphExecKernelNodeSetParams", describeNode(*kernel));
    }
  return fails("cuGraphExecKernelNodeSetParams", "astray");
}
int cuGraphLaunch(void *executable, void *stream) {
  const std::vector<Node> &nodes = graphs()[executable];
  std::string works;
  for (const Node &node : nodes) {
    if (node.copy.bytes > 0)
      std::memcpy(reinterpret_cast<void *>(node.copy.target), reinterpret_cast<void *>(node.copy.source),
                  node.copy.bytes);
    works += (works.empty() ? "" : "; ") + node.work;
  }
  return fails("cuGraphLaunch", std::to_string(nodes.size()) + " nodes, " + nameOf(stream) + ": " + works);
}
#endif
}
