// Numbers as people read them.
#pragma once

#include <cstdint>
#include <string>

namespace examples {

/// printf into a string.
[[gnu::format(printf, 1, 2)]] std::string format(const char* pattern, ...);

/// "102 794"
std::string grouped(std::int64_t number);

/// A number from 0 up in five columns: "0.057", "4e-04", " 12.3"
std::string five_columns(double number);

/// Three digits and a unit of thousands: "812", "53.1 k", "1.20 M"
std::string rounded(double number);

/// "412 B", "3.1 MB", of 1000 each
std::string byte_size(double bytes);

/// "0:18", "1:02:03"
std::string clock_time(double seconds);

}  // namespace examples
