#pragma once

#include <prometheus/client_metric.h>
#include <prometheus/metric_family.h>
#include <prometheus/metric_type.h>

#include <string>
#include <utility>
#include <vector>

namespace api::metrics {

using Labels = std::vector<prometheus::ClientMetric::Label>;

// Families that are made when somebody asks, as they stand in the answer.
class SampledFamilies {
public:
    void gauge(std::string name, std::string help) {
        open(prometheus::MetricType::Gauge, std::move(name), std::move(help));
    }
    void counter(std::string name, std::string help) {
        open(prometheus::MetricType::Counter, std::move(name), std::move(help));
    }
    // Of the family opened last.
    void value(double value, Labels labels = {}) {
        prometheus::ClientMetric metric;
        metric.label = std::move(labels);
        const bool is_gauge = families_.back().type == prometheus::MetricType::Gauge;
        (is_gauge ? metric.gauge.value : metric.counter.value) = value;
        families_.back().metric.push_back(std::move(metric));
    }

    [[nodiscard]] std::vector<prometheus::MetricFamily> take() { return std::move(families_); }

private:
    void open(prometheus::MetricType type, std::string name, std::string help) {
        families_.push_back({std::move(name), std::move(help), type, {}});
    }

    std::vector<prometheus::MetricFamily> families_;
};

}  // namespace api::metrics
