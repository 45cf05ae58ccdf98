// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Identifies the code that compiles programs: the linker's build ids of this program and of the LLVM and MLIR
// libraries, read from their images in memory. An image without a build id is identified by the size and the
// time of its file.
#include "ObjectCache.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Config/llvm-config.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

#include <cstring>
#include <link.h>

using namespace llvm;

namespace {

std::string fileId(StringRef path) {
  sys::fs::file_status status;
  if (sys::fs::status(path, status))
    return "unknown";
  return std::to_string(status.getSize()) + "@" +
         std::to_string(status.getLastModificationTime().time_since_epoch().count());
}

/// The GNU build id in the notes of a loaded image; empty if there is none.
std::string noteId(const dl_phdr_info &info) {
  auto align = [](size_t size) { return (size + 3) & ~size_t(3); };
  for (int index = 0; index < info.dlpi_phnum; ++index) {
    const auto &header = info.dlpi_phdr[index];
    if (header.p_type != PT_NOTE)
      continue;
    const char *position = reinterpret_cast<const char *>(info.dlpi_addr + header.p_vaddr);
    const char *end = position + header.p_memsz;
    while (position + sizeof(ElfW(Nhdr)) <= end) {
      ElfW(Nhdr) note;
      std::memcpy(&note, position, sizeof(note));
      const char *name = position + sizeof(note), *content = name + align(note.n_namesz);
      position = content + align(note.n_descsz);
      if (position > end)
        break;
      if (note.n_type == NT_GNU_BUILD_ID && StringRef(name, note.n_namesz) == StringRef("GNU\0", 4))
        return toHex(StringRef(content, note.n_descsz), /*LowerCase=*/true);
    }
  }
  return "";
}

int collect(dl_phdr_info *info, size_t, void *result) {
  StringRef path = info->dlpi_name;
  StringRef name = sys::path::filename(path);
  if (!path.empty() && !name.starts_with("libMLIR") && !name.starts_with("libLLVM") &&
      !name.contains_insensitive("adjoint"))
    return 0;
  std::string id = noteId(*info);
  if (id.empty())
    id = fileId(path.empty() ? StringRef("/proc/self/exe") : path);
  *static_cast<std::string *>(result) += name.str() + ":" + id + ";";
  return 0;
}

} // namespace

std::string mlir::ad::runner::buildId() {
  std::string result = LLVM_VERSION_STRING ";";
  dl_iterate_phdr(collect, &result);
  return result;
}
