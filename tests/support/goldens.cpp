#include "tests/support/goldens.h"

#include <algorithm>
#include <cstring>
#include <fstream>
#include <limits>
#include <stdexcept>

#include "framework/ops/creation.h"

#ifndef GRADUS_TEST_GOLDENS
#error "GRADUS_TEST_GOLDENS must name the folder tests/goldens"
#endif

namespace gradus::testing {
namespace {

using Json = nlohmann::json;

std::string contents_of(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  if (!in) throw std::runtime_error("cannot read " + file.string());
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

std::vector<std::string> names(const Json& list) {
  std::vector<std::string> result;
  for (const Json& entry : list) result.push_back(entry.is_null() ? "" : entry.get<std::string>());
  return result;
}

template <class From, class To>
Tensor tensor_from(const char* bytes, const Shape& shape) {
  std::vector<To> values(static_cast<std::size_t>(element_count(shape)));
  for (std::size_t i = 0; i < values.size(); ++i) {
    From value;
    std::memcpy(&value, bytes + i * sizeof(From), sizeof(From));
    values[i] = static_cast<To>(value);
  }
  return from_vector(values, shape);
}

std::size_t size_of(const std::string& dtype) {
  if (dtype == "F64" || dtype == "I64") return 8;
  if (dtype == "F32" || dtype == "I32") return 4;
  if (dtype == "F16") return 2;
  if (dtype == "BOOL") return 1;
  throw std::runtime_error("unknown dtype " + dtype);
}

/// Undefined for float16.
Tensor tensor_from(const std::string& dtype, const char* bytes, const Shape& shape) {
  if (dtype == "F64") return tensor_from<double, double>(bytes, shape);
  if (dtype == "F32") return tensor_from<float, float>(bytes, shape);
  if (dtype == "I64") return tensor_from<std::int64_t, std::int64_t>(bytes, shape);
  if (dtype == "I32") return tensor_from<std::int32_t, std::int64_t>(bytes, shape);
  if (dtype == "BOOL") return tensor_from<std::uint8_t, bool>(bytes, shape);
  return {};
}

/// Puts a tensor of the file where its prefix says.
void put(GoldenCase& golden, const std::string& name, const Tensor& tensor) {
  const std::pair<const char*, NamedTensors&> places[] = {
      {"in.", golden.inputs},      {"param.", golden.params},     {"out.", golden.outputs},
      {"cot.", golden.cotangents}, {"grad.", golden.grads},       {"vec.", golden.vec},
      {"hvp.", golden.hvp},        {"attr.", golden.attr_tensors}};
  for (const auto& [prefix, tensors] : places) {
    if (name.starts_with(prefix)) {
      tensors[name.substr(std::strlen(prefix))] = tensor;
      return;
    }
  }
  throw std::runtime_error(golden.name + ": a tensor of an unknown kind, " + name);
}

GoldenCase case_from(const Json& entry, const std::filesystem::path& folder) {
  GoldenCase golden;
  golden.name = entry.at("name");
  golden.family = entry.at("family");
  golden.op = entry.at("op");
  golden.kind = entry.at("kind");
  golden.dtype = entry.at("dtype");
  golden.note = entry.value("note", "");
  golden.attrs = entry.at("attrs");
  golden.tolerance = {entry.at("tol").at("rtol"), entry.at("tol").at("atol")};
  for (const std::string& flag : names(entry.at("flags"))) golden.flags.insert(flag);
  golden.file = folder / entry.at("file").get<std::string>();
  golden.input_names = names(entry.at("inputs"));
  golden.param_names = names(entry.at("params"));
  golden.output_names = names(entry.at("outputs"));
  golden.cotangent_names = names(entry.at("cotangents"));
  golden.grad_names = names(entry.at("grads"));
  return golden;
}

}  // namespace

std::filesystem::path goldens_folder(const std::string& set) {
  return std::filesystem::path(GRADUS_TEST_GOLDENS) / set;
}

std::vector<GoldenCase> read_manifest(const std::filesystem::path& folder) {
  const Json manifest = Json::parse(contents_of(folder / "manifest.json"));
  std::vector<GoldenCase> cases;
  for (const Json& entry : manifest.at("cases")) cases.push_back(case_from(entry, folder));
  return cases;
}

void load(GoldenCase& golden) {
  const std::string file = contents_of(golden.file);
  std::uint64_t header_size = 0;
  if (file.size() < 8) throw std::runtime_error(golden.file.string() + " is cut short");
  std::memcpy(&header_size, file.data(), 8);
  if (header_size > file.size() - 8)
    throw std::runtime_error(golden.file.string() + " is cut short");
  const Json header = Json::parse(file.substr(8, header_size));
  const std::size_t start = 8 + static_cast<std::size_t>(header_size);
  for (const auto& [name, entry] : header.items()) {
    if (name == "__metadata__") continue;
    Shape shape;
    for (const Json& size : entry.at("shape")) shape.push_back(size.get<Index>());
    const std::string dtype = entry.at("dtype");
    const auto begin = entry.at("data_offsets").at(0).get<std::size_t>();
    const auto end = entry.at("data_offsets").at(1).get<std::size_t>();
    const std::size_t bytes = static_cast<std::size_t>(element_count(shape)) * size_of(dtype);
    if (begin > end || end - begin != bytes || end > file.size() - start) {
      throw std::runtime_error(golden.file.string() + ": wrong offsets of " + name);
    }
    const Tensor tensor = tensor_from(dtype, file.data() + start + begin, shape);
    if (!tensor.defined()) {
      golden.unsupported = "float16 is not a dtype of Gradus";
    } else {
      put(golden, name, tensor);
    }
  }
}

std::vector<GoldenCase> read_goldens(const std::filesystem::path& folder) {
  std::vector<GoldenCase> cases = read_manifest(folder);
  for (GoldenCase& golden : cases) load(golden);
  return cases;
}

double number_from(const Json& value) {
  if (!value.is_string()) return value.get<double>();
  const std::string word = value;
  if (word == "inf") return std::numeric_limits<double>::infinity();
  if (word == "-inf") return -std::numeric_limits<double>::infinity();
  if (word == "nan") return std::numeric_limits<double>::quiet_NaN();
  throw std::runtime_error("not a number: " + word);
}

}  // namespace gradus::testing
