// Chooses, once, the table of kernels that suits the processor.
#include <cstdlib>
#include <cstring>
#include <string>

#include "framework/core/error.h"
#include "framework/kernels/instruction_set.h"
#include "framework/kernels/table.h"

namespace gradus::kernels {

namespace baseline {
const Table& table();
}
#ifdef GRADUS_HAS_AVX2
namespace avx2 {
const Table& table();
}
#endif
#ifdef GRADUS_HAS_AVX512
namespace avx512 {
const Table& table();
}
#endif

namespace {

struct Choice {
  const char* name;
  bool runs_here;
  const Table& (*table)();
};

const Table& choose() {
  // Best first. The compiler's builtins ask the processor, and the system about its registers.
  const Choice choices[] = {
#ifdef GRADUS_HAS_AVX512
      {"avx512",
       __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
           __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") &&
           __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi2"),
       avx512::table},
#endif
#ifdef GRADUS_HAS_AVX2
      {"avx2",
       __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
           __builtin_cpu_supports("bmi2"),
       avx2::table},
#endif
      {"baseline", true, baseline::table},
  };
  const char* wanted = std::getenv("GRADUS_ISA");
  std::string usable;
  for (const Choice& choice : choices) {
    if (!choice.runs_here) continue;
    if (!wanted || *wanted == '\0' || std::strcmp(wanted, choice.name) == 0) return choice.table();
    usable += usable.empty() ? choice.name : text(", ", choice.name);
  }
  throw ValueError(text("GRADUS_ISA: '", wanted, "' cannot run here"),
                   {.need = "one of " + usable});
}

}  // namespace

const Table& table() {
  static const Table& chosen = choose();
  return chosen;
}

}  // namespace gradus::kernels

const char* gradus::instruction_set() { return kernels::table().isa; }
