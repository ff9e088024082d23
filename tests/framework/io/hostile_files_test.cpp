// Safetensors files that are not what they say: each is refused as a whole, with the file, the
// tensor and the fault named (C108, C109, C111, and what else a JSON header can hide).
#include <filesystem>
#include <string>

#include "framework/core/error.h"
#include "framework/io/file.h"
#include "framework/io/safetensors.h"
#include "tests/framework/io/safetensors_file.h"
#include "tests/support/catch.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/tensor_matchers.h"
#include "tests/support/tensors.h"

using namespace gradus;
using namespace gradus::testing;

namespace {

std::string refused(const std::string& bytes) {
  return error_text<IoError>([&] { parse_safetensors(bytes, "f"); });
}

/// What is said of a file with this header, and 16 bytes of data.
std::string refused_header(const std::string& header) {
  return refused(file_of(header, std::string(16, '\0')));
}

std::string entry(const std::string& name, const std::string& dtype, const std::string& shape,
                  const std::string& offsets) {
  return "\"" + name + R"(":{"dtype":")" + dtype + R"(","shape":)" + shape + R"(,"data_offsets":)" +
         offsets + "}";
}

/// What is said of a tensor x of float32 and 16 bytes of data.
std::string refused_tensor(const std::string& shape, const std::string& offsets,
                           const std::string& dtype = "F32") {
  return refused_header("{" + entry("x", dtype, shape, offsets) + "}");
}

const std::string kDamaged = "load: f is damaged: ";
const std::string kX = kDamaged + "tensor 'x' ";

}  // namespace

TEST_CASE("C108: sizes whose product overflows are refused", "[safetensors][cases]") {
  CHECK(refused_tensor("[4294967296,4294967296]", "[16,16]") ==
        kX + "has a shape of too many elements: [4294967296, 4294967296]");
  CHECK(refused_tensor("[9223372036854775808,2]", "[16,16]") ==
        kX + "has a shape of too many elements: [9223372036854775808, 2]");
  // Whose elements fit into 64 bits, and whose bytes do not.
  CHECK(refused_tensor("[4611686018427387904]", "[16,16]") ==
        kX + "has a shape of too many elements: [4611686018427387904]");
  CHECK(refused_tensor("[0,4611686018427387904]", "[16,16]") ==
        kX + "has a shape of too many elements: [0, 4611686018427387904]");
  CHECK(refused_tensor("[18446744073709551616]", "[0,16]") ==
        kX + "has 18446744073709551616 in its shape\n  need   whole numbers of at least 0");
  const std::string need = " in its shape\n  need   whole numbers of at least 0";
  CHECK(refused_tensor("[-1,4]", "[0,16]") == kX + "has -1" + need);
  CHECK(refused_tensor("[1.5]", "[0,16]") == kX + "has 1.5" + need);
  CHECK(refused_tensor("[1e3]", "[0,16]") == kX + "has 1e3" + need);
  CHECK(refused_tensor("[4.0]", "[0,16]") == kX + "has 4.0" + need);
  CHECK(refused_tensor("[-0]", "[0,16]") == kX + "has 0" + need);
  CHECK(refused_tensor("[1,1,1,1,1,1,1,1,4]", "[0,16]") == kX + "has more than 8 axes");
  CHECK(refused_tensor("[0,3]", "[8,8]").starts_with(kX + "begins at 8 of the data"));
  CHECK(refused_tensor("[0,3]", "[0,0]").starts_with("load: f has bytes to spare"));
}

TEST_CASE("C109: offsets that do not fit size, order or length are refused",
          "[safetensors][cases]") {
  CHECK(refused_tensor("[2,2]", "[0,16]") == "no error");
  CHECK(refused_tensor("[2,2]", "[16,0]") ==
        kX + "has data_offsets [16, 0]\n  need   begin <= end");
  const std::string need = "\n  need   16 bytes, for [2, 2] F32";
  CHECK(refused_tensor("[2,2]", "[0,8]") == kX + "has data_offsets [0, 8]" + need);
  CHECK(refused_tensor("[2,2]", "[0,65536]") == kX + "has data_offsets [0, 65536]" + need);
  CHECK(refused_tensor("[2,2]", "[-4,12]") ==
        kX + "has -4 in its data_offsets\n  need   whole numbers of at least 0");
  CHECK(refused_tensor("[2,2]", "[8,24]") ==
        kX + "begins at 8 of the data, where the one before it ends at 0\n"
             "  need   no gap and no overlap");
  CHECK(refused_tensor("[2,2]", "[18446744073709551608,18446744073709551624]") ==
        kX + "has 18446744073709551624 in its data_offsets\n  need   whole numbers of at least 0");
  CHECK(refused_tensor("[2,2]", "[0]") == kX + "has 1 data_offsets\n  need   two: begin and end");
  CHECK(refused_tensor("[2,2]", "[]") == kX + "has 0 data_offsets\n  need   two: begin and end");
  CHECK(refused_tensor("[2,2]", "[0,8,16]") == kX + "has more than 2 data_offsets");
  CHECK(refused_tensor("[2,2]", "[0,16]", "Q9") == kX + "has an unknown dtype 'Q9'");
  CHECK(refused_tensor("[2,2]", "[0,16]", "f32") == kX + "has an unknown dtype 'f32'");
  CHECK(refused_tensor("[2]", "[0,16]", "U64") ==
        "load: f: tensor 'x' is U64, which cannot be read\n"
        "  need   F64 F32 F16 BF16 I64 I32 I16 I8 U32 U16 U8 BOOL");
}

TEST_CASE("C109: tensors that overlap or leave a hole are refused", "[safetensors][cases]") {
  const auto both = [](const std::string& a, const std::string& b) {
    return refused(
        file_of("{" + entry("a", "F32", "[4]", a) + "," + entry("b", "F32", "[4]", b) + "}",
                std::string(36, '\0')));
  };
  const std::string b = kDamaged + "tensor 'b' begins at ";
  const std::string need =
      " of the data, where the one before it ends at 16\n"
      "  need   no gap and no overlap";
  CHECK(both("[0,16]", "[8,24]") == b + "8" + need);
  CHECK(both("[0,16]", "[20,36]") == b + "20" + need);
  CHECK(both("[0,16]", "[0,16]") == b + "0" + need);
  CHECK(both("[0,16]", "[16,32]") ==
        "load: f has bytes to spare\n"
        "  got    154 bytes; its header promises 150");
  // In any order, and with nothing between.
  const std::string data(16, '\0');
  CHECK(refused(file_of("{" + entry("a", "F32", "[2]", "[8,16]") + "," +
                            entry("e", "F32", "[0]", "[8,8]") + "," +
                            entry("b", "F64", "[1]", "[0,8]") + "}",
                        data)) == "no error");
}

TEST_CASE("C111: a file cut short at any byte is refused, as are bytes to spare",
          "[safetensors][cases]") {
  const TemporaryFolder folder;
  const std::string path = (folder / "f.safetensors").string();
  const std::string whole =
      safetensors_bytes({{"a", ones({2, 3})}, {"b", ones({5}, int64)}, {"c", ones({1}, boolean)}},
                        {{"some", "text"}});
  for (std::size_t length = 0; length < whole.size(); ++length) {
    INFO(length << " of " << whole.size());
    write_file(path, whole.substr(0, length));
    const std::string said = error_text<IoError>([&] { load_safetensors(path); });
    CHECK(said.starts_with("load: " + path + " is cut short\n  got    " + std::to_string(length) +
                           " bytes; "));
    CHECK(error_text<IoError>([&] { load_safetensors_metadata(path); }) == said);
  }
  CHECK(refused(whole.substr(0, 7)) ==
        "load: f is cut short\n  got    7 bytes; the length of its header alone takes 8");
  CHECK(refused(whole.substr(0, 9)) ==
        "load: f is cut short\n  got    9 bytes; its header ends at 208");
  CHECK(refused(whole.substr(0, whole.size() - 3)) ==
        "load: f is cut short\n  got    270 bytes; its header promises 273; missing: a, c");
  CHECK(refused(whole + '\0') ==
        "load: f has bytes to spare\n  got    274 bytes; its header promises 273");
  CHECK(refused(whole) == "no error");
}

TEST_CASE("C111: files that are something else are called what they are", "[safetensors][cases]") {
  CHECK(refused("version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 12345\n") ==
        "load: f is the pointer that Git LFS keeps in the file's place\n  hint   git lfs pull");
  CHECK(refused("PK\x03\x04 an archive of PyTorch") ==
        "load: f is no safetensors file\n"
        "  got    a header of 2336912046786038608 bytes, by its first 8\n"
        "  need   at most 100000000");
  CHECK(refused(length_bytes(100'000'001)) ==
        "load: f is no safetensors file\n"
        "  got    a header of 100000001 bytes, by its first 8\n"
        "  need   at most 100000000");
  CHECK(refused(length_bytes(100'000'000)).starts_with("load: f is cut short"));
  CHECK(refused(length_bytes(~0ULL)).starts_with("load: f is no safetensors file"));
}

TEST_CASE("a header that is no JSON, or not as the format wants it, is refused", "[safetensors]") {
  CHECK(refused_header("") == kDamaged + "its header does not begin with '{'");
  CHECK(refused_header("[]") == kDamaged + "its header does not begin with '{'");
  CHECK(refused_header(" {}") == kDamaged + "its header does not begin with '{'");
  CHECK(refused_header("\xEF\xBB\xBF{}") == kDamaged + "its header does not begin with '{'");
  CHECK(refused_header("{") == kDamaged + "its header is not JSON, at byte 2 of it");
  CHECK(refused_header("{}}") == kDamaged + "its header is not JSON, at byte 3 of it");
  CHECK(refused_header(std::string("{}\0", 3)) ==
        kDamaged + "its header is not JSON, at byte 3 of it");
  CHECK(refused_header(R"({"x":})") == kDamaged + "its header is not JSON, at byte 6 of it");
  CHECK(refused_header(R"({"x\ud800":{}})").starts_with(kDamaged + "its header is not JSON"));
  CHECK(refused_header("{\"caf\xE9\":{}}") ==
        kDamaged + "its header is not UTF-8, at byte 7 of it");
  CHECK(refused_header("{\"\xC0\x80\":{}}").starts_with(kDamaged + "its header is not UTF-8"));

  const std::string need = "\n  need   an object with dtype, shape, data_offsets";
  CHECK(refused_header(R"({"x":1})") == kDamaged + "'x' is a number" + need);
  CHECK(refused_header(R"({"x":null})") == kDamaged + "'x' is null" + need);
  CHECK(refused_header(R"({"x":"y"})") == kDamaged + "'x' is text" + need);
  CHECK(refused_header(R"({"x":[]})") == kDamaged + "'x' is a list" + need);
  CHECK(refused_header(R"({"x":true})") == kDamaged + "'x' is true" + need);
  CHECK(refused_header(R"({"x":{}})") == kX + "has no dtype");
  CHECK(refused_header(R"({"x":{"dtype":"F32","shape":[4]}})") == kX + "has no data_offsets");
  CHECK(refused_header(R"({"x":{"dtype":7}})") == kX + "has a number as its dtype\n  need   text");
  CHECK(refused_header(R"({"x":{"dtype":{}}})") ==
        kX + "has an object as its dtype\n  need   text");
  CHECK(refused_header(R"({"x":{"shape":4}})") ==
        kX + "has a number as its shape\n  need   a list of whole numbers of at least 0");
  CHECK(refused_header(R"({"x":{"shape":[[4]]}})") ==
        kX + "has a list in its shape\n  need   whole numbers of at least 0");
  CHECK(refused_header(R"({"x":{"shape":["4"]}})") ==
        kX + "has text in its shape\n  need   whole numbers of at least 0");
  CHECK(refused_header(R"({"x":{"data_offsets":{"0":1}}})") ==
        kX + "has an object as its data_offsets\n"
             "  need   a list of two whole numbers of at least 0");
  CHECK(refused_header(R"({"x":{"strides":[1]}})") == kX + "has an unknown field 'strides'");
}

TEST_CASE("C112: metadata is text by name, and nothing else", "[safetensors][cases]") {
  const std::string need = "\n  need   text only";
  CHECK(refused_header(R"({"__metadata__":{"a":1}})") ==
        kDamaged + "'a' of the metadata is a number" + need);
  CHECK(refused_header(R"({"__metadata__":{"a":null}})") ==
        kDamaged + "'a' of the metadata is null" + need);
  CHECK(refused_header(R"({"__metadata__":{"a":{}}})") ==
        kDamaged + "'a' of the metadata is an object" + need);
  CHECK(refused_header(R"({"__metadata__":"a"})").starts_with(kDamaged + "'__metadata__' is text"));
}

TEST_CASE("names that come twice are refused", "[safetensors]") {
  const std::string x = entry("x", "F32", "[2]", "[0,8]");
  const std::string again = entry("x", "F32", "[2]", "[8,16]");
  CHECK(refused_header("{" + x + "," + again + "}") == kDamaged + "the name 'x' comes twice");
  CHECK(refused_header("{" + x + "," + x + "}") == kDamaged + "the name 'x' comes twice");
  CHECK(refused_header(R"({"__metadata__":{},"__metadata__":{}})") ==
        kDamaged + "the name '__metadata__' comes twice");
  CHECK(refused_header(R"({"__metadata__":{"a":"1","a":"2"}})") ==
        kDamaged + "the name 'a' comes twice in the metadata");
  CHECK(refused_header(R"({"x":{"dtype":"F32","dtype":"F32"}})") == kX + "has two fields dtype");
}

TEST_CASE("a deep nest and an endless list cost nothing", "[safetensors]") {
  std::string deep = "{\"x\":{\"shape\":";
  deep.append(1'000'000, '[');
  CHECK(refused_header(deep) ==
        kX + "has a list in its shape\n  need   whole numbers of at least 0");
  std::string objects;
  for (int i = 0; i < 100'000; ++i) objects += "{\"x\":";
  CHECK(refused_header(objects).starts_with(kX + "has an unknown field 'x'"));
  std::string list = "{\"x\":{\"shape\":[1";
  for (int i = 0; i < 100'000; ++i) list += ",1";
  CHECK(refused_header(list) == kX + "has more than 8 axes");
}

TEST_CASE("a bool that is neither true nor false is refused", "[safetensors]") {
  const std::string header = "{" + entry("x", "BOOL", "[3]", "[0,3]") + "}";
  CHECK(refused(file_of(header, std::string("\1\0\1", 3))) == "no error");
  CHECK(refused(file_of(header, std::string("\1\2\1", 3))) ==
        kX + "is not of bools\n  need   bytes that are 0 or 1");
}

TEST_CASE("an error shows hostile names without their control characters", "[safetensors]") {
  CHECK(refused_header(R"({"\u001b[31m\n":1})").starts_with(kDamaged + "'?[31m?' is a number"));
  const std::string said =
      refused_header(text("{\"", std::string(99, 'a'), "é", std::string(1000, 'b'), "\":1}"));
  CHECK(said.starts_with(kDamaged + "'" + std::string(99, 'a') + "...' is a number"));
}
