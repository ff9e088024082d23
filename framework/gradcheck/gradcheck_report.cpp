// The text of a report: a table, and what is wrong.
#include <algorithm>
#include <array>
#include <cmath>
#include <iomanip>
#include <ostream>
#include <sstream>

#include "framework/gradcheck/judgement_internal.h"

namespace gradus {
namespace {

using checking::is_zero;
using checking::kRelativeStep;

using Cells = std::array<std::string, 7>;

std::string short_number(double value) {
  std::ostringstream out;
  out << std::scientific << std::setprecision(1) << value;
  return out.str();
}
std::string signed_number(double value) {
  std::ostringstream out;
  out << std::showpos << std::setprecision(6) << value;
  return std::isnan(value) ? "nan" : out.str();
}

Cells cells_of(const GradcheckInput& row) {
  const bool compared = row.directions > 0 || row.checked > row.kinks;
  const bool has_note = row.passed && !row.note.empty();
  Cells cells{row.name, text(row.shape), "-", "-", "-", row.note, "-"};
  if (row.analytic.defined()) cells[2] = text(row.checked);
  if (row.directions > 0) cells[2] = text(row.directions, " dirs");
  if (compared) cells[3] = short_number(row.max_abs_error);
  if (compared && !is_zero(row)) cells[4] = short_number(row.max_rel_error);
  if (!has_note) cells[5] = checking::worst_name(row);
  if (row.analytic.defined()) cells[6] = row.passed ? "ok" : "FAIL";
  return cells;
}

void print_cells(std::ostream& out, const Cells& cells, const std::array<std::size_t, 7>& widths) {
  std::ostringstream line;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    const bool is_number = i >= 2 && i <= 4;
    line << (i == 0 ? " " : "  ") << (is_number ? std::right : std::left)
         << std::setw(static_cast<int>(i + 1 < cells.size() ? widths[i] : 0)) << cells[i];
  }
  out << line.str() << "\n";
}

void print_table(std::ostream& out, const GradcheckReport& report) {
  std::vector<Cells> table{
      {"tensor", "shape", "checked", "max abs", "max rel", "worst element", "verdict"}};
  for (const GradcheckInput& row : report.inputs) table.push_back(cells_of(row));
  std::array<std::size_t, 7> widths{};
  for (const Cells& cells : table) {
    for (std::size_t i = 0; i < cells.size(); ++i) widths[i] = std::max(widths[i], cells[i].size());
  }
  print_cells(out, table.front(), widths);
  int order = 1;
  for (std::size_t r = 0; r < report.inputs.size(); ++r) {
    if (report.inputs[r].order > order) out << " second order: the gradients' own gradients\n";
    order = report.inputs[r].order;
    print_cells(out, table[r + 1], widths);
  }
}

/// A label and words, broken into lines of 100 columns that go on below the first word.
void print_labelled(std::ostream& out, const std::string& label, const std::string& words) {
  std::istringstream rest(words);
  std::string line = label;
  for (std::string word; rest >> word;) {
    if (line.size() + word.size() >= 100) {
      out << line << "\n";
      line = std::string(label.size() - 1, ' ');
    }
    line += (line == label ? "" : " ") + word;
  }
  out << line << "\n";
}

void print_diagnosis(std::ostream& out, const Diagnosis& diagnosis) {
  if (!diagnosis.pattern.empty()) print_labelled(out, "    pattern   ", diagnosis.pattern);
  if (!diagnosis.cause.empty()) print_labelled(out, "  likely cause  ", diagnosis.cause);
}

void print_wrong(std::ostream& out, const GradcheckReport& report, const GradcheckInput& row) {
  const double ratio = row.worst_analytic / row.worst_numeric;
  const std::string number = text("input ", row.number);
  const bool by_number = row.name == number || row.order == 2;
  const bool by_direction = row.directions > 0;
  out << "  " << (row.worst_direction >= 0 ? row.name + " along " : "") << checking::worst_name(row)
      << (by_number ? "" : ", " + number) << (row.order == 2 ? ", second order\n" : "\n")
      << "    analytic  " << signed_number(row.worst_analytic) << "   numeric  "
      << signed_number(row.worst_numeric) << " +- " << short_number(row.worst_uncertainty);
  if (std::isfinite(ratio)) out << "   ratio  " << signed_number(ratio);
  out << "\n    error     " << short_number(row.max_abs_error);
  if (!is_zero(row)) out << ", relative " << short_number(row.max_rel_error);
  out << "\n    limit     " << short_number(row.limit) << " = atol " << report.atol << " + rtol "
      << report.rtol << " * " << short_number(row.scale) << " + rounding "
      << short_number(row.rounding) << "\n    wrong     " << row.wrong << " of "
      << (by_direction ? row.directions : row.analytic.numel())
      << (by_direction
              ? text(" directions; {.max_elements = ", row.analytic.numel(), "} names the elements")
              : " elements")
      << "\n";
  if (!row.note.empty()) out << "    note      " << row.note << "\n";
  print_diagnosis(out, row.diagnosis);
}

void print_verdict(std::ostream& out, const GradcheckReport& report) {
  double worst = 0.0;
  Index wrong = 0;
  Index checked = 0;
  bool has_pattern = false;
  for (const GradcheckInput& row : report.inputs) {
    if (row.analytic.defined()) ++checked;
    if (!row.passed) ++wrong;
    if (!is_zero(row)) worst = std::max(worst, row.max_rel_error);
    has_pattern = has_pattern || row.diagnosis.fault != Fault::none;
  }
  for (const std::string& failure : report.failures) out << "FAIL  " << failure << "\n";
  if (wrong > 0) {
    out << "FAIL  " << wrong << " of " << checked << " tensors"
        << (report.advice.empty() ? "" : " (" + report.advice + ")") << "\n";
  }
  for (const GradcheckInput& row : report.inputs) {
    if (!row.passed) print_wrong(out, report, row);
  }
  if (has_pattern && !report.suspects.empty()) {
    print_labelled(out, "  look at       ",
                   text("the backward of ", report.suspects,
                        wrong > 1 ? ": all that is wrong passed there" : ""));
  }
  if (report.passed()) {
    out << "PASS  worst " << short_number(worst) << " (limit rtol " << report.rtol << ", atol "
        << report.atol << ")\n";
  }
}

/// "25 elements", and "64 random directions through 12000 elements".
void print_work(std::ostream& out, const GradcheckReport& report) {
  Index elements = 0;
  Index moved_together = 0;
  Index directions = 0;
  for (const GradcheckInput& row : report.inputs) {
    (row.directions > 0 ? moved_together : elements) += row.checked;
    directions += row.directions;
  }
  out << "work       ";
  if (elements > 0 || directions == 0) out << elements << " elements, ";
  if (directions > 0) {
    out << directions << " random directions (dirs) through " << moved_together
        << " elements, of inputs of more than " << report.max_elements << ",\n           ";
  }
  out << report.evaluations << " evaluations"
      << (report.bit_identical ? "; 2 backward runs bit-identical\n" : "\n");
}

}  // namespace

std::ostream& operator<<(std::ostream& out, const GradcheckReport& report) {
  out << "gradcheck  float64, seed " << report.seed << ", random cotangents\n"
      << "method     central differences, h " << (report.step > 0.0 ? report.step : kRelativeStep)
      << (report.step > 0.0 ? "" : "*max(1,|x|)") << " and 2h, extrapolated\n";
  print_work(out, report);
  if (!report.inputs.empty()) print_table(out, report);
  for (const std::string& remark : report.remarks) out << "note  " << remark << "\n";
  print_verdict(out, report);
  return out;
}

}  // namespace gradus
