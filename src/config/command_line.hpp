#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <variant>

namespace config {

struct Serve {
    std::optional<std::filesystem::path> file;  // --config
    std::optional<std::string> data_dir;
    std::optional<std::string> listen;
};

struct Check {
    std::optional<std::filesystem::path> file;
};

// Asks the nodes of the configured chain whether a start would go well.
struct Doctor {
    std::optional<std::filesystem::path> file;
};

// Takes the shares of a reference helper over; ends with exit_not_all when some were left behind.
struct ImportHelperDb {
    std::filesystem::path helper_db;
    std::optional<std::filesystem::path> file;  // --config
    std::optional<std::string> data_dir;
    bool trial = false;  // also without a vote chain
};

// Makes the database that of the configured chains.
struct Adopt {
    std::optional<std::filesystem::path> file;  // --config
    std::optional<std::string> data_dir;
};

struct Version {};

// For standard output; the program ends with 0.
struct Help {
    std::string text;
};

// For standard error, whole lines; the program ends with exit_usage.
struct BadUsage {
    std::string text;
};

using Command = std::variant<Serve, Check, Doctor, ImportHelperDb, Adopt, Version, Help, BadUsage>;

inline constexpr int exit_usage = 2;
inline constexpr int exit_not_all = 3;

[[nodiscard]] Command parse_command_line(int argc, const char* const* argv);

}  // namespace config
