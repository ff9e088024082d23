// The smallest program that uses Gradus from outside its tree.
#include <gradus/gradus.h>

#include <iostream>
#include <string>

int main() {
  const gradus::Tensor x = gradus::ones({2, 3});
  std::cout << x << "\n";
  const std::string file = gradus::safetensors_bytes({{"x", x}});
  return gradus::parse_safetensors(file, "file").tensors.at("x").size(1) == 3 ? 0 : 1;
}
