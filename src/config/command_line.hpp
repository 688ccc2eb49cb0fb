#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <variant>
#include <vector>

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

// What is asked of the admin interface of the process that runs on the data directory, or of its
// files where none does.
struct Ask {
    enum class About { jobs, job, status };
    About about = About::status;
    std::string target;                         // path and query
    std::optional<std::filesystem::path> file;  // --config
    std::optional<std::string> data_dir;
    bool json = false;  // the answer as it is
};

// What is to be done with requests by the process that runs on the data directory.
struct Instruct {
    std::string verb;                           // `retry`, `pause` …
    std::vector<std::string> targets;           // paths to POST to
    std::string body;                           // JSON
    std::optional<std::filesystem::path> file;  // --config
    std::optional<std::string> data_dir;
    bool json = false;  // the answers as they are, a line for each
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

using Command = std::variant<Serve, Check, Doctor, ImportHelperDb, Adopt, Ask, Instruct, Version,
                             Help, BadUsage>;

inline constexpr int exit_usage = 2;
inline constexpr int exit_not_all = 3;

[[nodiscard]] Command parse_command_line(int argc, const char* const* argv);

}  // namespace config
