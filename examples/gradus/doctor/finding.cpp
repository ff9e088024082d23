#include "examples/gradus/doctor/finding.h"

#include <exception>

namespace examples {

const char* name(Verdict verdict) {
  switch (verdict) {
    case Verdict::well: return "ok";
    case Verdict::note: return "note";
    case Verdict::fault: return "FAULT";
  }
  return "";
}

Finding examined(const std::string& topic, const std::function<Finding()>& look) {
  try {
    return look();
  } catch (const std::exception& error) {
    return {topic, Verdict::fault, error.what()};
  }
}

}  // namespace examples
