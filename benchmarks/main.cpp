// Runs the rows that this program knows. BENCHMARK_THREADS sets the threads.
#include <benchmark/benchmark.h>

#include "measure.h"

int main(int argc, char** argv) {
  work::set_threads(measure::threads());
  benchmark::AddCustomContext("program", work::description());
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return EXIT_FAILURE;
  benchmark::RunSpecifiedBenchmarks();
}
