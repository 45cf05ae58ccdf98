/* Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

   Messages of findings. The first line names the kernel, the thread and the location. If there is a second
   access, the second line names it. */
#include "Worker.h"

using namespace adsim;

const char *adsim::failureName(Failure failure) {
  switch (failure) {
  case Failure::None:
    return "no failure";
  case Failure::InvalidLaunch:
    return "invalid launch";
  case Failure::LackOfMemory:
    return "lack of memory";
  case Failure::Interrupted:
    return "interrupted";
  case Failure::Race:
    return "race";
  case Failure::MissingProxyFence:
    return "missing proxy fence";
  case Failure::BarrierDivergence:
    return "barrier divergence";
  case Failure::Deadlock:
    return "deadlock";
  case Failure::UnwrittenRead:
    return "read of unwritten shared memory";
  case Failure::OutOfBounds:
    return "out of bounds";
  case Failure::Misaligned:
    return "misaligned access";
  case Failure::MBarrierMisuse:
    return "mbarrier misuse";
  case Failure::RegisterMisuse:
    return "register misuse";
  case Failure::SwizzleMismatch:
    return "wrong swizzle";
  case Failure::Divergence:
    return "divergent warp";
  case Failure::InvalidInstruction:
    return "invalid instruction";
  case Failure::DivisionByZero:
    return "division by zero";
  case Failure::Trap:
    return "trap";
  }
  return "unknown failure";
}

static std::string triple(uint32_t x, uint32_t y, uint32_t z) {
  return "(" + std::to_string(x) + ", " + std::to_string(y) + ", " + std::to_string(z) + ")";
}

std::string adsim::describeThread(const Thread &thread) {
  const uint32_t *tid = thread.registers + TidX;
  return triple(tid[0], tid[1], tid[2]);
}

static std::string siteText(const Site &site) {
  return std::string(" at ") + site.location + " ('" + site.operation + "')";
}

void Worker::fail(Failure kind, const Thread &thread, uint32_t siteIndex, const std::string &what,
                  uint32_t otherSite, const std::string &otherText) {
  if (failed)
    return;
  failed = true;
  const Cta &cta = *thread.cta;
  result.failure = kind;
  result.message = std::string(failureName(kind)) + " in kernel '" + state.code.name + "', CTA " +
                   triple(cta.id.x, cta.id.y, cta.id.z) + ", thread " + describeThread(thread) + ": " + what;
  if (siteIndex < state.code.siteCount) {
    Site site = state.code.site(siteIndex);
    result.location = site.location;
    result.message += siteText(site);
  }
  if (!otherText.empty())
    result.message += "\n  " + otherText;
  if (otherSite < state.code.siteCount) {
    Site other = state.code.site(otherSite);
    result.otherLocation = other.location;
    result.message += siteText(other);
  }
}
