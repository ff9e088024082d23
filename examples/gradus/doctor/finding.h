// Finding: one thing that the doctor looked at, and the cure where something is wrong.
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace examples {

enum class Verdict {
  well,
  note,  ///< works, but could be better
  fault
};

/// "ok", "note" or "FAULT"
const char* name(Verdict verdict);

struct Finding {
  std::string topic;
  Verdict verdict = Verdict::well;
  std::string found{};
  std::string cure{};
};

/// What `look` finds, or a fault with the error that it throws.
Finding examined(const std::string& topic, const std::function<Finding()>& look);

// ---- where they come from, each in a file of its own ----
/// Compiler, kernels, threads, terminal, memory.
std::vector<Finding> look_at_machine();
/// Known digits, gradients, and all kernels against the baseline's.
std::vector<Finding> check_numbers();
/// Floating-point operations per second in a product of matrices.
Finding measure_speed();

}  // namespace examples
