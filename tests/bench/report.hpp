#pragma once

#include <filesystem>
#include <iosfwd>
#include <optional>
#include <string>
#include <vector>

#include "bench/measure.hpp"

namespace bench {

// One line of the result: a figure and, where there is one, what bounds it.
struct Measurement {
    std::string what;
    std::string unit;
    Series measured;
    std::string limit_name;  // empty: stands alone
    Series limit;
    std::string required;     // empty: for information
    std::optional<bool> met;  // nothing for information

    // Of the medians.
    [[nodiscard]] std::optional<double> ratio() const;
};

class Report {
public:
    // Medians of figures that were measured in turns.
    void at_least(double ratio, std::string what, std::string unit, const Series& measured,
                  std::string limit_name, const Series& limit);
    void at_most(double ratio, std::string what, std::string unit, const Series& measured,
                 std::string limit_name, const Series& limit);
    // Within 1 ± `tolerance`.
    void within(double tolerance, std::string what, std::string unit, const Series& measured,
                std::string limit_name, const Series& limit);
    // A figure with a bound of its own.
    void bounded(double bound, std::string what, std::string unit, const Series& measured);
    void note(std::string what, std::string unit, const Series& measured);
    // Beside something that it need not reach.
    void beside(std::string what, std::string unit, const Series& measured, std::string limit_name,
                const Series& limit);

    void print(std::ostream& out) const;
    // `facts` are lines `name=value` about the machine and the run.
    void write_json(const std::filesystem::path& file,
                    const std::vector<std::pair<std::string, std::string>>& facts) const;

private:
    void add(Measurement line);

    std::vector<Measurement> lines_;
};

}  // namespace bench
