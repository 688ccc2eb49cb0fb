#include "commands/backup.hpp"

#include <chrono>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <thread>

#include "api/admin/backup_routes.hpp"
#include "commands/admin_client.hpp"
#include "config/command_line.hpp"
#include "config/exit_status.hpp"
#include "config/secret_values.hpp"
#include "platform/log.hpp"
#include "platform/real_clock.hpp"
#include "platform/secure_random.hpp"
#include "store/backup.hpp"
#include "store/errors.hpp"
#include "store/owner_lock.hpp"

namespace commands {

std::uint64_t default_wal_bytes_max(const store::Options& options) {
    constexpr std::uint64_t times = 4;
    return options.wal_bytes_max * times;
}

std::function<domain::Bytes(std::size_t)> random_bytes_of(ports::Random& random) {
    return [&random](std::size_t count) {
        domain::Bytes bytes(count);
        random.fill(bytes);
        return bytes;
    };
}

namespace {

using api::admin::BackupState;

constexpr std::chrono::milliseconds between_looks{200};

void describe_backup(const BackupState& state, std::ostream& out) {
    for (const std::string& fault : state.faults) {
        out << "fault: " << platform::printable(fault) << "\n";
    }
    out << state.file << ": " << state.requests << " requests, " << state.bytes << " bytes\n";
    if (state.shares_sealed > 0) {
        out << state.shares_sealed << " vote shares that are not over, sealed with the key\n";
    }
    if (state.shares_left_out > 0) {
        out << "left out: " << state.shares_left_out
            << " vote shares that are not over; --with-shares --key-file FILE takes them in\n";
    }
}

std::string told_path(const std::string& argument, const std::filesystem::path& path) {
    std::string absolute = std::filesystem::absolute(path).string();
    if (api::admin::is_told_path(absolute)) return absolute;
    throw std::runtime_error(argument +
                             ": the running process can not be told a name that is no UTF-8 or "
                             "has control characters; choose another one");
}

// By the process that runs on the data directory.
BackupState back_up_there(AdminClient& client, const BackupCommand& command,
                          const ports::Progress& progress) {
    api::admin::BackupOrder order{told_path("FILE", command.file), {}, command.wal_bytes_max};
    if (command.key_file) order.key_file = told_path("--key-file", *command.key_file);
    const auto read = [](const net::ClientResponse& response) {
        return api::admin::read_backup_state(response.status, response.body);
    };
    BackupState state = read(client.post("/admin/backup", api::admin::backup_body(order)));
    try {
        while (state.status == BackupState::Status::running) {
            progress({state.part, state.done, state.total});
            std::this_thread::sleep_for(between_looks);
            state = read(client.get("/admin/backup"));
        }
    } catch (...) {
        static_cast<void>(client.post("/admin/backup/cancel"));
        throw;
    }
    if (state.status == BackupState::Status::done) return state;
    throw std::runtime_error("the backup failed: " + state.error);
}

// By this process, which owns the data directory meanwhile.
BackupState back_up_here(const config::Settings& settings, const BackupCommand& command,
                         const ports::Progress& progress) {
    const platform::RealClock clock;
    platform::SecureRandom random;
    std::optional<domain::Bytes32> key;
    if (command.key_file) key = config::read_backup_key(command.key_file->string());
    const std::filesystem::path database = store::database_path(settings.store);
    if (!std::filesystem::exists(database)) {
        throw store::OpenError("there is no " + database.string() + "; name the data directory");
    }
    const store::OwnerLock lock(std::filesystem::canonical(database).parent_path());
    BackupState state;
    const store::BackupReport report =
        store::back_up(database, {command.file, clock.wall(), {}, key, random_bytes_of(random)},
                       progress, [&state](const store::Fault& fault) {
                           state.faults.push_back(fault.where + ": " + fault.problem);
                       });
    state.file = command.file.string();
    state.requests = report.requests;
    state.bytes = report.bytes;
    state.shares_sealed = report.shares_sealed;
    state.shares_left_out = report.shares_left_out;
    return state;
}

}  // namespace

int backup(const config::Settings& settings, const BackupCommand& command,
           const ports::Progress& progress, std::ostream& out) {
    AdminClient client(settings.store);
    const BackupState state = client.finds_process() ? back_up_there(client, command, progress)
                                                     : back_up_here(settings, command, progress);
    describe_backup(state, out);
    return state.faults.empty() ? EXIT_SUCCESS : config::exit_damaged;
}

}  // namespace commands
