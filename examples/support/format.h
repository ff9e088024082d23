// Numbers as people read them.
#pragma once

#include <cstdint>
#include <string>

namespace examples {

/// printf into a string.
[[gnu::format(printf, 1, 2)]] std::string format(const char* pattern, ...);

/// "102 794"
std::string grouped(std::int64_t number);

/// "0:18", "1:02:03"
std::string clock_time(double seconds);

}  // namespace examples
