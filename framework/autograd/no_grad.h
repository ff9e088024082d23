// NoGrad and EnableGrad: scopes in which ops are not, or again, recorded on the tape.
#pragma once

namespace gradus {

/// True when ops on this thread record themselves (the default).
bool grad_enabled() noexcept;

/// Sets the mode of this thread until the end of the scope, also when left by an exception.
class [[nodiscard]] GradMode {
 public:
  explicit GradMode(bool enabled) noexcept;
  GradMode(const GradMode&) = delete;
  GradMode& operator=(const GradMode&) = delete;
  ~GradMode();

 private:
  bool before_;
};

struct [[nodiscard]] NoGrad : GradMode {
  NoGrad() noexcept : GradMode(false) {}
};
struct [[nodiscard]] EnableGrad : GradMode {
  EnableGrad() noexcept : GradMode(true) {}
};

}  // namespace gradus
