// Prints a tensor as PyTorch's repr does. One notation and one width serve all numbers that are
// shown: whole ones as "1.", others with four decimals, or scientific where their sizes are far
// apart. More than 1000 elements are shown by the first and last three along each axis. Only these
// are read, so a huge tensor prints as fast as a small one.
#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <ostream>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "framework/core/error.h"
#include "framework/core/tensor.h"

namespace gradus {

namespace {

constexpr int kPrecision = 4;       // decimals
constexpr Index kThreshold = 1000;  // elements that are shown without leaving any out
constexpr Index kEdgeItems = 3;     // shown at either end of an axis otherwise
constexpr Index kLineWidth = 80;
constexpr Index kGap = -1;  // stands for the indices left out
constexpr std::string_view kPrefix = "tensor(";

enum class Notation { whole, fixed, scientific };

// Calls visit(i) for every shown index of an axis, with kGap in place of those left out.
template <class Visit>
void each_shown(Index size, bool summarize, Visit visit) {
  for (Index i = 0; i < size; ++i) {
    if (summarize && size > 2 * kEdgeItems && i == kEdgeItems) {
      visit(kGap);
      i = size - kEdgeItems;
    }
    visit(i);
  }
}

std::string spaces(Index count) {
  return std::string(static_cast<std::size_t>(std::max<Index>(count, 0)), ' ');
}

// Not by printf or a stream: those write a decimal comma in some locales.
template <class... Format>
std::string digits(Format... format) {
  std::array<char, 64> buffer;
  char* const start = buffer.data();
  return {start, std::to_chars(start, start + buffer.size(), format...).ptr};
}

std::string number_text(double value, Notation notation) {
  if (std::isnan(value)) return "nan";  // of either sign
  if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
  switch (notation) {
    case Notation::whole: return digits(value, std::chars_format::fixed, 0) + ".";
    case Notation::fixed: return digits(value, std::chars_format::fixed, kPrecision);
    case Notation::scientific: return digits(value, std::chars_format::scientific, kPrecision);
  }
  return "";
}

// The sizes that decide about the notation: of the numbers that are finite and not 0.
struct Range {
  double smallest = std::numeric_limits<double>::infinity();
  double largest = 0.0;
  bool all_whole = true;

  void include(double value) {
    if (value == 0.0 || !std::isfinite(value)) return;
    smallest = std::min(smallest, std::abs(value));
    largest = std::max(largest, std::abs(value));
    all_whole = all_whole && value == std::ceil(value);
  }
  Notation notation() const {
    const bool far_apart = largest / smallest > 1000.0;
    if (far_apart || largest > 1.0e8 || smallest < 1.0e-4) return Notation::scientific;
    return all_whole ? Notation::whole : Notation::fixed;
  }
};

// Writes the numbers of a tensor of Ts between their brackets.
template <class T>
class Body {
 public:
  explicit Body(const Tensor& tensor)
      : data_(tensor.data<T>()),
        shape_(tensor.shape()),
        strides_(tensor.strides()),
        summarize_(tensor.numel() > kThreshold) {
    if constexpr (std::is_floating_point_v<T>) {
      Range range;
      each_element(0, 0, [&](T value) { range.include(static_cast<double>(value)); });
      notation_ = range.notation();
    }
    each_element(0, 0, [&](T value) { widen(value); });
  }

  std::string written() {
    if (shape_.empty()) {
      write_element(0);
    } else {
      write_axis(0, 0);
    }
    return std::move(text_);
  }

 private:
  // Calls visit(value) for every shown element; `position` is that of the first, in elements.
  template <class Visit>
  void each_element(Index axis, Index position, const Visit& visit) const {
    if (axis == shape_.size()) return visit(data_[position]);
    each_shown(shape_[axis], summarize_, [&](Index i) {
      if (i != kGap) each_element(axis + 1, position + i * strides_[axis], visit);
    });
  }

  std::string element_text(T value) const {
    if constexpr (std::is_same_v<T, bool>) {
      return value ? "True" : "False";
    } else if constexpr (std::is_floating_point_v<T>) {
      return number_text(static_cast<double>(value), notation_);
    } else {
      return digits(value);
    }
  }

  // PyTorch measures no zeros, infinities and NaNs: a column of these may be out of line.
  void widen(T value) {
    if constexpr (std::is_floating_point_v<T>) {
      if (value == T{0} || !std::isfinite(value)) return;
    }
    width_ = std::max(width_, static_cast<Index>(element_text(value).size()));
  }

  void write_element(Index position) {
    const std::string element = element_text(data_[position]);
    text_ += spaces(width_ - static_cast<Index>(element.size())) + element;
  }

  void write_axis(Index axis, Index position) {
    text_ += '[';
    if (axis + 1 == shape_.size()) {
      write_row(axis, position);
    } else {
      write_slices(axis, position);
    }
    text_ += ']';
  }

  // Where a line goes on inside the brackets of an axis.
  static Index indent(Index axis) { return static_cast<Index>(kPrefix.size()) + axis; }

  void write_row(Index axis, Index position) {
    const Index room = std::max<Index>((kLineWidth - indent(axis)) / (width_ + 2), 1);
    Index written = 0;
    each_shown(shape_[axis], summarize_, [&](Index i) {
      if (written > 0) text_ += written % room == 0 ? ",\n" + spaces(indent(axis) + 1) : ", ";
      ++written;
      if (i == kGap) {
        text_ += " ...";
      } else {
        write_element(position + i * strides_[axis]);
      }
    });
  }

  void write_slices(Index axis, Index position) {
    const auto line_breaks = static_cast<std::size_t>(shape_.size() - axis - 1);
    const std::string divider = "," + std::string(line_breaks, '\n') + spaces(indent(axis) + 1);
    each_shown(shape_[axis], summarize_, [&](Index i) {
      if (i != 0) text_ += divider;
      if (i == kGap) {
        text_ += "...";
      } else {
        write_axis(axis + 1, position + i * strides_[axis]);
      }
    });
  }

  const T* data_;
  const Shape& shape_;
  const Strides& strides_;
  bool summarize_;
  Notation notation_ = Notation::whole;
  Index width_ = 1;
  std::string text_;
};

std::string body(const Tensor& tensor) {
  if (tensor.numel() == 0) return "[]";
  switch (tensor.dtype()) {
    case float32: return Body<float>(tensor).written();
    case float64: return Body<double>(tensor).written();
    case int64: return Body<std::int64_t>(tensor).written();
    case boolean: return Body<bool>(tensor).written();
  }
  return "";
}

// Follows the numbers: ", suffix", on a new line where the last one has no room.
class Suffixes {
 public:
  explicit Suffixes(std::string& text) : text_(text) {
    const std::size_t line_break = text.rfind('\n');
    const std::size_t start = line_break == std::string::npos ? 0 : line_break + 1;
    column_ = static_cast<Index>(text.size() - start) + 2;  // counted as PyTorch counts
  }

  void add(const std::string& suffix) {
    const auto size = static_cast<Index>(suffix.size());
    const auto start = static_cast<Index>(kPrefix.size());
    const bool fits = column_ + size + 2 <= kLineWidth;
    text_ += fits ? ", " + suffix : ",\n" + spaces(start) + suffix;
    column_ = fits ? column_ + size + 2 : start + size;
  }

 private:
  std::string& text_;
  Index column_;
};

// An empty tensor shows its size where "[]" does not tell it, and any dtype but the default.
void add_suffixes(const Tensor& tensor, Suffixes& suffixes) {
  const bool empty = tensor.numel() == 0;
  if (empty && tensor.dim() != 1) suffixes.add(text("size=", tensor.shape()));
  const bool is_plain = tensor.dtype() == float32 || (!empty && tensor.dtype() != float64);
  if (!is_plain) suffixes.add(text("dtype=", tensor.dtype()));
  if (!tensor.requires_grad()) return;
  const char* name = step_name(tensor.impl().node.get());
  suffixes.add(name ? text("grad_fn=<", name, ">") : "requires_grad=True");
}

std::string written(const Tensor& tensor) {
  std::string text(kPrefix);
  if (!tensor.defined()) return text + "undefined)";
  text += body(tensor);
  Suffixes suffixes(text);
  add_suffixes(tensor, suffixes);
  return text + ")";
}

}  // namespace

// The flags of the stream (precision, fill, hex) neither matter nor change; its width is used up,
// as by every <<.
std::ostream& operator<<(std::ostream& out, const Tensor& tensor) {
  out.width(0);
  return out << written(tensor);
}

}  // namespace gradus
