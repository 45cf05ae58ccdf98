/* Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

   Wavefronts and sectors. */
#include "Traffic.h"
#include "adjoint/Emulator/Machine.h"

#include <algorithm>
#include <cstring>

using namespace adsim;

// Accesses of 8 bytes are served per half warp, accesses of 16 bytes per quarter warp.
static uint32_t lanesAtOnce(uint32_t bytes) { return bytes <= 4 ? 32 : bytes <= 8 ? 16 : 8; }

static uint32_t wavefrontsOfPart(const uint64_t *addresses, uint32_t lanes, uint32_t bytes) {
  constexpr uint32_t banks = 32;
  std::vector<uint64_t> words;
  for (uint32_t lane = 0; lane < lanes; ++lane)
    for (uint64_t word = addresses[lane] / 4; word <= (addresses[lane] + bytes - 1) / 4; ++word)
      words.push_back(word);
  std::sort(words.begin(), words.end());
  words.erase(std::unique(words.begin(), words.end()), words.end());
  uint32_t perBank[banks] = {}, wavefronts = 0;
  for (uint64_t word : words)
    wavefronts = std::max(wavefronts, ++perBank[word % banks]);
  return wavefronts;
}

uint32_t adsim::countWavefronts(const uint64_t *addresses, uint32_t lanes, uint32_t bytes) {
  uint32_t wavefronts = 0, step = lanesAtOnce(bytes);
  for (uint32_t lane = 0; lane < lanes; lane += step)
    wavefronts += wavefrontsOfPart(addresses + lane, std::min(step, lanes - lane), bytes);
  return wavefronts;
}

uint32_t adsim::countSectors(const uint64_t *addresses, uint32_t lanes, uint32_t bytes) {
  constexpr uint64_t sectorBytes = 32;
  std::vector<uint64_t> sectors;
  for (uint32_t lane = 0; lane < lanes; ++lane)
    for (uint64_t at = addresses[lane] / sectorBytes; at <= (addresses[lane] + bytes - 1) / sectorBytes; ++at)
      sectors.push_back(at);
  std::sort(sectors.begin(), sectors.end());
  return static_cast<uint32_t>(std::unique(sectors.begin(), sectors.end()) - sectors.begin());
}

static uint64_t distinctBytes(const uint64_t *addresses, uint32_t lanes, uint32_t bytes) {
  std::vector<uint64_t> distinct(addresses, addresses + lanes);
  std::sort(distinct.begin(), distinct.end());
  return static_cast<uint64_t>(std::unique(distinct.begin(), distinct.end()) - distinct.begin()) * bytes;
}

/// The minimum of units for the distinct bytes of a request.
static uint32_t idealUnits(const std::vector<uint64_t> &addresses, uint32_t bytes, bool shared) {
  constexpr uint64_t wavefrontBytes = 128, sectorBytes = 32;
  auto lanes = static_cast<uint32_t>(addresses.size());
  if (!shared)
    return static_cast<uint32_t>((distinctBytes(addresses.data(), lanes, bytes) + sectorBytes - 1) /
                                 sectorBytes);
  uint64_t wavefronts = 0;
  for (uint32_t lane = 0, step = lanesAtOnce(bytes); lane < lanes; lane += step) {
    uint64_t part = distinctBytes(addresses.data() + lane, std::min(step, lanes - lane), bytes);
    wavefronts += (part + wavefrontBytes - 1) / wavefrontBytes;
  }
  return static_cast<uint32_t>(wavefronts);
}

void TrafficCounter::close(uint32_t site, const Request &request) {
  if (request.lanes.empty())
    return;
  // The lanes were added in the order of the schedule; hardware groups them by lane number.
  std::vector<std::pair<uint32_t, uint64_t>> lanes = request.lanes;
  std::sort(lanes.begin(), lanes.end());
  std::vector<uint64_t> addresses;
  for (const auto &lane : lanes)
    addresses.push_back(lane.second);
  auto count = static_cast<uint32_t>(addresses.size());
  uint32_t units = request.shared ? countWavefronts(addresses.data(), count, request.bytes)
                                  : countSectors(addresses.data(), count, request.bytes);
  addRequest(site, request.shared, units, idealUnits(addresses, request.bytes, request.shared));
}

void TrafficCounter::add(uint32_t warp, uint32_t lane, uint32_t lanes, uint32_t site, uint64_t address,
                         uint32_t bytes, bool shared) {
  constexpr size_t maxOpen = 4096;
  Stream &stream = streams[uint64_t(warp) << 32 | site];
  uint32_t number = stream.executed[lane]++;
  if (number < stream.first)
    return; // the request of this lane has been closed
  uint32_t index = number - stream.first;
  if (stream.open.size() <= index)
    stream.open.resize(index + 1);
  Request &request = stream.open[index];
  request.lanes.emplace_back(lane, address);
  request.bytes = bytes;
  request.shared = shared;
  while (!stream.open.empty() &&
         (stream.open.front().lanes.size() >= lanes || stream.open.size() > maxOpen)) {
    close(site, stream.open.front());
    stream.open.pop_front();
    ++stream.first;
  }
}

void TrafficCounter::addRequest(uint32_t site, bool shared, uint32_t units, uint32_t ideal) {
  if (!enabled)
    return;
  Total &total = totals[{site, shared}];
  ++total.requests;
  total.units += units;
  total.idealUnits += ideal;
}

void TrafficCounter::flush() {
  for (auto &[key, stream] : streams)
    for (const Request &request : stream.open)
      close(static_cast<uint32_t>(key), request);
  streams.clear();
}

void TrafficCounter::merge(const TrafficCounter &other) {
  for (const auto &[key, total] : other.totals) {
    Total &mine = totals[key];
    mine.requests += total.requests;
    mine.units += total.units;
    mine.idealUnits += total.idealUnits;
  }
}

// Instructions with the same location and name count together.
void TrafficCounter::collect(Statistics &statistics, const KernelCode &code) const {
  auto addTo = [&](const Site &site, bool shared, const Total &total) {
    auto isSame = [&](const SiteTraffic &known) {
      return known.shared == shared && !std::strcmp(known.site.location, site.location) &&
             !std::strcmp(known.site.operation, site.operation);
    };
    auto known = std::find_if(statistics.traffic.begin(), statistics.traffic.end(), isSame);
    if (known == statistics.traffic.end())
      known = statistics.traffic.insert(known, {site, shared, 0, 0, 0});
    known->requests += total.requests;
    known->units += total.units;
    known->idealUnits += total.idealUnits;
  };
  for (const auto &[key, total] : totals) {
    Site site = key.first < code.siteCount ? code.site(key.first) : Site{"", ""};
    addTo(site, /*shared=*/key.second, total);
  }
}
