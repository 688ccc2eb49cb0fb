#pragma once

#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "config/load.hpp"
#include "support/temp_directory.hpp"

namespace config_test {

// What loading a file with this text gives; the file is called FILE in every line.
class Outcome {
public:
    Outcome(std::string_view file, config::Environment environment = {}, config::Sources flags = {},
            std::filesystem::perms mode = std::filesystem::perms{0600}) {
        const support::TempDirectory directory;
        const std::string path = (directory.path() / "posthouse.toml").string();
        std::ofstream{path} << file;
        std::filesystem::permissions(path, mode);
        flags.file = path;
        flags.environment = std::move(environment);
        result_ = config::load(flags);
        if (auto* refused = std::get_if<config::ConfigErrors>(&result_)) {
            for (std::string& line : refused->errors) {
                const std::size_t place = line.find(path);
                if (place != std::string::npos) line.replace(place, path.size(), "FILE");
            }
        }
    }

    [[nodiscard]] bool accepted() const { return std::holds_alternative<config::Loaded>(result_); }
    [[nodiscard]] const config::Loaded& loaded() const { return std::get<config::Loaded>(result_); }
    [[nodiscard]] const config::Settings& settings() const { return loaded().settings; }

    [[nodiscard]] std::vector<std::string> errors() const {
        const auto* refused = std::get_if<config::ConfigErrors>(&result_);
        return refused == nullptr ? std::vector<std::string>{} : refused->errors;
    }
    // All lines, for messages and for looking for what must not be there.
    [[nodiscard]] std::string text() const {
        std::string out;
        for (const std::string& line : errors()) out += line + "\n";
        if (accepted()) {
            for (const std::string& line : loaded().warnings) out += line + "\n";
            for (const std::string& line : loaded().notes) out += line + "\n";
        }
        return out;
    }

private:
    std::variant<config::Loaded, config::ConfigErrors> result_;
};

}  // namespace config_test
