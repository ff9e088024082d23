// The reader must refuse a file that is not as the format wants it: it would otherwise compare with
// numbers that nobody computed.
#include "tests/support/goldens.h"

#include <unistd.h>

#include <cstdint>
#include <fstream>

#include "tests/support/tensors.h"

using namespace gradus;
using namespace gradus::testing;

namespace {

/// A case whose file has this header and these bytes behind it.
GoldenCase written(const std::string& header, const std::string& data) {
  GoldenCase golden;
  golden.file = std::filesystem::temp_directory_path() /
                ("gradus_goldens_" + std::to_string(getpid()) + ".safetensors");
  std::ofstream out(golden.file, std::ios::binary);
  const std::uint64_t size = header.size();
  out.write(reinterpret_cast<const char*>(&size), 8);
  out << header << data;
  return golden;
}

struct Removed {
  std::filesystem::path file;
  ~Removed() { std::filesystem::remove(file); }
};

GoldenCase loaded(const std::string& header, const std::string& data) {
  GoldenCase golden = written(header, data);
  const Removed removed{golden.file};
  load(golden);
  return golden;
}

}  // namespace

TEST_CASE("goldens reader: every kind of tensor finds its place") {
  const std::string one = R"("dtype":"I32","shape":[1],"data_offsets":[0,4]})";
  const GoldenCase golden =
      loaded(R"({"__metadata__":{"case":"x"},"in.x":{)" + one + R"(,"grad.in.x":{)" + one +
                 R"(,"hvp.cot.y":{)" + one +
                 R"(,"out.empty":{"dtype":"F64","shape":[0,2],"data_offsets":[4,4]}})",
             std::string("\x07\0\0\0", 4));
  CHECK_THAT(golden.inputs.at("x"), IsCloseTo(tensor({7}, int64)));
  CHECK_THAT(golden.grads.at("in.x"), HasValues({7}));
  CHECK_THAT(golden.hvp.at("cot.y"), HasValues({7}));
  CHECK_THAT(golden.outputs.at("empty"), IsCloseTo(zeros({0, 2}, float64)));
  CHECK(golden.unsupported.empty());
}

TEST_CASE("goldens reader: float16 is noted, not read") {
  const GoldenCase golden =
      loaded(R"({"in.x":{"dtype":"F16","shape":[1],"data_offsets":[0,2]}})", "ab");
  CHECK(golden.unsupported == "float16 is not a dtype of Gradus");
  CHECK(golden.inputs.empty());
}

TEST_CASE("goldens reader: refuses what does not add up") {
  const auto with = [](const std::string& entry) { return R"({"in.x":{)" + entry + "}}"; };
  const std::string four(4, '\0');
  CHECK_NOTHROW(loaded(with(R"("dtype":"F32","shape":[1],"data_offsets":[0,4])"), four));
  CHECK_THROWS(loaded(with(R"("dtype":"F32","shape":[2],"data_offsets":[0,4])"), four));
  CHECK_THROWS(loaded(with(R"("dtype":"F32","shape":[1],"data_offsets":[4,8])"), four));
  CHECK_THROWS(loaded(with(R"("dtype":"F32","shape":[1],"data_offsets":[4,0])"), four));
  CHECK_THROWS(loaded(with(R"("dtype":"F32","shape":[-1],"data_offsets":[0,4])"), four));
  CHECK_THROWS(loaded(with(R"("dtype":"Q9","shape":[1],"data_offsets":[0,4])"), four));
  CHECK_THROWS(loaded(R"({"other.x":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}})", four));
  CHECK_THROWS(loaded("{", four));
  GoldenCase missing;
  missing.file = "/nowhere/x.safetensors";
  CHECK_THROWS(load(missing));
  GoldenCase cut = written("{}", "");
  const Removed removed{cut.file};
  std::filesystem::resize_file(cut.file, 9);
  CHECK_THROWS(load(cut));
}
