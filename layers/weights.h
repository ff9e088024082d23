// Weights: the parameters of a module as a safetensors file, by the names that PyTorch's state_dict
// gives them.
#pragma once

#include <filesystem>

#include "framework/io/safetensors.h"
#include "layers/module.h"

namespace gradus {

/// Writes all parameters, and text beside them. One that is used in two places is written once.
/// Throws IoError, and ValueError for text that is not UTF-8.
void save_weights(const std::filesystem::path& path, const Module& module,
                  const Metadata& metadata = {});

/// Copies all parameters from a file, and returns its text. A parameter that is used in two places
/// may stand in the file under either name, or both. Throws IoError for a damaged file and, with
/// everything that does not match, for one of another model; the module is then as it was.
Metadata load_weights(const std::filesystem::path& path, Module& module,
                      const LoadOptions& options = {});

}  // namespace gradus
