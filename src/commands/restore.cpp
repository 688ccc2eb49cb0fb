#include "commands/restore.hpp"

#include <cstdlib>

#include "config/command_line.hpp"
#include "config/exit_status.hpp"
#include "config/secret_values.hpp"
#include "platform/log.hpp"
#include "platform/real_clock.hpp"
#include "store/restore.hpp"

namespace commands {

namespace {

void describe_restored(const store::RestoreReport& report, std::ostream& out) {
    out << "held: " << report.held
        << " requests that nothing was signed for; see on the chain whether another process sent "
           "them, then posthouse release ID… or --all\n"
        << "looked up: " << report.sealed << " that were signed\n";
    if (report.shares > 0) out << "waiting: " << report.shares << " vote shares\n";
    if (report.shares_over > 0) {
        out << "over: " << report.shares_over
            << " vote shares whose round has ended; nothing secret of them was kept\n";
    }
    if (report.shares_left_out > 0) {
        out << "missing: " << report.shares_left_out
            << " vote shares that were left out; their rounds count them as failed, and wallets "
               "that still have them can send them again\n";
    }
}

}  // namespace

int restore(const config::Settings& settings, const RestoreCommand& command,
            const ports::Progress& progress, std::ostream& out) {
    const platform::RealClock clock;
    store::RestoreOptions options{
        command.file, settings.store, clock.wall(), {}, command.without_shares};
    if (command.key_file) options.key = config::read_backup_key(command.key_file->string());
    const store::RestoreReport report =
        store::restore(options, progress, [&out](const store::Fault& fault) {
            out << "fault: " << platform::printable(fault.where) << ": "
                << platform::printable(fault.problem) << "\n";
        });
    out << store::database_path(settings.store).string() << ": " << report.requests
        << " requests\n";
    describe_restored(report, out);
    return report.faults == 0 ? EXIT_SUCCESS : config::exit_damaged;
}

}  // namespace commands
