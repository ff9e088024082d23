#include "examples/support/format.h"

#include <cmath>
#include <cstdarg>
#include <cstdio>
#include <iterator>

namespace examples {

std::string format(const char* pattern, ...) {
  char buffer[256];
  std::va_list arguments;
  va_start(arguments, pattern);
  std::vsnprintf(buffer, sizeof buffer, pattern, arguments);
  va_end(arguments);
  return buffer;
}

std::string grouped(std::int64_t number) {
  std::string digits = std::to_string(number);
  for (auto place = static_cast<std::ptrdiff_t>(digits.size()) - 3; place > 0; place -= 3) {
    if (digits[static_cast<std::size_t>(place - 1)] == '-') break;
    digits.insert(static_cast<std::size_t>(place), " ");
  }
  return digits;
}

std::string five_columns(double number) {
  if (number != 0 && number < 0.0095) return format("%5.0e", number);
  return number < 9.9995 ? format("%.3f", number) : format("%5.1f", number);
}

std::string rounded(double number) {
  constexpr const char* kUnits[] = {"", " k", " M", " G", " T"};
  std::size_t unit = 0;
  while (std::abs(number) >= 999.5 && unit + 1 < std::size(kUnits)) {
    number /= 1000.0;
    ++unit;
  }
  const int decimals = unit == 0 || std::abs(number) >= 99.95 ? 0
                       : std::abs(number) >= 9.995            ? 1
                                                              : 2;
  return format("%.*f%s", decimals, number, kUnits[unit]);
}

std::string byte_size(double bytes) {
  const std::string size = rounded(bytes);
  return size + (size.find(' ') == std::string::npos ? " B" : "B");
}

std::string clock_time(double seconds) {
  const auto total = static_cast<long long>(std::llround(seconds));
  const long long hours = total / 3600;
  const long long minutes = total / 60 % 60;
  if (hours > 0) return format("%lld:%02lld:%02lld", hours, minutes, total % 60);
  return format("%lld:%02lld", minutes, total % 60);
}

}  // namespace examples
