// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// The container: a head, a checksum of all other bytes, a table of sections. The fields that are checked
// first are those that every later version keeps: the magic bytes, the version, the length.
#include "AdxFile.h"
#include "adjoint/Runtime/adrt.h"
#include "adjoint/Support/Error.h"
#include "adjoint/Support/OutputFile.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/SHA256.h"

#include <array>

using namespace mlir::ad::runner;
using llvm::Error;
using llvm::Expected;
using llvm::StringRef;
namespace endian = llvm::support::endian;

namespace {

// As in PNG: detects a transfer as text, or through seven bits.
constexpr llvm::StringLiteral magic("\x89"
                                    "ADX\r\n\x1a\n");
constexpr size_t digestBytes = 32;
// magic, version, version of the runtime's ABI, bytes of the file, number of sections
constexpr size_t headBytes = 8 + 4 + 4 + 8 + 8;
constexpr size_t tableOffset = headBytes + digestBytes;
// name, offset, bytes
constexpr size_t nameBytes = 16, rowBytes = nameBytes + 8 + 8;
constexpr size_t alignment = 64;
constexpr size_t maxSections = 64;

size_t align(size_t offset) { return (offset + alignment - 1) / alignment * alignment; }

void append32(std::string &text, uint32_t value) {
  text.resize(text.size() + sizeof(value));
  endian::write32le(text.data() + text.size() - sizeof(value), value);
}

void append64(std::string &text, uint64_t value) {
  text.resize(text.size() + sizeof(value));
  endian::write64le(text.data() + text.size() - sizeof(value), value);
}

/// Of everything but the checksum itself.
std::array<uint8_t, digestBytes> checksum(StringRef head, llvm::ArrayRef<StringRef> rest) {
  llvm::SHA256 hasher;
  hasher.update(head);
  for (StringRef part : rest)
    hasher.update(part);
  return hasher.final();
}

StringRef asText(llvm::ArrayRef<uint8_t> bytes) {
  return {reinterpret_cast<const char *>(bytes.data()), bytes.size()};
}

Error damaged(const llvm::Twine &what) { return usageError("the file is damaged: " + what); }

Error checkMagic(StringRef bytes) {
  if (!bytes.starts_with(magic.substr(0, std::min(bytes.size(), magic.size()))) || bytes.empty())
    return usageError("not a compiled program: it does not begin as an .adx file does; "
                      "ad-runner PROGRAM.mlir --emit FILE.adx writes one");
  return Error::success();
}

/// Checks the head before the checksum: another version and a truncated file get messages of their own.
Error checkHead(StringRef bytes) {
  if (Error error = checkMagic(bytes))
    return error;
  if (bytes.size() < tableOffset)
    return damaged("it ends after " + llvm::Twine(bytes.size()) + " bytes, within its head");
  const char *head = bytes.data() + magic.size();
  uint32_t version = endian::read32le(head), abi = endian::read32le(head + 4);
  uint64_t size = endian::read64le(head + 8);
  if (version != adxVersion)
    return usageError("the file has version " + llvm::Twine(version) + " of the format, this program reads " +
                      llvm::Twine(adxVersion) + "; emit it again, or take the runner of its compiler");
  if (size != bytes.size())
    return damaged("it has " + llvm::Twine(bytes.size()) + " bytes, expected " + llvm::Twine(size));
  StringRef stored = bytes.substr(headBytes, digestBytes);
  if (stored != asText(checksum(bytes.take_front(headBytes), {bytes.drop_front(tableOffset)})))
    return damaged("its checksum does not match; emit it again");
  if (abi != ADRT_ABI_VERSION)
    return usageError("the file needs version " + llvm::Twine(abi) + " of the runtime, this program has " +
                      llvm::Twine(ADRT_ABI_VERSION) + "; emit it again");
  return Error::success();
}

} // namespace

bool mlir::ad::runner::isAdx(StringRef head) { return head.starts_with(magic); }

Expected<uint64_t> mlir::ad::runner::readAdxLength(StringRef head) {
  if (Error error = checkMagic(head))
    return std::move(error);
  return head.size() < headBytes ? head.size() : endian::read64le(head.data() + magic.size() + 8);
}

Expected<std::vector<AdxSection>> mlir::ad::runner::splitAdx(StringRef bytes) {
  if (bytes.size() < tableOffset)
    return damaged("it has no table of sections");
  uint64_t count = endian::read64le(bytes.data() + headBytes - 8);
  if (count > maxSections || bytes.size() < tableOffset + count * rowBytes)
    return damaged("its table of sections does not fit");
  std::vector<AdxSection> sections;
  size_t end = tableOffset + count * rowBytes;
  for (uint64_t index = 0; index < count; ++index) {
    StringRef row = bytes.substr(tableOffset + index * rowBytes, rowBytes);
    uint64_t offset = endian::read64le(row.data() + nameBytes);
    uint64_t size = endian::read64le(row.data() + nameBytes + 8);
    if (offset != align(end) || offset > bytes.size() || size > bytes.size() - offset)
      return damaged("section " + llvm::Twine(index) + " is outside of the file");
    end = offset + size;
    sections.push_back({row.take_front(nameBytes).split('\0').first, bytes.substr(offset, size)});
  }
  if (end != bytes.size())
    return damaged("it has bytes after its last section");
  return std::move(sections);
}

Expected<std::vector<AdxSection>> mlir::ad::runner::openAdx(StringRef bytes) {
  if (Error error = checkHead(bytes))
    return std::move(error);
  return splitAdx(bytes);
}

Error mlir::ad::runner::writeAdxFile(StringRef path, llvm::ArrayRef<AdxSection> sections) {
  static constexpr char zeros[alignment] = {};
  std::string table;
  std::vector<StringRef> contents;
  size_t end = tableOffset + sections.size() * rowBytes;
  for (const AdxSection &section : sections) {
    size_t offset = align(end);
    contents.push_back({zeros, offset - end});
    contents.push_back(section.content);
    end = offset + section.content.size();
    std::string name = section.name.str();
    name.resize(nameBytes, '\0');
    table += name;
    append64(table, offset);
    append64(table, section.content.size());
  }
  std::string head = magic.str();
  append32(head, adxVersion);
  append32(head, ADRT_ABI_VERSION);
  append64(head, end);
  append64(head, sections.size());
  contents.insert(contents.begin(), table);
  std::array<uint8_t, digestBytes> digest = checksum(head, contents);
  contents.insert(contents.begin(), {StringRef(head), asText(digest)});
  return writeFile(path, contents);
}
