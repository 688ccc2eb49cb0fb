#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace api::admin::page {

// One line of a chart: a value for each minute, the oldest first.
struct ChartLine {
    std::string_view name;
    std::vector<std::int64_t> values;
};

// A drawing of the last hour with a legend, as HTML with an SVG in it. All lines share a scale that
// begins at 0. `name` is an id of the document; at most four lines.
[[nodiscard]] std::string chart(std::string_view name, std::string_view title,
                                const std::vector<ChartLine>& lines);

}  // namespace api::admin::page
