#pragma once

#include <mutex>
#include <optional>
#include <thread>

#include "api/admin/backup_routes.hpp"
#include "domain/bytes.hpp"
#include "ports/clock.hpp"
#include "ports/logger.hpp"
#include "ports/random.hpp"
#include "store/options.hpp"

namespace commands {

// Makes backups of the database that this process writes, on a thread and a connection of their own
// that only reads, at low priority. Any thread.
class BackupJob : public api::admin::BackupControl {
public:
    // All outlive it.
    BackupJob(const store::Options& options, const ports::Clock& clock, ports::Random& random,
              ports::Logger& logger);
    // What runs ends, and leaves nothing behind.
    ~BackupJob() override;
    BackupJob(const BackupJob&) = delete;
    BackupJob& operator=(const BackupJob&) = delete;

    [[nodiscard]] std::optional<Refusal> begin(const api::admin::BackupOrder& order) override;
    void cancel() override;
    [[nodiscard]] api::admin::BackupState state() const override;

private:
    void run(const std::stop_token& stop, const api::admin::BackupOrder& order,
             const std::optional<domain::Bytes32>& key);
    void finish(const std::string& error);

    const store::Options& options_;
    const ports::Clock& clock_;
    ports::Random& random_;
    ports::Logger& logger_;
    mutable std::mutex mutex_;  // guards what follows
    api::admin::BackupState state_;
    std::jthread thread_;
};

}  // namespace commands
