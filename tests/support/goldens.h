// Golden cases: what other programs computed, as told by tests/goldens/README.md. A folder holds a
// manifest.json and one safetensors file per case; this reader shares no code with framework/io.
#pragma once

#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "framework/core/tensor.h"
#include "tests/support/tensor_matchers.h"

namespace gradus::testing {

using NamedTensors = std::map<std::string, Tensor>;

struct GoldenCase {
  std::string name;
  std::string family;
  std::string op;
  std::string kind;   ///< "forward_backward", "forward", "optimizer", "table" or "second_order"
  std::string dtype;  ///< of the numbers, as the manifest spells it
  std::string note;
  nlohmann::json attrs;
  Tolerance tolerance;
  std::set<std::string> flags;
  std::filesystem::path file;

  // Names in the order of the manifest; an input or output left out is "".
  std::vector<std::string> input_names;
  std::vector<std::string> param_names;
  std::vector<std::string> output_names;
  std::vector<std::string> cotangent_names;  ///< outputs that enter the loss
  std::vector<std::string> grad_names;       ///< "in.x" or "param.weight"

  // What the file holds, by name without its prefix; filled by load().
  NamedTensors inputs;      ///< "in.x" of the file as "x"
  NamedTensors params;      ///< "param.weight" as "weight"
  NamedTensors outputs;     ///< "out.y" as "y"
  NamedTensors cotangents;  ///< "cot.y" as "y"
  NamedTensors grads;       ///< "grad.in.x" as "in.x", "grad.param.w" as "param.w"
  NamedTensors vec;         ///< "vec.in.x" as "in.x"
  NamedTensors hvp;         ///< "hvp.in.x" as "in.x", "hvp.cot.y" as "cot.y"
  NamedTensors attr_tensors;

  /// Why the file could not be taken over (float16), or "".
  std::string unsupported;
};

/// tests/goldens, or a folder in it.
std::filesystem::path goldens_folder(const std::string& set = "");

/// The cases of a folder, in the order of its manifest, without their tensors.
std::vector<GoldenCase> read_manifest(const std::filesystem::path& folder);

/// Reads the tensors of the case. int32 becomes int64; float16 is not read and noted in
/// `unsupported`. Throws std::runtime_error for a file that is not as the format wants it.
void load(GoldenCase& golden);

/// All cases of a folder, loaded.
std::vector<GoldenCase> read_goldens(const std::filesystem::path& folder);

/// A number from attrs, where "inf", "-inf" and "nan" stand for these.
double number_from(const nlohmann::json& value);

}  // namespace gradus::testing
