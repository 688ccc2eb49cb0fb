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

std::string limit_text(const Measurement& line) {
    if (line.limit_name.empty()) return "";
    return shown(line.limit.median()) + " " + line.limit_name;
}

std::string met_text(const Measurement& line) {
    if (!line.met) return "";
    return *line.met ? "yes" : "NO";
}

void print_row(std::ostream& out, const std::string& what, const std::string& measured,
               const std::string& limit, const std::string& ratio, const std::string& required,
               const std::string& met) {
    out << std::left << std::setw(58) << what << std::right << std::setw(16) << measured << "  "
        << std::left << std::setw(36) << limit << std::right << std::setw(6) << ratio << "  "
        << std::left << std::setw(16) << required << met << '\n';
}

}  // namespace

std::optional<double> Measurement::ratio() const {
    if (limit_name.empty()) return std::nullopt;
    return measured.median() / limit.median();
}

void Report::at_least(double ratio, std::string what, std::string unit, const Series& measured,
                      std::string limit_name, const Series& limit) {
    Measurement line{
        std::move(what), std::move(unit), measured, std::move(limit_name), limit, "", {}};
    line.required = "ratio >= " + shown_ratio(ratio);
    line.met = *line.ratio() >= ratio;
    add(std::move(line));
}

void Report::at_most(double ratio, std::string what, std::string unit, const Series& measured,
                     std::string limit_name, const Series& limit) {
    Measurement line{
        std::move(what), std::move(unit), measured, std::move(limit_name), limit, "", {}};
    line.required = "ratio <= " + shown_ratio(ratio);
    line.met = *line.ratio() <= ratio;
    add(std::move(line));
}

void Report::within(double tolerance, std::string what, std::string unit, const Series& measured,
                    std::string limit_name, const Series& limit) {
    Measurement line{
        std::move(what), std::move(unit), measured, std::move(limit_name), limit, "", {}};
    line.required = "ratio " + shown_ratio(1 - tolerance) + " to " + shown_ratio(1 + tolerance);
    line.met = std::abs(*line.ratio() - 1) <= tolerance;
    add(std::move(line));
}

void Report::bounded(double bound, std::string what, std::string unit, const Series& measured) {
    Measurement line{std::move(what), std::move(unit), measured, "", {}, "", {}};
    line.required = "<= " + shown(bound);
    line.met = measured.median() <= bound;
    add(std::move(line));
}

void Report::note(std::string what, std::string unit, const Series& measured) {
    add({std::move(what), std::move(unit), measured, "", {}, "", {}});
}

void Report::beside(std::string what, std::string unit, const Series& measured,
                    std::string limit_name, const Series& limit) {
    add({std::move(what), std::move(unit), measured, std::move(limit_name), limit, "", {}});
}

void Report::add(Measurement line) {
    std::cerr << "  " << line.what << ": " << shown(line.measured.median()) << ' ' << line.unit;
    if (const auto ratio = line.ratio()) {
        std::cerr << ", " << shown_ratio(*ratio) << " of " << limit_text(line);
    }
    std::cerr << std::endl;
    lines_.push_back(std::move(line));
}

void Report::print(std::ostream& out) const {
    print_row(out, "what", "measured", "limit", "ratio", "required", "met");
    for (const Measurement& line : lines_) {
        const auto ratio = line.ratio();
        print_row(out, line.what, shown(line.measured.median()) + " " + line.unit, limit_text(line),
                  ratio ? shown_ratio(*ratio) : "", line.required, met_text(line));
    }
}

void Report::write_json(const std::filesystem::path& file,
                        const std::vector<std::pair<std::string, std::string>>& facts) const {
    nlohmann::ordered_json json;
    for (const auto& [name, value] : facts) json["facts"][name] = value;
    for (const Measurement& line : lines_) {
        nlohmann::ordered_json entry{{"what", line.what},
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
            entry["required"] = line.required;
            entry["met"] = *line.met;
        }
        json["results"].push_back(std::move(entry));
    }
    std::ofstream stream(file);
    stream << json.dump(2) << '\n';
    if (!stream.flush()) throw std::runtime_error("can not write " + file.string());
}

}  // namespace bench
