#pragma once

#include <prometheus/counter.h>
#include <prometheus/gauge.h>
#include <prometheus/histogram.h>
#include <prometheus/registry.h>

#include <string>

namespace api::metrics {

// Families of metrics, added to a registry.

[[nodiscard]] inline auto& counters(prometheus::Registry& registry, const std::string& name,
                                    const std::string& help) {
    return prometheus::BuildCounter().Name(name).Help(help).Register(registry);
}

[[nodiscard]] inline auto& gauges(prometheus::Registry& registry, const std::string& name,
                                  const std::string& help) {
    return prometheus::BuildGauge().Name(name).Help(help).Register(registry);
}

[[nodiscard]] inline auto& histograms(prometheus::Registry& registry, const std::string& name,
                                      const std::string& help) {
    return prometheus::BuildHistogram().Name(name).Help(help).Register(registry);
}

}  // namespace api::metrics
