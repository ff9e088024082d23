// NoGrad and EnableGrad: scopes in which ops are not, or again, recorded on the tape.
#pragma once

namespace gradus {

/// True when ops on this thread record themselves (the default).
bool grad_enabled() noexcept;

/// Sets the mode of this thread until the end of the scope, also when left by an exception. (It is
/// the constructor's nodiscard that makes g++ warn of NoGrad(); which would end at once.)
class [[nodiscard]] GradMode {
 public:
  [[nodiscard]] explicit GradMode(bool enabled) noexcept;
  GradMode(const GradMode&) = delete;
  GradMode& operator=(const GradMode&) = delete;
  ~GradMode();

 private:
  bool before_;
};

struct [[nodiscard]] NoGrad : GradMode {
  [[nodiscard]] NoGrad() noexcept : GradMode(false) {}
};
struct [[nodiscard]] EnableGrad : GradMode {
  [[nodiscard]] EnableGrad() noexcept : GradMode(true) {}
};

}  // namespace gradus
