// The fuzzer: runs random programs of public operations with hostile arguments, built by libFuzzer
// from bytes. A gradus::Error is a good answer, and so is std::bad_alloc where more memory was
// asked for than there is here; any other exception, a report of a sanitizer, a hang, a leak, or a
// tensor that reaches beyond its storage is a finding. GRADUS_FUZZ_TRACE=1 prints the program as it
// runs.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>
#include <span>

#include "framework/autograd/no_grad.h"
#include "framework/core/error.h"
#include "framework/core/parallel.h"
#include "framework/core/random.h"
#include "tests/fuzz/program.h"

namespace {

bool operation_runs = false;  // libFuzzer's own requests are not refused
bool refused_memory = false;

void* allocate(std::size_t bytes, std::size_t alignment) {
  if (operation_runs && bytes > gradus::fuzz::kMostBytes) {
    refused_memory = true;
    throw std::bad_alloc();
  }
  void* memory = nullptr;
  if (posix_memalign(&memory, alignment, bytes) != 0) throw std::bad_alloc();
  return memory;
}

}  // namespace

void* operator new(std::size_t bytes) { return allocate(bytes, alignof(std::max_align_t)); }
void* operator new(std::size_t bytes, std::align_val_t alignment) {
  return allocate(bytes, static_cast<std::size_t>(alignment));
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t /*bytes*/) noexcept { std::free(memory); }
void operator delete(void* memory, std::align_val_t /*alignment*/) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t /*bytes*/, std::align_val_t /*alignment*/) noexcept {
  std::free(memory);
}

// What the library allocates by new(nothrow) comes from the sanitizer, and is freed above.
extern "C" const char* __asan_default_options() { return "alloc_dealloc_mismatch=0"; }

namespace gradus::fuzz {
namespace {

void trace(const char* what, const char* outcome) {
  static const bool wanted = std::getenv("GRADUS_FUZZ_TRACE") != nullptr;
  if (wanted) std::fprintf(stderr, "  %s%s\n", what, outcome);
}

const Operation& chosen_operation(Program& p) {
  const std::span<const Operation> families[] = {op_operations(), autograd_operations(),
                                                 layer_operations()};
  const int number = p.byte();
  const auto& family = families[number < 160 ? 0 : number < 232 ? 1 : 2];
  return family[static_cast<std::size_t>(p.byte()) % family.size()];
}

/// An error leads with who speaks, as in "matmul: inner sizes differ".
void check_grammar(const Error& error) {
  const char* colon = std::strchr(error.what(), ':');
  if (colon == nullptr || colon == error.what()) fail(text("an error says '", error.what(), "'"));
}

void run_one(Program& p) {
  const Operation& operation = chosen_operation(p);
  trace(operation.name, "");
  refused_memory = false;
  operation_runs = true;
  try {
    const GradMode mode(!p.rarely(8));
    operation.run(p);
  } catch (const Error& error) {
    trace("    threw ", error.what());
    check_grammar(error);
  } catch (const std::bad_alloc&) {
    trace("    threw ", "std::bad_alloc");
    if (!refused_memory) throw;
  }
  operation_runs = false;
  if (!grad_enabled()) fail("a scope without gradients outlived its end");
}

void run(std::span<const std::uint8_t> bytes) {
  Program p(bytes);
  while (!p.has_ended()) run_one(p);
  p.check_all();
}

}  // namespace
}  // namespace gradus::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  gradus::set_num_threads(1);
  gradus::manual_seed(1);
  gradus::fuzz::run({data, size});
  return 0;
}
