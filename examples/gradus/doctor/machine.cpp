#include <sched.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <string>

#include "examples/gradus/doctor/finding.h"
#include "examples/support/format.h"
#include "examples/support/terminal.h"
#include "framework/core/error.h"
#include "framework/core/parallel.h"
#include "framework/kernels/instruction_set.h"

namespace examples {
namespace {

using gradus::text;

std::string environment(const char* variable) {
  const char* value = std::getenv(variable);
  return value ? value : "";
}

Finding compiler() {
#ifdef __clang__
  const std::string version = text("clang ", __clang_major__, ".", __clang_minor__);
#else
  const std::string version = text("g++ ", __GNUC__, ".", __GNUC_MINOR__);
#endif
#ifdef __OPTIMIZE__
  return {"compiler", Verdict::well, version + ", C++20, optimised"};
#else
  return {"compiler", Verdict::note, version + ", C++20, not optimised",
          "cmake --preset release, for speed"};
#endif
}

Finding kernels() {
  const std::string chosen = gradus::instruction_set();
  std::string usable;
  for (const char* each : gradus::instruction_sets()) {
    usable += usable.empty() ? each : text(", ", each);
  }
  Finding finding{"kernels", Verdict::well, chosen + ", of " + usable};
  if (chosen != gradus::instruction_sets().front()) {
    finding.verdict = Verdict::note;
    finding.cure = text("unset GRADUS_ISA (it is ", environment("GRADUS_ISA"), "), for speed");
  }
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx2") && gradus::instruction_sets().size() == 1) {
    finding.verdict = Verdict::note;
    finding.cure = "this build has no others: cmake -D GRADUS_ISAS=\"baseline;avx2;avx512\"";
  }
#endif
  return finding;
}

int usable_processors() {
  cpu_set_t processors;
  CPU_ZERO(&processors);
  const bool known = sched_getaffinity(0, sizeof processors, &processors) == 0;
  return known ? CPU_COUNT(&processors) : gradus::num_threads();
}

Finding threads() {
  const int count = gradus::num_threads();
  const int processors = usable_processors();
  Finding finding{"threads", Verdict::well, text(count, ", processors ", processors)};
  if (count > processors) {
    finding.verdict = Verdict::note;
    finding.cure =
        text("GRADUS_NUM_THREADS=", processors, ": more threads than that wait for each other");
  }
  return finding;
}

Finding terminal() {
  const Terminal output(STDOUT_FILENO);
  const bool is_terminal = isatty(STDOUT_FILENO) == 1;
  const std::string size = is_terminal ? text(output.width(), " columns") : "none (a pipe or file)";
  const bool has_colors = output.colored(1, "x") != "x";
  Finding finding{"terminal", Verdict::well,
                  text(size, ", ", has_colors ? "colours" : "no colours", ", ",
                       output.unicode() ? "UTF-8" : "ASCII")};
  if (!output.unicode()) {
    finding.verdict = Verdict::note;
    finding.cure = "export LC_ALL=C.UTF-8, for pictures that are not ASCII";
  }
  return finding;
}

/// A line of /proc/meminfo in bytes; 0 where there is none.
double memory(const std::string& name) {
  std::ifstream file("/proc/meminfo");
  std::string key;
  for (double kilobytes = 0.0; file >> key >> kilobytes; file.ignore(100, '\n')) {
    if (key == name + ":") return 1024.0 * kilobytes;
  }
  return 0.0;
}

Finding memory_use() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const double free = memory("MemAvailable");
  const double own = 1024.0 * static_cast<double>(usage.ru_maxrss);
  Finding finding{"memory", Verdict::well,
                  byte_size(free) + " free of " + byte_size(memory("MemTotal")) +
                      ", this program " + byte_size(own)};
  if (free < 5e8) {
    finding.verdict = Verdict::note;
    finding.cure = "a smaller --batch or --width, or end other programs";
  }
  return finding;
}

}  // namespace

std::vector<Finding> look_at_machine() {
  return {examined("compiler", compiler), examined("kernels", kernels),
          examined("threads", threads), examined("terminal", terminal),
          examined("memory", memory_use)};
}

}  // namespace examples
