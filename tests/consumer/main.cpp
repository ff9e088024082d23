// The smallest program that uses Gradus from outside its tree.
#include <gradus/gradus.h>

#include <iostream>

int main() {
  const gradus::Tensor x = gradus::ones({2, 3});
  std::cout << x << "\n";
  return 0;
}
