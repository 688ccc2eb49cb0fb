#include "bench/report.hpp"

#include <cmath>
#include <cstdint>
#include <fstream>
#include <iomanip>
#include <iostream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <stdexcept>
#include <utility>

namespace bench {

namespace {

std::string shown(double value) {
    std::ostringstream out;
    out << std::fixed
        << std::setprecision(value >= 100 || value == 0 ? 0
                             : value >= 1               ? 2
                                                        : 3)
        << value;
    return out.str();
}

std::string shown_ratio(double value) {
    std::ostringstream out;
    out << std::fixed << std::setprecision(2) << value;
    return out.str();
}

std::string with_unit(double value, const std::string& unit) {
    return unit.empty() ? shown(value) : shown(value) + " " + unit;
}

std::string limit_text(const Measurement& line) {
    if (line.limit.empty()) return "";
    return shown(line.limit.median()) + " " + line.limit_name;
}

std::string met_text(const Measurement& line) {
    if (!line.met) return "";
    return *line.met ? "yes" : "NO";
}

std::string busy_text(const std::string& scenario, double percent) {
    return "busy before " + scenario + ": " + std::to_string(std::lround(percent)) + " %";
}

// What is wanted stands last: its signs are no single bytes.
void print_row(std::ostream& out, const std::string& what, const std::string& measured,
               const std::string& limit, const std::string& ratio, const std::string& met,
               const std::string& wanted) {
    out << std::left << std::setw(58) << what << std::right << std::setw(16) << measured << "  "
        << std::left << std::setw(36) << limit << std::right << std::setw(6) << ratio << "  "
        << std::left << std::setw(5) << met << wanted << '\n';
}

}  // namespace

std::optional<double> Measurement::ratio() const {
    if (limit.empty()) return std::nullopt;
    return measured.median() / limit.median();
}

void Report::begin(std::string scenario, double busy_percent) {
    std::cerr << busy_text(scenario, busy_percent) << std::endl;
    busy_.emplace_back(std::move(scenario), busy_percent);
}

void Report::at_least(double ratio, std::string what, std::string unit, const Series& measured,
                      std::string limit_name, const Series& limit) {
    judge_ratio({std::move(what), std::move(unit), measured, std::move(limit_name), limit},
                "≥ " + shown_ratio(ratio), [ratio](double reached) { return reached >= ratio; });
}

void Report::at_most(double ratio, std::string what, std::string unit, const Series& measured,
                     std::string limit_name, const Series& limit) {
    judge_ratio({std::move(what), std::move(unit), measured, std::move(limit_name), limit},
                "≤ " + shown_ratio(ratio), [ratio](double reached) { return reached <= ratio; });
}

void Report::within(double tolerance, std::string what, std::string unit, const Series& measured,
                    std::string limit_name, const Series& limit) {
    judge_ratio({std::move(what), std::move(unit), measured, std::move(limit_name), limit},
                shown_ratio(1 - tolerance) + " to " + shown_ratio(1 + tolerance),
                [tolerance](double reached) { return std::abs(reached - 1) <= tolerance; });
}

void Report::reaches(double target, std::string what, std::string unit, const Series& measured) {
    Measurement line{std::move(what), std::move(unit), measured};
    line.wanted = "≥ " + with_unit(target, line.unit);
    line.met = !measured.empty() && measured.median() >= target;
    add(std::move(line));
}

void Report::bounded(double bound, std::string what, std::string unit, const Series& measured) {
    Measurement line{std::move(what), std::move(unit), measured};
    line.wanted = "≤ " + with_unit(bound, line.unit);
    line.met = !measured.empty() && measured.median() <= bound;
    add(std::move(line));
}

void Report::note(std::string what, std::string unit, const Series& measured) {
    add({std::move(what), std::move(unit), measured});
}

void Report::beside(std::string what, std::string unit, const Series& measured,
                    std::string limit_name, const Series& limit) {
    add({std::move(what), std::move(unit), measured, std::move(limit_name), limit});
}

void Report::point(Measurement::Point point, std::string what, std::string unit,
                   const Series& measured) {
    Measurement line{std::move(what), std::move(unit), measured};
    line.point = std::move(point);
    add(std::move(line));
}

void Report::judge_ratio(Measurement line, const std::string& wanted,
                         const std::function<bool(double)>& is_met) {
    if (!line.measured.empty() && !line.limit.empty()) {
        line.wanted = "ratio " + wanted;
        line.met = is_met(*line.ratio());
    }
    add(std::move(line));
}

void Report::add(Measurement line) {
    if (line.measured.empty()) return;
    if (!busy_.empty()) line.scenario = busy_.back().first;
    std::cerr << "  " << line.what << ": " << with_unit(line.measured.median(), line.unit);
    if (const auto ratio = line.ratio()) {
        std::cerr << ", " << shown_ratio(*ratio) << " of " << limit_text(line);
    }
    if (line.met) std::cerr << ", wanted " << line.wanted << ": " << met_text(line);
    std::cerr << std::endl;
    lines_.push_back(std::move(line));
}

void Report::print(std::ostream& out) const {
    print_row(out, "what", "measured", "limit", "ratio", "met", "wanted");
    for (const Measurement& line : lines_) {
        const auto ratio = line.ratio();
        print_row(out, line.what, with_unit(line.measured.median(), line.unit), limit_text(line),
                  ratio ? shown_ratio(*ratio) : "", met_text(line), line.wanted);
    }
    for (const auto& [scenario, percent] : busy_) out << busy_text(scenario, percent) << '\n';
}

void Report::write_json(const std::filesystem::path& file,
                        const std::vector<std::pair<std::string, std::string>>& facts) const {
    nlohmann::ordered_json json;
    for (const auto& [name, value] : facts) json["facts"][name] = value;
    for (const auto& [scenario, percent] : busy_) json["busy_percent"][scenario] = percent;
    for (const Measurement& line : lines_) {
        nlohmann::ordered_json entry{{"scenario", line.scenario},
                                     {"what", line.what},
                                     {"unit", line.unit},
                                     {"measured", line.measured.median()},
                                     {"samples", line.measured.samples()}};
        if (const auto ratio = line.ratio()) {
            entry["limit_name"] = line.limit_name;
            entry["limit"] = line.limit.median();
            entry["limit_samples"] = line.limit.samples();
            entry["ratio"] = *ratio;
        }
        if (line.met) {
            entry["wanted"] = line.wanted;
            entry["met"] = *line.met;
        }
        if (line.point) {
            entry["curve"] = line.point->curve;
            entry["x"] = line.point->x;
        }
        json["results"].push_back(std::move(entry));
    }
    std::ofstream stream(file);
    stream << json.dump(2) << '\n';
    if (!stream.flush()) throw std::runtime_error("can not write " + file.string());
}

}  // namespace bench
