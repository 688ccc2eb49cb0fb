#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/admin/admin_route.hpp"

namespace api::admin {

struct BackupOrder {
    std::string file;                     // an absolute path, for the process
    std::optional<std::string> key_file;  // same; nothing: vote shares are left out
    std::optional<std::uint64_t> wal_bytes_max;
};

// How far the last backup is.
struct BackupState {
    enum class Status { none, running, done, failed };

    Status status = Status::none;
    std::string file;
    std::string part;  // what goes on
    std::uint64_t done = 0;
    std::uint64_t total = 0;
    std::string error;  // failed: why, in one line
    // Done.
    std::uint64_t requests = 0;
    std::uint64_t shares_sealed = 0;
    std::uint64_t shares_left_out = 0;
    std::uint64_t bytes = 0;
    std::vector<std::string> faults;  // of rows, at most some
};

// Port: who makes backups of the running process, one at a time. Any thread.
class BackupControl {
public:
    virtual ~BackupControl() = default;
    // Returns at once: why it does not begin, or nothing. `is_busy`: because another one runs.
    struct Refusal {
        std::string text;
        bool is_busy = false;
    };
    [[nodiscard]] virtual std::optional<Refusal> begin(const BackupOrder& order) = 0;
    // The one that runs ends and leaves nothing behind.
    virtual void cancel() = 0;
    [[nodiscard]] virtual BackupState state() const = 0;
};

// GET and POST /admin/backup, POST /admin/backup/cancel. `backups` outlives the routes.
[[nodiscard]] std::vector<AdminRoute> backup_routes(BackupControl& backups);

// Whether a process can be told of it: an absolute path in UTF-8 without control characters.
[[nodiscard]] bool is_told_path(std::string_view path);

// The other side of them: the body of a POST, whose paths are such ones, and what an answer says;
// one of another status than 200 and 202 is `failed`.
[[nodiscard]] std::string backup_body(const BackupOrder& order);
[[nodiscard]] BackupState read_backup_state(int status, const std::string& body);

}  // namespace api::admin
