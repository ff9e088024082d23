// The only file of the library that sees a JSON library.
#include <nlohmann/json.hpp>
#include <set>

#include "framework/core/error.h"
#include "framework/io/printable_internal.h"
#include "framework/io/safetensors_header_internal.h"

namespace gradus::safetensors {
namespace {

using nlohmann::json;

constexpr std::string_view kMetadata = "__metadata__";

/// Takes the JSON event by event. Each is right in one place only, so nothing is kept but what is
/// wanted, and nothing can be nested deeper than the format nests it.
class Reader final : public nlohmann::json_sax<json> {
 public:
  explicit Reader(const std::string& file) : file_(file) {}

  Header header;

  bool start_object(std::size_t /*size*/) override {
    if (place_ == Place::start) return enter(Place::names);
    if (place_ != Place::name) return wrong("an object");
    return enter(entry_.name == kMetadata ? Place::text_names : Place::fields);
  }

  bool end_object() override {
    if (place_ == Place::names) return enter(Place::end);
    if (place_ == Place::fields) add_entry();
    return enter(Place::names);
  }

  bool key(string_t& key) override {
    if (place_ == Place::names) {
      if (!names_.insert(key).second) fail("the name '" + printable(key) + "' comes twice");
      entry_ = {.name = key};
      fields_.clear();
      return enter(Place::name);
    }
    if (place_ == Place::text_names) {
      if (header.metadata.contains(key)) {
        fail("the name '" + printable(key) + "' comes twice in the metadata");
      }
      text_name_ = key;
      return enter(Place::text);
    }
    if (key != "dtype" && key != "shape" && key != "data_offsets") {
      fail_tensor("has an unknown field '" + printable(key) + "'");
    }
    if (!fields_.insert(key).second) fail_tensor("has two fields " + key);
    return enter(key == "dtype" ? Place::dtype : key == "shape" ? Place::shape : Place::offsets);
  }

  bool string(string_t& value) override {
    if (place_ == Place::text) {
      header.metadata.emplace(text_name_, value);
      return enter(Place::text_names);
    }
    if (place_ != Place::dtype) return wrong("text");
    entry_.dtype = value;
    return enter(Place::fields);
  }

  bool start_array(std::size_t /*size*/) override {
    if (place_ != Place::shape && place_ != Place::offsets) return wrong("a list");
    numbers().clear();
    return enter(place_ == Place::shape ? Place::shape_numbers : Place::offset_numbers);
  }
  bool end_array() override { return enter(Place::fields); }

  bool number_unsigned(number_unsigned_t value) override {
    if (!in_numbers()) return wrong("a number");
    const std::size_t most = place_ == Place::shape_numbers ? kMaxRank : 2;
    if (numbers().size() == most) {
      fail_tensor(
          text("has more than ", most, place_ == Place::shape_numbers ? " axes" : " data_offsets"));
    }
    numbers().push_back(value);
    return true;
  }
  bool number_integer(number_integer_t value) override {
    return wrong(in_numbers() ? text(value) : "a number");
  }
  bool number_float(number_float_t /*value*/, const string_t& written) override {
    return wrong(in_numbers() ? printable(written) : "a number");
  }
  bool null() override { return wrong("null"); }
  bool boolean(bool value) override { return wrong(value ? "true" : "false"); }
  bool binary(binary_t& /*value*/) override { return wrong("binary data"); }

  bool parse_error(std::size_t position, const std::string& /*token*/,
                   const nlohmann::detail::exception& error) override {
    const bool not_utf8 =
        std::string_view(error.what()).find("ill-formed UTF-8") != std::string::npos;
    fail(text("its header is not ", not_utf8 ? "UTF-8" : "JSON", ", at byte ", position, " of it"));
  }

 private:
  /// What may come next.
  enum class Place {
    start,           // the one object
    names,           // a tensor's name, or __metadata__
    name,            // what belongs to a name
    fields,          // a field of a tensor
    dtype,           // what belongs to a field
    shape,           //
    shape_numbers,   // within its list
    offsets,         //
    offset_numbers,  // within its list
    text_names,      // a name in the metadata
    text,            // what belongs to it
    end
  };

  bool enter(Place place) {
    place_ = place;
    return true;
  }

  bool in_numbers() const {
    return place_ == Place::shape_numbers || place_ == Place::offset_numbers;
  }
  std::vector<std::uint64_t>& numbers() {
    return place_ == Place::shape || place_ == Place::shape_numbers ? entry_.shape : entry_.offsets;
  }

  [[noreturn]] void fail(const std::string& what, const std::string& need = "") const {
    damaged(file_, what, need);
  }
  [[noreturn]] void fail_tensor(const std::string& what, const std::string& need = "") const {
    fail("tensor '" + printable(entry_.name) + "' " + what, need);
  }

  /// `what` stands where it must not.
  bool wrong(const std::string& what) const {
    const std::string whole = "whole numbers of at least 0";
    switch (place_) {
      case Place::start: fail("its header is " + what, "an object");
      case Place::name:
        fail("'" + printable(entry_.name) + "' is " + what,
             "an object with dtype, shape, data_offsets");
      case Place::text:
        fail("'" + printable(text_name_) + "' of the metadata is " + what, "text only");
      case Place::dtype: fail_tensor("has " + what + " as its dtype", "text");
      case Place::shape: fail_tensor("has " + what + " as its shape", "a list of " + whole);
      case Place::shape_numbers: fail_tensor("has " + what + " in its shape", whole);
      case Place::offsets:
        fail_tensor("has " + what + " as its data_offsets", "a list of two " + whole);
      default: fail_tensor("has " + what + " in its data_offsets", whole);
    }
  }

  void add_entry() {
    for (const char* field : {"dtype", "shape", "data_offsets"}) {
      if (!fields_.contains(field)) fail_tensor(text("has no ", field));
    }
    header.entries.push_back(checked_entry(entry_, file_));
  }

  const std::string& file_;
  Place place_ = Place::start;
  std::set<std::string> names_;
  std::set<std::string> fields_;  // of the entry at hand
  WrittenEntry entry_{};          // the one at hand; also the name of what stands in its place
  std::string text_name_;
};

std::string quoted(const std::string& what) {
  try {
    return json(what).dump();
  } catch (const json::exception&) {
    throw ValueError("save: a name or text is not UTF-8", {.got = "'" + printable(what) + "'"});
  }
}

std::string entry_json(const Entry& entry) {
  const std::vector<std::uint64_t> shape(entry.shape.begin(), entry.shape.end());
  return text(quoted(entry.name), R"(:{"dtype":")", entry.type->name, R"(","shape":)",
              listed(shape, ","), R"(,"data_offsets":[)", entry.begin, ",", entry.end, "]}");
}

std::string metadata_json(const Metadata& metadata) {
  std::string list;
  for (const auto& [name, value] : metadata) {
    list += (list.empty() ? "" : ",") + quoted(name) + ":" + quoted(value);
  }
  return quoted(std::string(kMetadata)) + ":{" + list + "}";
}

}  // namespace

Header parse_header(std::string_view bytes, const std::string& file) {
  // A byte-order mark or space before it is no JSON to other readers.
  if (!bytes.starts_with('{')) damaged(file, "its header does not begin with '{'");
  // The library would take it for the end.
  const std::size_t zero = bytes.find('\0');
  if (zero != bytes.npos) {
    damaged(file, text("its header is not JSON, at byte ", zero + 1, " of it"));
  }
  Reader reader(file);
  json::sax_parse(bytes.begin(), bytes.end(), &reader);
  return std::move(reader.header);
}

std::string header_json(const Header& header) {
  std::string list = header.metadata.empty() ? "" : metadata_json(header.metadata);
  for (const Entry& entry : header.entries) {
    if (entry.name == kMetadata) {
      throw ValueError("save: no tensor can be named __metadata__: the format keeps it for text");
    }
    list += (list.empty() ? "" : ",") + entry_json(entry);
  }
  std::string result = "{" + list + "}";
  result.resize((result.size() + 7) / 8 * 8, ' ');
  return result;
}

}  // namespace gradus::safetensors
