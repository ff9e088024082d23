#include "layers/weights.h"

#include "framework/core/error.h"
#include "framework/io/state_match.h"

namespace gradus {

void save_weights(const std::filesystem::path& path, const Module& module,
                  const Metadata& metadata) {
  save_safetensors(path, module.state_dict(), metadata);
}

Metadata load_weights(const std::filesystem::path& path, Module& module,
                      const LoadOptions& options) {
  Safetensors file = load_safetensors(path);
  const StateMatch match(module.all_names(), file.tensors, options);
  if (!match.is_complete()) {
    throw IoError("load: " + path.string() + " does not match the model" +
                  match.report("file", "model"));
  }
  match.copy();
  return std::move(file.metadata);
}

}  // namespace gradus
