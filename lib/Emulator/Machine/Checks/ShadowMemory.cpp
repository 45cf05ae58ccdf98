/* Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

   Storing and completing records of accesses. */
#include "ShadowMemory.h"

#include <algorithm>

using namespace adsim;

void ShadowWord::enterWrite(const Record &record) {
  // The hidden records happened before this write. A later access that races with one of them is not ordered
  // after this write either, so the record of this write is enough. Only bytes outside of `record.mask` need
  // old records.
  auto hidden = [&](const Record &old) { return (old.mask & ~record.mask) == 0; };
  if (read.mask && hidden(read))
    read = Record();
  if (spill) {
    auto drop = [&](std::vector<Record> &records) {
      records.erase(std::remove_if(records.begin(), records.end(), hidden), records.end());
    };
    drop(spill->reads);
    drop(spill->writes);
  }
  if (!write.mask || hidden(write))
    write = record;
  else
    spilled().writes.push_back(record);
}

void ShadowWord::complete(uint32_t number, const Record &record) {
  auto replace = [&](Record &old) {
    if (!old.mask || !old.is(RecordPending) || old.tick != number || old.cluster != record.cluster)
      return;
    uint8_t mask = old.mask;
    old = record;
    old.mask = mask;
  };
  replace(write);
  replace(read);
  if (!spill)
    return;
  for (Record &old : spill->writes)
    replace(old);
  for (Record &old : spill->reads)
    replace(old);
}

ShadowWord &GlobalShadow::word(uint64_t address) {
  uint64_t index = address / 4, number = index / pageWords;
  if (!lastPage || number != lastNumber) {
    std::unique_ptr<Page> &page = pages[number];
    if (!page)
      page = std::make_unique<Page>();
    lastPage = page.get();
    lastNumber = number;
  }
  return lastPage->words[index % pageWords];
}

void WrittenBytes::set(uint64_t offset, uint64_t bytes) {
  while (bytes) {
    uint64_t low = offset & 63, here = std::min<uint64_t>(bytes, 64 - low);
    bits[offset >> 6] |= lowMask(here) << low;
    offset += here;
    bytes -= here;
  }
}

void WrittenBytes::clear(uint64_t offset, uint64_t bytes) {
  while (bytes) {
    uint64_t low = offset & 63, here = std::min<uint64_t>(bytes, 64 - low);
    bits[offset >> 6] &= ~(lowMask(here) << low);
    offset += here;
    bytes -= here;
  }
}

bool WrittenBytes::allSlow(uint64_t offset, uint64_t bytes) const {
  while (bytes) {
    uint64_t low = offset & 63, here = std::min<uint64_t>(bytes, 64 - low);
    if ((~bits[offset >> 6] >> low) & lowMask(here))
      return false;
    offset += here;
    bytes -= here;
  }
  return true;
}

bool WrittenBytes::any(uint64_t offset, uint64_t bytes) const {
  while (bytes) {
    uint64_t low = offset & 63, here = std::min<uint64_t>(bytes, 64 - low);
    if ((bits[offset >> 6] >> low) & lowMask(here))
      return true;
    offset += here;
    bytes -= here;
  }
  return false;
}

uint64_t WrittenBytes::firstMissing(uint64_t offset, uint64_t bytes) const {
  for (uint64_t at = offset; at < offset + bytes; ++at)
    if (!(bits[at >> 6] >> (at & 63) & 1))
      return at;
  return offset + bytes;
}
