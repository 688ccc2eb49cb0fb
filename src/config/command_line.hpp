#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "config/exit_status.hpp"

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

// Tries on the operator's machine whether promises are kept.
struct Drill {
    std::optional<std::filesystem::path> file;  // --config
    std::optional<std::string> data_dir;
    bool quick = false;
    std::optional<std::uint64_t> rounds;
    std::optional<std::uint64_t> seed;
    bool json = false;
    bool chain = false;                     // the configured one instead of the embedded one
    std::optional<std::uint64_t> requests;  // most that are sent there
    bool yes = false;                       // to what that costs
};

// Looks for damage; ends with exit_damaged when there is some.
struct Verify {
    std::optional<std::filesystem::path> database;  // a backup, in place of the data directory
    std::optional<std::filesystem::path> file;      // --config
    std::optional<std::string> data_dir;
};

// Writes what has ended, for accounts and audits.
struct Export {
    std::optional<std::filesystem::path> database;  // a backup, in place of the data directory
    std::optional<std::filesystem::path> file;      // --config
    std::optional<std::string> data_dir;
    std::optional<std::string> since;
};

// Copies the database into a file.
struct Backup {
    std::filesystem::path backup;
    std::optional<std::filesystem::path> file;  // --config
    std::optional<std::string> data_dir;
    bool with_shares = false;
    std::optional<std::filesystem::path> key_file;
    std::optional<std::uint64_t> wal_mib_max;
};

// Lets requests go on that are held.
struct Release {
    std::vector<std::string> jobs;              // none: all
    std::optional<std::filesystem::path> file;  // --config
    std::optional<std::string> data_dir;
};

// Lets the contract that takes fees have tokens of an account that signs.
struct Approve {
    std::string amount;                 // in tokens
    std::optional<std::string> signer;  // its address; absent: the only one
    bool yes = false;                   // nobody is asked
    bool json = false;
    std::optional<std::filesystem::path> file;  // --config
    std::optional<std::string> data_dir;
};

// Makes a data directory of such a file.
struct Restore {
    std::filesystem::path backup;
    std::optional<std::filesystem::path> file;  // --config
    std::optional<std::string> data_dir;
    std::optional<std::filesystem::path> key_file;
    bool without_shares = false;
};

// Begins the book that several machines keep.
struct ClusterInit {
    std::optional<std::filesystem::path> from;  // the data directory that is taken over
    std::optional<std::filesystem::path> file;  // --config
    std::optional<std::string> data_dir;
};

// What is known of the book and its nodes.
struct ClusterStatus {
    std::optional<std::filesystem::path> file;  // --config
    std::optional<std::string> data_dir;
    bool json = false;
};

// The process on the data directory lets another node own the book.
struct ClusterStepDown {
    std::optional<std::filesystem::path> file;  // --config
    std::optional<std::string> data_dir;
};

// Strikes off a node that does not come back.
struct ClusterForget {
    std::string node;
    std::optional<std::filesystem::path> file;  // --config
    std::optional<std::string> data_dir;
};

// Makes the file of the data directory one of a single machine.
struct ClusterLeave {
    bool force = false;
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

using Command =
    std::variant<Serve, Check, Doctor, ImportHelperDb, Adopt, Drill, Ask, Instruct, Verify, Export,
                 Backup, Release, Approve, Restore, ClusterInit, ClusterStatus, ClusterStepDown,
                 ClusterForget, ClusterLeave, Version, Help, BadUsage>;

[[nodiscard]] Command parse_command_line(int argc, const char* const* argv);

}  // namespace config
