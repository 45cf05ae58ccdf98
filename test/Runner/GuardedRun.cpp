// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Runs a program on operands that end right before inaccessible memory, and on operands that begin right
// after inaccessible memory: `ad-guarded-run PROGRAM FOLDER MODE THREADS`. The operands are FOLDER/NAME.npy.
// The results must be those of a run on ordinary operands, bit by bit. An access outside of an operand ends
// the process with a message that names the operand and the byte.
#include "adjoint/Runner/Program.h"
#include "adjoint/Runner/StandardHooks.h"
#include "adjoint/Support/Error.h"
#include "adjoint/Support/Npy.h"
#include "llvm/Support/MemoryBuffer.h"

#include <csignal>
#include <cstdio>
#include <cstring>
#include <sys/mman.h>
#include <unistd.h>

using namespace mlir::ad::runner;

namespace {

enum class Position { Anywhere, End, Start };
constexpr const char *positionNames[] = {"anywhere", "before", "after"};

/// Pages between two inaccessible ones, with an operand at their end or at their start.
class Guarded {
public:
  Guarded(const Tensor &tensor, Position position, const std::string &name) : name(name) {
    auto page = static_cast<size_t>(::sysconf(_SC_PAGESIZE));
    bytes = static_cast<size_t>(tensor.getByteSize());
    size_t inside = (bytes + page - 1) / page * page;
    whole = inside + 2 * page;
    void *memory = ::mmap(nullptr, whole, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED ||
        ::mprotect(static_cast<char *>(memory) + page, inside, PROT_READ | PROT_WRITE))
      llvm::report_fatal_error("no memory for a guarded operand");
    start = static_cast<char *>(memory);
    data = position == Position::Start ? start + page : start + page + inside - bytes;
    std::memcpy(data, tensor.getData(), bytes);
  }
  ~Guarded() { ::munmap(start, whole); }
  Guarded(const Guarded &) = delete;
  Guarded &operator=(const Guarded &) = delete;

  bool holds(const char *address) const { return address >= start && address < start + whole; }

  std::string name;
  char *data, *start;
  size_t bytes, whole;
};

std::vector<std::unique_ptr<Guarded>> guarded;

// The process ends here, so the handler may call functions that are not async-signal-safe.
void onFault(int, siginfo_t *info, void *) {
  auto *address = static_cast<const char *>(info->si_addr);
  for (const std::unique_ptr<Guarded> &each : guarded)
    if (each->holds(address)) {
      std::fprintf(stderr, "argument '%s' of %zu bytes: byte %td is read or written\n", each->name.c_str(),
                   each->bytes, address - each->data);
      ::_exit(1);
    }
  std::fprintf(stderr, "invalid access that no argument is near\n");
  ::_exit(1);
}

void watchFaults() {
  struct sigaction action = {};
  action.sa_sigaction = onFault;
  action.sa_flags = SA_SIGINFO;
  ::sigaction(SIGSEGV, &action, nullptr);
  ::sigaction(SIGBUS, &action, nullptr);
}

/// The bytes of all results, one after the other.
llvm::Expected<std::string> run(const Program &program, const std::vector<Tensor> &tensors,
                                Position position) {
  std::vector<Tensor> copies;
  std::vector<adrt_tensor> arguments;
  guarded.clear();
  for (auto [spec, tensor] : llvm::zip_equal(program.getInterface().arguments, tensors)) {
    copies.push_back(llvm::cantFail(tensor.clone())); // a donated one is written
    adrt_tensor view = copies.back().view();
    if (position != Position::Anywhere)
      view.data = guarded.emplace_back(std::make_unique<Guarded>(tensor, position, spec.name))->data;
    // The shape belongs to a tensor that outlives this one.
    view.shape = tensor.view().shape;
    arguments.push_back(view);
  }
  ProgramHost host;
  host.feed = [](const char *, const adrt_tensor &to, std::string &) {
    std::memset(to.data, 0, static_cast<size_t>(adrt::byteSize(to.type, to.rank, to.shape)));
    return ADRT_OK;
  };
  std::vector<ProgramResult> results;
  Failure failure;
  if (!program.run(arguments, host, results, failure))
    return usageError(failure.location + ": " + failure.message);
  std::string bytes;
  for (const ProgramResult &result : results)
    bytes.append(static_cast<const char *>(result.data.data()),
                 static_cast<size_t>(adrt::byteSize(result.type, static_cast<int32_t>(result.shape.size()),
                                                    result.shape.data())));
  return bytes;
}

llvm::Error check(const std::string &file, const std::string &folder, const char *mode, unsigned threads) {
  auto source = llvm::MemoryBuffer::getFile(file);
  if (!source)
    return usageError(file + ": " + source.getError().message());
  ProgramOptions options;
  options.cache = "off";
  options.numerics = mode;
  options.threads = threads;
  Failure failure;
  std::unique_ptr<Program> program = Program::compile((*source)->getBuffer().str(), file, options,
                                                      standardHooks(), [] { return false; }, failure);
  if (!program)
    return usageError(failure.diagnostics.empty() ? failure.message : failure.diagnostics.front().text);
  std::vector<Tensor> tensors;
  for (const ProgramValue &argument : program->getInterface().arguments) {
    llvm::Expected<NpyFile> npy = NpyFile::open(folder + "/" + argument.name + ".npy");
    if (!npy)
      return npy.takeError();
    llvm::Expected<Tensor> tensor = npy->load(argument.type);
    if (!tensor)
      return tensor.takeError();
    tensors.push_back(std::move(*tensor));
  }
  std::string expected;
  for (Position position : {Position::Anywhere, Position::End, Position::Start}) {
    llvm::Expected<std::string> found = run(*program, tensors, position);
    if (!found)
      return found.takeError();
    if (position == Position::Anywhere)
      expected = std::move(*found);
    else if (*found != expected)
      return usageError(std::string("operands right ") + positionNames[static_cast<int>(position)] +
                        " a page that nobody may touch give other results");
  }
  return llvm::Error::success();
}

} // namespace

int main(int argc, char **argv) {
  unsigned threads = 0;
  if (argc != 5 || llvm::StringRef(argv[4]).getAsInteger(10, threads)) {
    std::fprintf(stderr, "usage: ad-guarded-run PROGRAM FOLDER MODE THREADS\n");
    return 2;
  }
  watchFaults();
  if (llvm::Error error = check(argv[1], argv[2], argv[3], threads)) {
    std::fprintf(stderr, "%s\n", consumeExitError(std::move(error)).second.c_str());
    return 1;
  }
  return 0;
}
