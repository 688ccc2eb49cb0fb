#include "commands/verify.hpp"

#include <cstdlib>
#include <system_error>

#include "config/command_line.hpp"
#include "config/exit_status.hpp"
#include "platform/log.hpp"
#include "store/errors.hpp"
#include "store/owner_lock.hpp"
#include "store/verify.hpp"

namespace commands {

namespace {

// A database that is damaged all over is not listed to the end.
constexpr std::uint64_t lines_max = 1'000;

}  // namespace

int verify_file(const std::filesystem::path& file, const ports::Progress& progress,
                std::ostream& out) {
    std::uint64_t lines = 0;
    const auto found = [&](const store::Fault& fault) {
        if (++lines > lines_max) return;
        out << "fault: " << platform::printable(fault.where) << ": "
            << platform::printable(fault.problem) << "\n";
    };
    const store::Verified verified = store::verify(file, progress, found);
    if (lines > lines_max) out << "… and " << lines - lines_max << " more\n";
    out << file.string() << ": schema " << verified.schema << ", ";
    if (verified.with_rows) {
        out << verified.requests << " requests, ";
    } else if (!verified.damaged) {
        out << "requests not looked at: its schema is older, start the service on it first, ";
    }
    out << verified.faults << " faults\n";
    return verified.faults == 0 ? EXIT_SUCCESS : config::exit_damaged;
}

int verify_directory(const config::Settings& settings, const ports::Progress& progress,
                     std::ostream& out) {
    const std::filesystem::path file = store::database_path(settings.store);
    std::error_code missing;
    if (!std::filesystem::exists(file, missing)) {
        throw store::OpenError("there is no " + file.string() + "; name the data directory");
    }
    const store::OwnerLock lock(std::filesystem::canonical(file).parent_path());
    return verify_file(file, progress, out);
}

}  // namespace commands
