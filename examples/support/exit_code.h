// How an example ends: a criterion that was missed, or an error, becomes one plain message on
// stderr and an exit code.
#pragma once

#include <functional>
#include <stdexcept>
#include <string>

namespace examples {

enum ExitCode {
  kWell = 0,
  kCriterionMissed = 1,
  kUsage = 2,
  kData = 3,  ///< a data file or a checkpoint that cannot be used
  kNotANumber = 4,
  kInterrupted = 130
};

/// Ends the program with a code and a message, by way of run().
class Failure : public std::runtime_error {
 public:
  Failure(ExitCode code, const std::string& message) : std::runtime_error(message), code_(code) {}
  ExitCode code() const { return code_; }

 private:
  ExitCode code_;
};

/// Throws Failure unless the criterion, said in words, is met.
void require(bool met, const std::string& criterion);

/// Runs the program and gives its exit code, also where it throws: a Failure's own, kData for an
/// IoError, and kUsage for any other error.
int run(const std::function<ExitCode()>& program);
/// The same for a program that ends well if it does not throw.
int run(void (*program)());

}  // namespace examples
