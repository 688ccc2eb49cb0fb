#include "api/admin/page/chart.hpp"

#include <algorithm>
#include <cassert>

#include "api/admin/page/html.hpp"

namespace api::admin::page {

namespace {

// Of the drawing, in its own units.
constexpr std::int64_t width = 600;
constexpr std::int64_t height = 120;
constexpr std::int64_t margin = 4;

// The next of 1, 2, 5, 10, 20, 50 …
std::int64_t scale_for(std::int64_t highest) {
    for (std::int64_t power = 1;; power *= 10) {
        for (const std::int64_t step : {1, 2, 5}) {
            if (step * power >= highest) return step * power;
        }
    }
}

std::string polyline(const ChartLine& line, std::size_t number, std::int64_t scale) {
    const auto last = std::max<std::int64_t>(static_cast<std::int64_t>(line.values.size()) - 1, 1);
    std::string points;
    for (std::size_t i = 0; i < line.values.size(); ++i) {
        const std::int64_t x = static_cast<std::int64_t>(i) * width / last;
        const std::int64_t room = height - 2 * margin;
        const std::int64_t y =
            height - margin - std::max<std::int64_t>(line.values[i], 0) * room / scale;
        points += (i == 0 ? "" : " ") + std::to_string(x) + "," + std::to_string(y);
    }
    return "<polyline class=\"line-" + std::to_string(number) + "\" points=\"" + points + "\"/>";
}

std::int64_t last_of(const ChartLine& line) {
    return line.values.empty() ? 0 : line.values.back();
}

}  // namespace

std::string chart(std::string_view name, std::string_view title,
                  const std::vector<ChartLine>& lines) {
    assert(!lines.empty() && lines.size() <= 4);
    std::int64_t highest = 1;
    std::string drawn;
    std::string legend;
    std::string told;
    for (const ChartLine& line : lines) {
        for (const std::int64_t value : line.values) highest = std::max(highest, value);
    }
    const std::int64_t scale = scale_for(highest);
    for (std::size_t i = 0; i < lines.size(); ++i) {
        drawn += polyline(lines[i], i, scale);
        const std::string now = std::to_string(last_of(lines[i]));
        legend += element("li", "<span class=\"swatch line-" + std::to_string(i) + "\"></span>" +
                                    escaped(lines[i].name) + " <b>" + now + "</b>");
        told += (i == 0 ? "" : ", ") + std::string(lines[i].name) + " " + now + " now";
    }
    const std::string id = escaped(name);
    const std::string box = "0 0 " + std::to_string(width) + " " + std::to_string(height);
    const std::string svg = "<svg viewBox=\"" + box +
                            "\" preserveAspectRatio=\"none\" role=\"img\" aria-labelledby=\"" + id +
                            "-told\"><title id=\"" + id + "-told\">" +
                            escaped(std::string(title) + ", the last hour: " + told) + "</title>" +
                            drawn + "</svg>";
    const std::string axis =
        "<div class=\"axis\"><span>60 min ago</span><span>top: " + std::to_string(scale) +
        "</span><span>now</span></div>";
    return element("figure", element("figcaption", escaped(title)) + svg + axis +
                                 element("ul", legend, "class=\"legend\""));
}

}  // namespace api::admin::page
