// Lesson 1: tensors. Numbers in a row, and a shape that says how to read them.
//
//     next: 02_autograd
#include <gradus/gradus.h>

#include <iostream>

#include "examples/support/exit_code.h"

using namespace gradus;  // NOLINT: an example is read beside the documentation

namespace {

void make_one() {
  const Tensor table = tensor({{1, 2, 3}, {4, 5, 6}});
  std::cout << "1. A tensor has a shape and one type of numbers: " << table.shape() << ", "
            << table.dtype() << "\n"
            << table << "\n";
  examples::require(table.shape() == Shape{2, 3}, "the table has two rows and three columns");
  examples::require(table.at({1, 2}) == 6.0, "row 1, column 2 holds 6 (counting starts at 0)");
}

void look_at_it_differently() {
  Tensor table = tensor({{1, 2, 3}, {4, 5, 6}});
  Tensor turned = table.transpose(0, 1);
  std::cout << "\n2. A view is another way to read the same numbers.\n"
            << "   the table takes steps of " << table.strides() << ", its transpose of "
            << turned.strides() << "\n"
            << turned << "\n";

  turned[0].fill_(100);  // row 0 of the one is column 0 of the other
  std::cout << "   after writing 100 through the transpose, the table is\n" << table << "\n";
  examples::require(table.at({1, 0}) == 100.0, "a write through a view is seen in the original");
  examples::require(!turned.is_contiguous() && turned.contiguous().is_contiguous(),
                    "contiguous() copies the numbers into their new order");
}

void stretch() {
  const Tensor column = tensor({{1}, {2}});
  const Tensor row = tensor({10, 20, 30});
  std::cout << "\n3. Sizes of 1 stretch: " << column.shape() << " + " << row.shape() << " is "
            << (column + row).shape() << "\n"
            << column + row << "\n";
  examples::require(all(eq(column + row, tensor({{11, 21, 31}, {12, 22, 32}}))),
                    "every row number met every column number");
}

void multiply() {
  const Tensor x = tensor({{1, 2}, {3, 4}});
  const Tensor swap = tensor({{0, 1}, {1, 0}});
  std::cout << "\n4. * goes number by number, matmul row by column.\n"
            << x * swap << "\n"
            << matmul(x, swap) << "\n";
  examples::require(all(eq(matmul(x, swap), tensor({{2, 1}, {4, 3}}))),
                    "a product with this matrix swaps the columns");

  const Tensor stack = ones({5, 1, 2, 2});
  examples::require(matmul(stack, x).shape() == Shape{5, 1, 2, 2},
                    "all axes but the last two are a stack of matrices");
}

void fold_up() {
  const Tensor table = tensor({{1, 2, 3}, {4, 5, 6}});
  std::cout << "\n5. A sum folds axes up. over the rows: " << table.sum({0})
            << ", along each row: " << table.sum({1}) << ", of all: " << table.sum() << "\n";
  examples::require(table.mean().item() == 3.5, "the mean of 1 to 6 is 3.5");
}

void draw() {
  manual_seed(42);
  const Tensor drawn = randn({3});
  std::cout << "\n6. With seed 42 the first three normal numbers are " << drawn
            << ", as in PyTorch\n";
  examples::require(allclose(drawn, tensor({0.3367, 0.1288, 0.2345}), 0.0, 1e-4),
                    "PyTorch draws 0.3367, 0.1288, 0.2345");
}

void misuse() {
  std::cout << "\n7. A mistake says what is wrong, what it got and what it needs:\n\n";
  try {
    matmul(ones({2, 3}), ones({2, 3}));
  } catch (const ShapeError& error) {
    std::cout << error.what() << "\n";
    return;
  }
  examples::require(false, "shapes that do not fit are refused");
}

void show() {
  make_one();
  look_at_it_differently();
  stretch();
  multiply();
  fold_up();
  draw();
  misuse();
}

}  // namespace

int main() { return examples::run(show); }
