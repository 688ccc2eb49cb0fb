#pragma once

#include <filesystem>
#include <functional>
#include <iosfwd>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "bench/measure.hpp"

namespace bench {

// One line of the result: a figure and, where there is one, what bounds it.
struct Measurement {
    std::string what;
    std::string unit;
    Series measured;
    std::string limit_name = {};
    Series limit = {};             // empty: stands alone
    std::string wanted = {};       // empty: for information
    std::optional<bool> met = {};  // nothing for information
    std::string scenario = {};

    // A point of a line in a picture.
    struct Point {
        std::string curve;
        double x = 0;
    };
    std::optional<Point> point = {};

    // Of the medians.
    [[nodiscard]] std::optional<double> ratio() const;
};

// Medians of figures that were measured in turns. Targets are told, and missing one is no failure.
// A figure that was not measured has no line; a limit that was not measured is left out.
class Report {
public:
    // What comes next is of this scenario, and others used so much of the machine before it.
    void begin(std::string scenario, double busy_percent);

    void at_least(double ratio, std::string what, std::string unit, const Series& measured,
                  std::string limit_name, const Series& limit);
    void at_most(double ratio, std::string what, std::string unit, const Series& measured,
                 std::string limit_name, const Series& limit);
    // Within 1 ± `tolerance`.
    void within(double tolerance, std::string what, std::string unit, const Series& measured,
                std::string limit_name, const Series& limit);
    // Figures with a target of their own: this much, or no more than this.
    void reaches(double target, std::string what, std::string unit, const Series& measured);
    void bounded(double bound, std::string what, std::string unit, const Series& measured);
    void note(std::string what, std::string unit, const Series& measured);
    // Beside something that it need not reach.
    void beside(std::string what, std::string unit, const Series& measured, std::string limit_name,
                const Series& limit);
    void point(Measurement::Point point, std::string what, std::string unit,
               const Series& measured);

    void print(std::ostream& out) const;
    // `facts` are lines `name=value` about the machine and the run.
    void write_json(const std::filesystem::path& file,
                    const std::vector<std::pair<std::string, std::string>>& facts) const;

private:
    void judge_ratio(Measurement line, const std::string& wanted,
                     const std::function<bool(double)>& is_met);
    void add(Measurement line);

    std::vector<std::pair<std::string, double>> busy_;  // before each scenario
    std::vector<Measurement> lines_;
};

}  // namespace bench
