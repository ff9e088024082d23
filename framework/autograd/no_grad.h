// NoGrad and EnableGrad: scopes in which ops are not, or again, recorded on the tape.
#pragma once

#include <utility>

namespace gradus {

/// Sets the mode of this thread until the end of the scope, also when left by an exception. (It is
/// the constructor's nodiscard that makes g++ warn of NoGrad(); which would end at once.)
class [[nodiscard]] GradMode {
 public:
  [[nodiscard]] explicit GradMode(bool enabled) noexcept
      : before_(std::exchange(enabled_here_, enabled)) {}
  GradMode(const GradMode&) = delete;
  GradMode& operator=(const GradMode&) = delete;
  ~GradMode() { enabled_here_ = before_; }

 private:
  friend bool grad_enabled() noexcept;
  static inline constinit thread_local bool enabled_here_ = true;
  bool before_;
};

/// True when ops on this thread record themselves (the default).
inline bool grad_enabled() noexcept { return GradMode::enabled_here_; }

struct [[nodiscard]] NoGrad : GradMode {
  [[nodiscard]] NoGrad() noexcept : GradMode(false) {}
};
struct [[nodiscard]] EnableGrad : GradMode {
  [[nodiscard]] EnableGrad() noexcept : GradMode(true) {}
};

}  // namespace gradus
