// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Maps shared objects that refer to the runtime alone. dlopen is not used: it needs a file or /proc, and the
// functions of the runtime among the symbols of the process, where another library may define the same names.
// The objects contain segments, a symbol table and four kinds of relocations, and nothing else.
#include "../Executable/CompiledExecutable.h"
#include "Adx.h"
#include "adjoint/Support/Error.h"

#include <algorithm>
#include <cstring>
#include <elf.h>
#include <sys/mman.h>
#include <unistd.h>

using namespace mlir::ad::runner;
using llvm::Error;
using llvm::Expected;

namespace {

#if defined(__x86_64__)
constexpr uint16_t machine = EM_X86_64;
constexpr uint32_t relative = R_X86_64_RELATIVE,
                   absolute[] = {R_X86_64_64, R_X86_64_GLOB_DAT, R_X86_64_JUMP_SLOT};
#elif defined(__aarch64__)
constexpr uint16_t machine = EM_AARCH64;
constexpr uint32_t relative = R_AARCH64_RELATIVE,
                   absolute[] = {R_AARCH64_ABS64, R_AARCH64_GLOB_DAT, R_AARCH64_JUMP_SLOT};
#else
#error "programs that are compiled ahead of time need the relocations of this machine"
#endif

Error malformed(const llvm::Twine &what) { return usageError("the code is malformed: " + what); }

class SharedObject final : public LoadedCode {
public:
  SharedObject(llvm::StringRef image, std::vector<adrt::SymbolTable> imports)
      : image(image), imports(std::move(imports)) {}
  ~SharedObject() override {
    if (base)
      ::munmap(base, span);
  }

  /// Maps and relocates; the image is not needed afterwards.
  Error load();
  Expected<void *> find(const std::string &symbol) override;

private:
  Error readHead();
  Error mapSegments();
  Error readDynamic();
  Error readSymbols(uint64_t symbolTable, uint64_t hashTable, uint64_t stringTable, uint64_t stringBytes);
  Error relocate(uint64_t table, uint64_t bytes);
  Error protect();
  Expected<uint64_t> resolve(const Elf64_Sym &symbol) const;
  /// `count` objects at an address of the program; null when they are not inside the mapping.
  template <class T> T *at(uint64_t address, uint64_t count = 1) const {
    bool inside = address <= span && count <= (span - address) / sizeof(T) && address % alignof(T) == 0;
    return inside ? reinterpret_cast<T *>(base + address) : nullptr;
  }
  /// The name of a symbol; empty when it is no string inside the table.
  llvm::StringRef nameOf(const Elf64_Sym &symbol) const;

  llvm::StringRef image;
  std::vector<adrt::SymbolTable> imports;
  llvm::ArrayRef<Elf64_Phdr> segments; // in the image
  uint64_t dynamicTable = 0, dynamicBytes = 0;
  char *base = nullptr;
  size_t span = 0;
  llvm::ArrayRef<Elf64_Sym> symbols;
  llvm::StringRef names;
  uint64_t relocations = 0, relocationBytes = 0, jumps = 0, jumpBytes = 0;
};

} // namespace

Error SharedObject::readHead() {
  Elf64_Ehdr head;
  if (image.size() < sizeof(head))
    return malformed("it is too short");
  std::memcpy(&head, image.data(), sizeof(head));
  if (std::memcmp(head.e_ident, ELFMAG, SELFMAG) != 0 || head.e_ident[EI_CLASS] != ELFCLASS64 ||
      head.e_ident[EI_DATA] != ELFDATA2LSB || head.e_type != ET_DYN || head.e_machine != machine)
    return malformed("it is no shared object of this machine");
  if (head.e_phentsize != sizeof(Elf64_Phdr) || head.e_phoff > image.size() ||
      head.e_phnum > (image.size() - head.e_phoff) / sizeof(Elf64_Phdr) || head.e_phoff % alignof(Elf64_Phdr))
    return malformed("its segments are not in the file");
  segments = {reinterpret_cast<const Elf64_Phdr *>(image.data() + head.e_phoff), head.e_phnum};
  return Error::success();
}

Error SharedObject::mapSegments() {
  constexpr uint64_t largest = uint64_t(1) << 40;
  for (const Elf64_Phdr &segment : segments) {
    if (segment.p_type == PT_TLS)
      return malformed("it has variables of threads");
    if (segment.p_offset > image.size() || segment.p_filesz > image.size() - segment.p_offset ||
        segment.p_vaddr > largest || segment.p_memsz > largest || segment.p_filesz > segment.p_memsz)
      return malformed("a segment is outside of it");
    if (segment.p_type == PT_LOAD) {
      // The tables of symbols and relocations are read in the mapping, also after protect().
      if (!(segment.p_flags & PF_R))
        return malformed("a segment cannot be read");
      if ((segment.p_flags & PF_W) && (segment.p_flags & PF_X))
        return malformed("a segment can be both written and executed");
      span = std::max<size_t>(span, segment.p_vaddr + segment.p_memsz);
    }
    if (segment.p_type == PT_DYNAMIC) {
      dynamicTable = segment.p_vaddr;
      dynamicBytes = segment.p_memsz;
    }
  }
  size_t page = static_cast<size_t>(::sysconf(_SC_PAGESIZE));
  span = (span + page - 1) / page * page;
  void *memory =
      span ? ::mmap(nullptr, span, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) : MAP_FAILED;
  if (memory == MAP_FAILED)
    return usageError("not enough memory for the code");
  base = static_cast<char *>(memory);
  for (const Elf64_Phdr &segment : segments)
    if (segment.p_type == PT_LOAD)
      std::memcpy(base + segment.p_vaddr, image.data() + segment.p_offset, segment.p_filesz);
  return Error::success();
}

Error SharedObject::readDynamic() {
  const auto *entries = at<Elf64_Dyn>(dynamicTable, dynamicBytes / sizeof(Elf64_Dyn));
  if (!entries || !dynamicBytes)
    return malformed("it has no dynamic table");
  uint64_t symbolTable = 0, stringTable = 0, stringBytes = 0, hashTable = 0;
  const std::pair<int64_t, uint64_t *> known[] = {{DT_SYMTAB, &symbolTable}, {DT_STRTAB, &stringTable},
                                                  {DT_STRSZ, &stringBytes},  {DT_HASH, &hashTable},
                                                  {DT_RELA, &relocations},   {DT_RELASZ, &relocationBytes},
                                                  {DT_JMPREL, &jumps},       {DT_PLTRELSZ, &jumpBytes}};
  const int64_t refused[] = {DT_NEEDED, DT_INIT, DT_INIT_ARRAY, DT_REL, DT_RELR};
  for (const Elf64_Dyn &entry : llvm::ArrayRef(entries, dynamicBytes / sizeof(Elf64_Dyn))) {
    if (llvm::is_contained(refused, entry.d_tag))
      return malformed("its dynamic table has entry " + llvm::Twine(entry.d_tag));
    for (auto [tag, value] : known)
      if (tag == entry.d_tag)
        *value = entry.d_un.d_val;
  }
  return readSymbols(symbolTable, hashTable, stringTable, stringBytes);
}

Error SharedObject::readSymbols(uint64_t symbolTable, uint64_t hashTable, uint64_t stringTable,
                                uint64_t stringBytes) {
  // The hash table is only read for the number of symbols.
  const auto *hash = at<uint32_t>(hashTable, 2);
  const auto *table = hash ? at<Elf64_Sym>(symbolTable, hash[1]) : nullptr;
  const auto *strings = at<char>(stringTable, stringBytes);
  if (!table || !strings || !hashTable)
    return malformed("it has no table of symbols");
  symbols = {table, hash[1]};
  names = {strings, stringBytes};
  return Error::success();
}

llvm::StringRef SharedObject::nameOf(const Elf64_Sym &symbol) const {
  auto [name, rest] = names.drop_front(std::min<size_t>(symbol.st_name, names.size())).split('\0');
  return rest.data() == name.end() ? llvm::StringRef() : name;
}

Expected<uint64_t> SharedObject::resolve(const Elf64_Sym &symbol) const {
  if (symbol.st_shndx != SHN_UNDEF)
    return reinterpret_cast<uint64_t>(base) + symbol.st_value;
  for (adrt::SymbolTable table : imports)
    for (const adrt::Symbol &import : table)
      if (nameOf(symbol) == import.name)
        return reinterpret_cast<uint64_t>(import.address);
  return exitError(ExitProgramError,
                   "internal error: the compiled program does not link: it needs " + nameOf(symbol));
}

Error SharedObject::relocate(uint64_t table, uint64_t bytes) {
  const auto *entries = at<Elf64_Rela>(table, bytes / sizeof(Elf64_Rela));
  if (!entries)
    return malformed("its relocations are outside of it");
  for (const Elf64_Rela &entry : llvm::ArrayRef(entries, bytes / sizeof(Elf64_Rela))) {
    uint32_t kind = ELF64_R_TYPE(entry.r_info);
    uint64_t index = ELF64_R_SYM(entry.r_info);
    auto *target = at<uint64_t>(entry.r_offset);
    if (!target || index >= symbols.size())
      return malformed("a relocation is outside of it");
    if (kind == relative) {
      *target = reinterpret_cast<uint64_t>(base) + static_cast<uint64_t>(entry.r_addend);
      continue;
    }
    if (std::find(std::begin(absolute), std::end(absolute), kind) == std::end(absolute))
      return malformed("it has relocations of kind " + llvm::Twine(kind));
    Expected<uint64_t> value = resolve(symbols[index]);
    if (!value)
      return value.takeError();
    *target = *value + static_cast<uint64_t>(entry.r_addend);
  }
  return Error::success();
}

Error SharedObject::protect() {
  size_t page = static_cast<size_t>(::sysconf(_SC_PAGESIZE));
  for (const Elf64_Phdr &segment : segments) {
    if (segment.p_type != PT_LOAD)
      continue;
    size_t begin = segment.p_vaddr / page * page, end = segment.p_vaddr + segment.p_memsz;
    int access = (segment.p_flags & PF_R ? PROT_READ : 0) | (segment.p_flags & PF_W ? PROT_WRITE : 0) |
                 (segment.p_flags & PF_X ? PROT_EXEC : 0);
    if (::mprotect(base + begin, end - begin, access) != 0)
      return usageError("the system does not let this process execute the code");
    __builtin___clear_cache(base + begin, base + end);
  }
  return Error::success();
}

Error SharedObject::load() {
  if (Error error = readHead())
    return error;
  if (Error error = mapSegments())
    return error;
  if (Error error = readDynamic())
    return error;
  if (Error error = relocate(relocations, relocationBytes))
    return error;
  if (Error error = relocate(jumps, jumpBytes))
    return error;
  if (Error error = protect())
    return error;
  segments = {};
  image = {};
  return Error::success();
}

Expected<void *> SharedObject::find(const std::string &name) {
  for (const Elf64_Sym &symbol : symbols)
    if (symbol.st_shndx != SHN_UNDEF && symbol.st_value < span && nameOf(symbol) == name)
      return base + symbol.st_value;
  return malformed("it has no " + name);
}

Expected<std::unique_ptr<Executable>> mlir::ad::runner::loadAdx(const CompiledProgram &program) {
  auto code = std::make_unique<SharedObject>(program.objects.front(), symbolsFor(program));
  if (Error error = code->load())
    return std::move(error);
  Expected<void *> described = code->find(descriptionSymbol(program));
  Expected<std::unique_ptr<Executable>> executable = makeExecutable(program, std::move(code));
  if (described || !executable) { // the entry or a kernel that is missing is the better reason
    llvm::consumeError(described.takeError());
    return executable;
  }
  llvm::consumeError(described.takeError());
  return usageError("the file is malformed: its code was compiled for another description; emit it again");
}
