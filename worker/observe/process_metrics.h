// What the kernel knows of this process, under the names that Prometheus' own client libraries give it. The
// C++ library has none of them.
#pragma once

#include <vector>

#include <prometheus/metric_family.h>

namespace epilogue {

/// process_cpu_seconds_total, process_resident_memory_bytes, process_virtual_memory_bytes, process_open_fds,
/// process_max_fds, process_start_time_seconds and process_threads, read from /proc (proc(5)). What cannot be
/// read is left out.
std::vector<prometheus::MetricFamily> process_metrics();

}  // namespace epilogue
