// Chooses, once, the table of kernels that suits the processor.
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

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

// The compiler's builtins ask the processor, and the system about its registers.
std::vector<const Table*> find_usable() {
  std::vector<const Table*> usable;
#ifdef GRADUS_HAS_AVX512
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
      __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") &&
      __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi2")) {
    usable.push_back(&avx512::table());
  }
#endif
#ifdef GRADUS_HAS_AVX2
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
      __builtin_cpu_supports("bmi2")) {
    usable.push_back(&avx2::table());
  }
#endif
  usable.push_back(&baseline::table());
  return usable;
}

const Table& choose() {
  const char* wanted = std::getenv("GRADUS_ISA");
  std::string names;
  for (const Table* usable : usable_tables()) {
    if (!wanted || *wanted == '\0' || std::strcmp(wanted, usable->isa) == 0) return *usable;
    names += names.empty() ? usable->isa : text(", ", usable->isa);
  }
  throw ValueError(text("GRADUS_ISA: '", wanted, "' cannot run here"), {.need = "one of " + names});
}

}  // namespace

std::span<const Table* const> usable_tables() {
  static const std::vector<const Table*> usable = find_usable();
  return usable;
}

const Table& table() {
  static const Table& chosen = choose();
  return chosen;
}

}  // namespace gradus::kernels

const char* gradus::instruction_set() { return kernels::table().isa; }

std::vector<const char*> gradus::instruction_sets() {
  std::vector<const char*> names;
  for (const kernels::Table* table : kernels::usable_tables()) names.push_back(table->isa);
  return names;
}
