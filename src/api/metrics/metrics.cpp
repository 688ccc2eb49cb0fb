#include "api/metrics/metrics.hpp"

#include <prometheus/text_serializer.h>

#include <algorithm>
#include <iterator>
#include <sstream>
#include <utility>
#include <vector>

namespace api::metrics {

namespace {

using Families = std::vector<prometheus::MetricFamily>;

void append(Families& all, Families more) {
    std::move(more.begin(), more.end(), std::back_inserter(all));
}

}  // namespace

Metrics::Metrics(const MetricsOptions& options, const BuildFacts& build, ClientTraffic* clients)
    : clients_(clients),
      rows_(options.shares),
      http_(registry_, options),
      engine_(registry_, rows_, options) {
    gauges(registry_, "posthouse_build_info", "Always 1; the labels tell what runs.")
        .Add({{"version", build.version}, {"build", build.build}})
        .Set(1);
}

Families Metrics::collect() const {
    Families all = registry_.Collect();
    append(all, rows_.collect());
    return all;
}

std::string exposition(const Metrics& metrics, Samples& samples) {
    Families all = metrics.collect();
    append(all, samples.collect());
    return as_text(std::move(all));
}

std::string as_text(std::vector<prometheus::MetricFamily> all) {
    // The library keeps series in a hash table; in order they can be compared and read.
    for (prometheus::MetricFamily& family : all) {
        std::ranges::sort(family.metric,
                          [](const auto& a, const auto& b) { return a.label < b.label; });
    }
    std::ostringstream text;
    prometheus::TextSerializer{}.Serialize(text, all);
    return std::move(text).str();
}

}  // namespace api::metrics
