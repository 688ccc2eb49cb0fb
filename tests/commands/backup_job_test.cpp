#include "commands/backup_job.hpp"

#include <doctest/doctest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <system_error>

#include "support/virtual_time.hpp"

namespace {

constexpr uid_t nobody = 65'534;

// Whether a backup that gets no thread leaves room for the next one. Ends the process.
[[noreturn]] void begin_without_threads() {
    support::VirtualClock clock;
    support::SeededRandom random{1};
    support::RecordingLogger logger;
    const store::Options options;
    commands::BackupJob job(options, clock, random, logger);
    const rlimit none{0, 0};
    if (::setrlimit(RLIMIT_NPROC, &none) != 0) ::_exit(2);
    if (::geteuid() == 0 && ::setuid(nobody) != 0) ::_exit(3);  // no limit counts for root
    try {
        static_cast<void>(job.begin({.file = "/backup", .key_file = {}, .wal_bytes_max = {}}));
    } catch (const std::system_error&) {
        ::_exit(job.state().status == api::admin::BackupState::Status::running ? 4 : 0);
    }
    ::_exit(5);
}

}  // namespace

TEST_CASE("a backup that gets no thread does not stand in the way of the next one") {
    const pid_t child = ::fork();
    REQUIRE(child >= 0);
    if (child == 0) begin_without_threads();
    int status = 0;
    REQUIRE(::waitpid(child, &status, 0) == child);
    REQUIRE(WIFEXITED(status));
    CHECK(WEXITSTATUS(status) == 0);
}
