#include "layers/softmax.h"

#include "framework/core/error.h"

namespace gradus {

std::string Softmax::description() const { return text("Softmax(axis ", options_.axis, ")"); }

}  // namespace gradus
