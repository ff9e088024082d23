// Safetensors: what is saved comes back, bit for bit, in the layout that the format asks for. What
// is refused is in hostile_files_test.cpp.
#include "framework/io/safetensors.h"

#include <cstring>
#include <limits>
#include <string>

#include "framework/core/error.h"
#include "framework/io/file.h"
#include "tests/framework/io/safetensors_file.h"
#include "tests/support/catch.h"
#include "tests/support/goldens.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/tensor_matchers.h"
#include "tests/support/tensors.h"

using namespace gradus;
using namespace gradus::testing;

namespace {

Safetensors round_trip(const StateDict& tensors, const Metadata& metadata = {}) {
  return parse_safetensors(safetensors_bytes(tensors, metadata), "bytes");
}

/// The numbers of a file with one tensor, as they lie there.
template <class T>
std::vector<T> numbers_in(const std::string& bytes) {
  const std::string data = data_of(bytes);
  std::vector<T> numbers(data.size() / sizeof(T));
  std::memcpy(numbers.data(), data.data(), data.size());
  return numbers;
}

}  // namespace

TEST_CASE("tensors of every dtype come back bit for bit", "[safetensors]") {
  const TemporaryFolder folder;
  const auto largest = std::numeric_limits<std::int64_t>::max();
  const StateDict saved{
      {"f32", random_normal({2, 3, 4}, 1, float32)},
      {"f64", random_normal({5}, 2)},
      {"i64", from_vector(std::vector<std::int64_t>{-1, 0, largest, -largest - 1})},
      {"bool", tensor({{1, 0, 1}, {0, 0, 1}}, boolean)},
      {"special", tensor({kNaN, kInf, -kInf, -0.0, 1e-310}, float64)},
      {"scalar", tensor(2.5)},
      {"empty", zeros({0, 3}, int64)},
      {"a name with \"quotes\", \\ and \n, é世🙂", ones({1})}};
  const Metadata metadata{{"format", "pt"}, {"", ""}, {"text", "two\nlines, \"quoted\", ü"}};
  save_safetensors(folder / "all.safetensors", saved, metadata);
  const Safetensors loaded = load_safetensors(folder / "all.safetensors");
  CHECK(loaded.metadata == metadata);
  CHECK(load_safetensors_metadata(folder / "all.safetensors") == metadata);
  REQUIRE(loaded.tensors.size() == saved.size());
  for (const auto& [name, tensor] : saved) {
    INFO(name);
    CHECK_THAT(loaded.tensors.at(name), IsCloseTo(tensor, exactly));
    CHECK_FALSE(loaded.tensors.at(name).requires_grad());
  }
  CHECK(std::signbit(loaded.tensors.at("special").at({3})));
  CHECK(loaded.tensors.at("i64").to_vector<std::int64_t>()[2] == largest);
}

TEST_CASE("C106: a view is saved in row-major order, without what is around it",
          "[safetensors][cases]") {
  const Tensor x = tensor({{1, 2, 3}, {4, 5, 6}});
  const auto saved = [](const Tensor& tensor) { return safetensors_bytes({{"x", tensor}}); };
  using Numbers = std::vector<float>;
  CHECK(numbers_in<float>(saved(x.transpose(0, 1))) == Numbers{1, 4, 2, 5, 3, 6});
  CHECK(numbers_in<float>(saved(x.slice(1, 1))) == Numbers{2, 3, 5, 6});
  CHECK(numbers_in<float>(saved(tensor({7, 8}).expand({3, 2}))) == Numbers{7, 8, 7, 8, 7, 8});
  CHECK(numbers_in<float>(saved(x.select(0, 1))) == Numbers{4, 5, 6});
  CHECK_THAT(round_trip({{"x", x.transpose(0, 1)}}).tensors.at("x"),
             HasValues({{1, 4}, {2, 5}, {3, 6}}, exactly));
  // Saving records nothing.
  Tensor w = leaf({{1, 2}});
  CHECK_FALSE(round_trip({{"w", w.transpose(0, 1)}}).tensors.at("w").requires_grad());
}

TEST_CASE("C112: nothing, text only, scalars and tensors without elements",
          "[safetensors][cases]") {
  CHECK(parse_safetensors(file_of("{}"), "f").tensors.empty());
  CHECK(parse_safetensors(file_of(R"({"__metadata__":{}})"), "f").metadata.empty());
  CHECK(parse_safetensors(file_of(R"({"__metadata__":{"a":"b"}})"), "f").metadata ==
        Metadata{{"a", "b"}});
  const Safetensors two =
      parse_safetensors(file_of(R"({"s":{"dtype":"F32","shape":[],"data_offsets":[0,4]},)"
                                R"("e":{"dtype":"F32","shape":[0,3],"data_offsets":[4,4]}})",
                                std::string("\0\0\x80\x3F", 4)),
                        "f");
  CHECK(two.tensors.at("s").shape() == Shape{});
  CHECK(two.tensors.at("s").item() == 1);
  CHECK(two.tensors.at("e").shape() == Shape{0, 3});

  CHECK(round_trip({}).tensors.empty());
  CHECK(round_trip({}, {{"a", "b"}}).metadata == Metadata{{"a", "b"}});
  CHECK(round_trip({{"e", zeros({0, 3})}}).tensors.at("e").shape() == Shape{0, 3});
}

TEST_CASE("C114: the header ends at a multiple of 8, and every tensor at its own item size",
          "[safetensors][cases]") {
  const StateDict tensors{{"a", ones({3}, boolean)}, {"b", ones({3})}, {"c", ones({1}, float64)}};
  const std::string bytes = safetensors_bytes(tensors, {{"k", "v"}});
  CHECK(header_of(bytes) == R"({"__metadata__":{"k":"v"},)"
                            R"("c":{"dtype":"F64","shape":[1],"data_offsets":[0,8]},)"
                            R"("b":{"dtype":"F32","shape":[3],"data_offsets":[8,20]},)"
                            R"("a":{"dtype":"BOOL","shape":[3],"data_offsets":[20,23]}}   )");
  CHECK(header_of(bytes).size() % 8 == 0);
}

TEST_CASE("C114: numbers at odd addresses are read", "[safetensors][cases]") {
  std::string data(4, '\0');
  data += std::string("\0\0\0\0\0\0\xF0\x3F", 8);
  for (std::size_t spaces = 0; spaces < 8; ++spaces) {
    const std::string header = R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},)"
                               R"("b":{"dtype":"F64","shape":[1],"data_offsets":[4,12]}})";
    const Safetensors file =
        parse_safetensors(file_of(header + std::string(spaces, ' '), data), "f");
    CHECK(file.tensors.at("b").item() == 1);
  }
}

TEST_CASE("types that fit into a dtype of Gradus become it without loss", "[safetensors]") {
  const auto loaded = [](const std::string& type, const std::string& data, std::size_t bytes) {
    const std::string count = std::to_string(data.size() / bytes);
    const std::string end = std::to_string(data.size());
    return parse_safetensors(file_of(R"({"x":{"dtype":")" + type + R"(","shape":[)" + count +
                                         R"(],"data_offsets":[0,)" + end + "]}}",
                                     data),
                             "f")
        .tensors.at("x");
  };
  // 1, -2, the largest, the smallest, the smallest normal, infinity, -infinity, NaN, -0
  const Tensor half = loaded("F16",
                             std::string("\x00\x3C\x00\xC0\xFF\x7B\x01\x00\x00\x04\x00\x7C"
                                         "\x00\xFC\x01\x7E\x00\x80",
                                         18),
                             2);
  CHECK_THAT(half,
             IsCloseTo(tensor({1, -2, 65504, 0x1p-24, 0x1p-14, kInf, -kInf, kNaN, -0.0}), exactly));
  CHECK(std::signbit(half.at({8})));
  const Tensor brain = loaded("BF16", std::string("\x80\x3F\x00\xC0\x80\x7F\x01\x00", 8), 2);
  CHECK_THAT(brain, IsCloseTo(tensor({1, -2, kInf, 0x1p-133}), exactly));
  const std::string ends("\x7F\x80\xFF\x00", 4);
  CHECK_THAT(loaded("I8", ends, 1), IsCloseTo(tensor({127, -128, -1, 0}, int64), exactly));
  CHECK_THAT(loaded("U8", ends, 1), IsCloseTo(tensor({127, 128, 255, 0}, int64), exactly));
  CHECK_THAT(loaded("I16", ends, 2), IsCloseTo(tensor({-32641, 255}, int64), exactly));
  CHECK_THAT(loaded("U16", ends, 2), IsCloseTo(tensor({32895, 255}, int64), exactly));
  const std::string four("\xFE\xFF\xFF\xFF", 4);
  CHECK_THAT(loaded("I32", four, 4), IsCloseTo(tensor({-2}, int64), exactly));
  CHECK_THAT(loaded("U32", four, 4), IsCloseTo(tensor({4294967294}, int64), exactly));
}

TEST_CASE("files that another program wrote are read as the golden reader reads them",
          "[safetensors]") {
  int compared = 0;
  for (GoldenCase& golden : read_manifest(goldens_folder("torch"))) {
    INFO(golden.name);
    load(golden);
    const Safetensors file = load_safetensors(golden.file);
    for (const auto& [name, tensor] : golden.inputs) {
      CHECK_THAT(file.tensors.at("in." + name), IsCloseTo(tensor, exactly));
      ++compared;
    }
    // And what we write, we read.
    for (const auto& [name, tensor] : round_trip(file.tensors).tensors) {
      CHECK_THAT(tensor, IsCloseTo(file.tensors.at(name), exactly));
    }
  }
  CHECK(compared > 100);
}

TEST_CASE("what cannot be saved is named", "[safetensors][errors]") {
  const auto refused = [](const StateDict& tensors, const Metadata& metadata = {}) {
    return error_text<ValueError>([&] { safetensors_bytes(tensors, metadata); });
  };
  CHECK(refused({{"w", Tensor()}}) == "save: tensor 'w' is undefined");
  CHECK(refused({{"__metadata__", ones({1})}}) ==
        "save: no tensor can be named __metadata__: the format keeps it for text");
  CHECK(refused({{"caf\xE9", ones({1})}}) ==
        "save: a name or text is not UTF-8\n  got    'caf\xE9'");
  CHECK(refused({}, {{"key", "\xFF"}}) == "save: a name or text is not UTF-8\n  got    '\xFF'");
}
