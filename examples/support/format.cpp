#include "examples/support/format.h"

#include <cmath>
#include <cstdarg>
#include <cstdio>

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

std::string clock_time(double seconds) {
  const auto total = static_cast<long long>(std::llround(seconds));
  const long long hours = total / 3600;
  const long long minutes = total / 60 % 60;
  if (hours > 0) return format("%lld:%02lld:%02lld", hours, minutes, total % 60);
  return format("%lld:%02lld", minutes, total % 60);
}

}  // namespace examples
