#include "commands/backup_job.hpp"

#include <sys/resource.h>
#include <unistd.h>

#include <stdexcept>
#include <string>

#include "base/sanitize.hpp"
#include "commands/backup.hpp"
#include "config/secret_values.hpp"
#include "store/backup.hpp"

namespace commands {

using api::admin::BackupOrder;
using api::admin::BackupState;

namespace {

constexpr int nice_of_backups = 10;
constexpr std::size_t faults_told_max = 100;

struct BackupCancelled : std::runtime_error {
    BackupCancelled() : std::runtime_error("cancelled") {}
};

// Of this thread alone, as Linux has it: requests come first.
void yield_to_requests() {
    static_cast<void>(::setpriority(PRIO_PROCESS, static_cast<id_t>(::gettid()), nice_of_backups));
}

}  // namespace

BackupJob::BackupJob(const store::Options& options, const ports::Clock& clock,
                     ports::Random& random, ports::Logger& logger)
    : options_(options), clock_(clock), random_(random), logger_(logger) {}

BackupJob::~BackupJob() = default;

std::optional<BackupJob::Refusal> BackupJob::begin(const BackupOrder& order) {
    const std::lock_guard lock(mutex_);
    if (state_.status == BackupState::Status::running) {
        return Refusal{"a backup to " + state_.file + " is being made", true};
    }
    std::optional<domain::Bytes32> key;
    try {
        if (order.key_file) key = config::read_backup_key(*order.key_file);
    } catch (const std::runtime_error& error) {
        return Refusal{std::string(error.what()) +
                       "; the running process reads it: let it lie in " +
                       options_.directory.string() + " and belong to the owner of that"};
    }
    // First: where no thread can be made nothing runs. It waits for the lock.
    thread_ =
        std::jthread([this, order, key](const std::stop_token& stop) { run(stop, order, key); });
    state_ = {};
    state_.status = BackupState::Status::running;
    state_.file = order.file;
    logger_.write(ports::LogLevel::info, "backup_begun file=" + base::log_value(order.file));
    return std::nullopt;
}

void BackupJob::cancel() {
    const std::lock_guard lock(mutex_);
    thread_.request_stop();
}

BackupState BackupJob::state() const {
    const std::lock_guard lock(mutex_);
    return state_;
}

void BackupJob::run(const std::stop_token& stop, const BackupOrder& order,
                    const std::optional<domain::Bytes32>& key) {
    yield_to_requests();
    const auto progress = [&](const ports::Done& done) {
        if (stop.stop_requested()) throw BackupCancelled();
        const std::lock_guard lock(mutex_);
        state_.part = done.what;
        state_.done = done.done;
        state_.total = done.total;
    };
    const auto found = [this](const store::Fault& fault) {
        const std::lock_guard lock(mutex_);
        if (state_.faults.size() < faults_told_max) {
            state_.faults.push_back(fault.where + ": " + fault.problem);
        }
    };
    try {
        const store::BackupReport report =
            store::back_up(store::database_path(options_),
                           {order.file, clock_.wall(),
                            order.wal_bytes_max.value_or(default_wal_bytes_max(options_)), key,
                            random_bytes_of(random_)},
                           progress, found);
        {
            const std::lock_guard lock(mutex_);
            state_.requests = report.requests;
            state_.shares_sealed = report.shares_sealed;
            state_.shares_left_out = report.shares_left_out;
            state_.bytes = report.bytes;
        }
        finish({});
    } catch (const std::exception& error) {
        finish(error.what());
    }
}

void BackupJob::finish(const std::string& error) {
    const std::lock_guard lock(mutex_);
    state_.status = error.empty() ? BackupState::Status::done : BackupState::Status::failed;
    state_.error = error;
    const std::string file = " file=" + base::log_value(state_.file);
    if (error.empty()) {
        logger_.write(ports::LogLevel::info, "backup_made" + file +
                                                 " requests=" + std::to_string(state_.requests) +
                                                 " bytes=" + std::to_string(state_.bytes) +
                                                 " faults=" + std::to_string(state_.faults.size()));
    } else {
        logger_.write(ports::LogLevel::error,
                      "backup_failed" + file + " error=" + base::log_value(error));
    }
}

}  // namespace commands
