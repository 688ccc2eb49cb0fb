#include <poll.h>
#include <unistd.h>

#include <cstdlib>
#include <exception>
#include <iostream>
#include <optional>
#include <stdexcept>
#include <string>
#include <variant>
#include <vector>

#include "commands/adopt.hpp"
#include "commands/approve.hpp"
#include "commands/ask.hpp"
#include "commands/backup.hpp"
#include "commands/build_info.hpp"
#include "commands/cluster_init.hpp"
#include "commands/cluster_leave.hpp"
#include "commands/cluster_members.hpp"
#include "commands/cluster_status.hpp"
#include "commands/consent.hpp"
#include "commands/doctor.hpp"
#include "commands/drill/chain_drill.hpp"
#include "commands/drill/drill.hpp"
#include "commands/exit_status.hpp"
#include "commands/export_ended.hpp"
#include "commands/import_helper_db.hpp"
#include "commands/instruct.hpp"
#include "commands/outgoing.hpp"
#include "commands/release.hpp"
#include "commands/restore.hpp"
#include "commands/secrets.hpp"
#include "commands/serve.hpp"
#include "commands/signals.hpp"
#include "commands/verify.hpp"
#include "config/command_line.hpp"
#include "config/load.hpp"
#include "platform/log.hpp"
#include "platform/progress_bar.hpp"
#include "platform/real_clock.hpp"
#include "store/store.hpp"

namespace {

int refuse(const config::ConfigErrors& refused) {
    const std::string_view priority = platform::journal_priority(ports::LogLevel::error);
    for (const std::string& error : refused.errors) std::cerr << priority << error << "\n";
    return config::exit_usage;
}

template <typename Command>
config::Sources sources_of(const Command& command) {
    config::Sources sources{command.file, config::process_environment(), {}, {}};
    if constexpr (requires { command.data_dir; }) sources.data_dir = command.data_dir;
    if constexpr (requires { command.listen; }) sources.listen = command.listen;
    return sources;
}

template <typename Command, typename Work>
int with_loaded(const Command& command, Work work) {
    auto loaded = config::load(sources_of(command));
    if (const auto* refused = std::get_if<config::ConfigErrors>(&loaded)) return refuse(*refused);
    return work(std::get<config::Loaded>(loaded));
}

template <typename Command, typename Work>
int with_settings(const Command& command, Work work) {
    return with_loaded(command, [&](config::Loaded& loaded) { return work(loaded.settings); });
}

// Same, with the signer's key where it is for this process to hold.
template <typename Command, typename Work>
int with_key(const Command& command, Work work) {
    return with_loaded(command, [&](config::Loaded& loaded) {
        try {
            commands::find_signer_key(loaded.settings, loaded.origins);
        } catch (const std::exception& error) {
            return refuse({{error.what()}});
        }
        return work(loaded.settings);
    });
}

// Says how far the work is, and lets it be interrupted.
template <typename Work>
int with_progress(Work work) {
    const platform::RealClock clock;
    platform::notice_interrupts();
    platform::ProgressBar bar(std::cerr, platform::is_terminal_error(), clock);
    return work(bar);
}

int run(const config::Serve& command) {
    commands::block_signals();  // a reload that comes early waits for its turn
    return with_loaded(command, [](config::Loaded& found) {
        found.settings.api.version = build_version;
        found.settings.api.build = build_commit;
        commands::share_client_context(found.settings);
        commands::find_secrets(found.settings, found.origins);
        return commands::serve(found);
    });
}

int run(const config::Check& command) {
    return with_loaded(command, [](config::Loaded& found) {
        std::vector<std::string> not_checked;
        try {
            not_checked = commands::check_secrets(found.settings, found.origins);
        } catch (const std::exception& error) {
            return refuse({{error.what()}});
        }
        for (const std::string& line : found.warnings) std::cout << "warning: " << line << "\n";
        for (const std::string& line : found.notes) std::cout << "note: " << line << "\n";
        for (const std::string& line : not_checked) std::cout << "note: " << line << "\n";
        std::cout << "configuration ok\n";
        return EXIT_SUCCESS;
    });
}

int run(const config::Doctor& command) {
    return with_key(command, [](config::Settings& settings) {
        commands::share_client_context(settings);
        return commands::doctor(settings, std::cout);
    });
}

int run(const config::ImportHelperDb& command) {
    return with_settings(command, [&](const config::Settings& settings) {
        if (settings.votes.base_url().empty() && !command.trial) {
            return refuse(
                {{"there is no vote chain for these shares: set helper.chain_url and "
                  "helper.prover in the configuration; with --trial the embedded chain takes "
                  "them, which reveals nothing"}});
        }
        return with_progress([&](platform::ProgressBar& bar) {
            return commands::import_helper_db(settings, command.helper_db, bar.progress(),
                                              std::cout);
        });
    });
}

int run(const config::Verify& command) {
    return with_progress([&](platform::ProgressBar& bar) {
        if (command.database) {
            return commands::verify_file(*command.database, bar.progress(), std::cout);
        }
        return with_settings(command, [&](const config::Settings& settings) {
            return commands::verify_directory(settings, bar.progress(), std::cout);
        });
    });
}

int run(const config::Export& command) {
    const auto since = commands::read_time(command.since.value_or("0"));
    if (!since) {
        return refuse({{"--since: \"" + *command.since +
                        "\" is no time; write 2026-11-28, 2026-11-28T06:00:00Z or Unix seconds"}});
    }
    return with_settings(command, [&](const config::Settings& settings) {
        return with_progress([&](platform::ProgressBar& bar) {
            return commands::export_ended(settings, command.database, *since, bar.progress(),
                                          std::cout);
        });
    });
}

int run(const config::Backup& command) {
    commands::BackupCommand backup{command.backup, command.key_file, {}};
    if (command.wal_mib_max) backup.wal_bytes_max = *command.wal_mib_max << 20U;
    return with_settings(command, [&](const config::Settings& settings) {
        return with_progress([&](platform::ProgressBar& bar) {
            return commands::backup(settings, backup, bar.progress(), std::cout);
        });
    });
}

int run(const config::Release& command) {
    return with_settings(command, [&](const config::Settings& settings) {
        return commands::release(settings, command.jobs, std::cout);
    });
}

int run(const config::Approve& command) {
    return with_settings(command, [&](const config::Settings& settings) {
        const bool is_there = ::isatty(STDIN_FILENO) == 1;
        return commands::approve(settings, command, {std::cin, std::cout, std::cerr, is_there});
    });
}

int run(const config::Restore& command) {
    return with_settings(command, [&](const config::Settings& settings) {
        return with_progress([&](platform::ProgressBar& bar) {
            return commands::restore(settings,
                                     {command.backup, command.key_file, command.without_shares},
                                     bar.progress(), std::cout);
        });
    });
}

// `drill`: Report(const ports::Progress&).
template <typename Drill>
int report_drill(bool json, Drill drill) {
    return with_progress([&](platform::ProgressBar& bar) {
        const commands::drill::Report report = drill(bar.progress());
        bar.clear();
        std::cout << (json ? commands::drill::as_json(report) : commands::drill::as_text(report));
        return commands::drill::is_good(report.counts) ? EXIT_SUCCESS : EXIT_FAILURE;
    });
}

int run(const config::Drill& command) {
    const commands::drill::DrillOptions options{command.quick, command.rounds, command.seed};
    if (!command.chain) {
        return with_settings(command, [&](const config::Settings& settings) {
            return report_drill(command.json, [&](const ports::Progress& progress) {
                return commands::drill::drill(settings, options, progress);
            });
        });
    }
    return with_key(command, [&](config::Settings& settings) {
        commands::share_client_context(settings);
        commands::drill::ChainDrill drill(settings, {options, command.requests, command.file});
        commands::require_consent(drill.price(), command.yes,
                                  {std::cin, std::cerr, platform::has_terminal()});
        return report_drill(command.json,
                            [&](const ports::Progress& progress) { return drill.run(progress); });
    });
}

int run(const config::Adopt& command) {
    return with_key(command, [](const config::Settings& settings) {
        return commands::adopt(settings, std::cout);
    });
}

int run(const config::Ask& command) {
    return with_settings(command, [&](const config::Settings& settings) {
        return commands::ask(settings, command, std::cout, std::cerr);
    });
}

int run(const config::Instruct& command) {
    return with_settings(command, [&](const config::Settings& settings) {
        return commands::instruct(settings, command, std::cout, std::cerr);
    });
}

int run(const config::ClusterInit& command) {
    return with_key(command, [&](config::Settings& settings) {
        commands::find_cluster_keys(settings);
        return with_progress([&](platform::ProgressBar& bar) {
            return commands::cluster_init(settings, command.from, bar.progress(), std::cout);
        });
    });
}

int run(const config::ClusterStatus& command) {
    return with_settings(command, [&](const config::Settings& settings) {
        return with_progress([&](platform::ProgressBar& bar) {
            return commands::cluster_status(settings, command.json, bar.progress(), std::cout);
        });
    });
}

int run(const config::ClusterStepDown& command) {
    return with_settings(command, [&](const config::Settings& settings) {
        return commands::cluster_step_down(settings, std::cout);
    });
}

int run(const config::ClusterForget& command) {
    return with_settings(command, [&](const config::Settings& settings) {
        return commands::cluster_forget(settings, command.node, std::cout);
    });
}

int run(const config::ClusterLeave& command) {
    return with_settings(command, [&](const config::Settings& settings) {
        return with_progress([&](platform::ProgressBar& bar) {
            return commands::cluster_leave(settings, command.force, bar.progress(), std::cout);
        });
    });
}

int run(const config::Version&) {
    std::cout << "posthouse " << build_version << " " << build_commit << "\n"
              << store::Store::version() << "\n";
    return EXIT_SUCCESS;
}

int run(const config::Help& help) {
    std::cout << help.text;
    return EXIT_SUCCESS;
}

int run(const config::BadUsage& usage) {
    std::cerr << usage.text;
    return config::exit_usage;
}

// Whoever reads no further has closed the pipe, and misses nothing.
void require_output() {
    if (std::cout.flush()) return;
    pollfd output{STDOUT_FILENO, POLLOUT, 0};
    if (::poll(&output, 1, 0) == 1 && (output.revents & POLLERR) != 0) return;
    throw std::runtime_error("can not write all of it to standard output");
}

}  // namespace

int main(int argc, char** argv) {
    commands::fill_standard_streams();
    try {
        const int status = std::visit([](const auto& command) { return run(command); },
                                      config::parse_command_line(argc, argv));
        if (status == EXIT_SUCCESS) require_output();
        return status;
    } catch (const platform::Interrupted&) {
        std::cerr << "posthouse: interrupted\n";
        return platform::exit_interrupted;
    } catch (const std::exception& error) {
        std::cerr << platform::journal_priority(ports::LogLevel::error)
                  << "posthouse: " << error.what() << "\n";
        return commands::exit_status_of(error);
    }
}
