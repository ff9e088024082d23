#include "framework/autograd/no_grad.h"

#include <utility>

namespace gradus {
namespace {

thread_local bool enabled_here = true;

}  // namespace

bool grad_enabled() noexcept { return enabled_here; }

GradMode::GradMode(bool enabled) noexcept : before_(std::exchange(enabled_here, enabled)) {}
GradMode::~GradMode() { enabled_here = before_; }

}  // namespace gradus
