#include <cstdlib>
#include <exception>
#include <iostream>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "commands/adopt.hpp"
#include "commands/ask.hpp"
#include "commands/backup.hpp"
#include "commands/build_info.hpp"
#include "commands/doctor.hpp"
#include "commands/drill/drill.hpp"
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
#include "platform/progress_bar.hpp"
#include "platform/real_clock.hpp"
#include "store/store.hpp"

namespace {

int refuse(const config::ConfigErrors& refused) {
    for (const std::string& error : refused.errors) std::cerr << error << "\n";
    return config::exit_usage;
}

int run(const config::Serve& command) {
    commands::block_signals();  // a reload that comes early waits for its turn
    auto loaded = config::load(
        {command.file, config::process_environment(), command.data_dir, command.listen});
    if (const auto* refused = std::get_if<config::ConfigErrors>(&loaded)) return refuse(*refused);
    auto& found = std::get<config::Loaded>(loaded);
    found.settings.api.version = build_version;
    found.settings.api.build = build_commit;
    commands::find_secrets(found.settings);
    commands::share_client_context(found.settings);
    return commands::serve(found);
}

int run(const config::Check& command) {
    auto loaded =
        config::load({command.file, config::process_environment(), std::nullopt, std::nullopt});
    if (const auto* refused = std::get_if<config::ConfigErrors>(&loaded)) return refuse(*refused);
    auto& found = std::get<config::Loaded>(loaded);
    std::vector<std::string> not_checked;
    try {
        not_checked = commands::check_secrets(found.settings);
    } catch (const std::exception& error) {
        return refuse({{error.what()}});
    }
    for (const std::string& line : found.warnings) std::cout << "warning: " << line << "\n";
    for (const std::string& line : found.notes) std::cout << "note: " << line << "\n";
    for (const std::string& line : not_checked) std::cout << "note: " << line << "\n";
    std::cout << "configuration ok\n";
    return EXIT_SUCCESS;
}

int run(const config::Doctor& command) {
    auto loaded =
        config::load({command.file, config::process_environment(), std::nullopt, std::nullopt});
    if (const auto* refused = std::get_if<config::ConfigErrors>(&loaded)) return refuse(*refused);
    auto& settings = std::get<config::Loaded>(loaded).settings;
    try {
        commands::find_signer_key(settings);
    } catch (const std::exception& error) {
        return refuse({{error.what()}});
    }
    commands::share_client_context(settings);
    return commands::doctor(settings, std::cout);
}

int run(const config::ImportHelperDb& command) {
    auto loaded =
        config::load({command.file, config::process_environment(), command.data_dir, std::nullopt});
    if (const auto* refused = std::get_if<config::ConfigErrors>(&loaded)) return refuse(*refused);
    const auto& settings = std::get<config::Loaded>(loaded).settings;
    if (settings.votes.base_url().empty() && !command.trial) {
        return refuse(
            {{"there is no vote chain for these shares: set helper.chain_url and "
              "helper.prover in the configuration; with --trial the embedded chain takes "
              "them, which reveals nothing"}});
    }
    const platform::RealClock clock;
    platform::notice_interrupts();
    platform::ProgressBar bar(std::cerr, platform::is_terminal_error(), clock);
    return commands::import_helper_db(settings, command.helper_db, bar.progress(), std::cout);
}

int run(const config::Verify& command) {
    const platform::RealClock clock;
    platform::notice_interrupts();
    platform::ProgressBar bar(std::cerr, platform::is_terminal_error(), clock);
    if (command.database) {
        return commands::verify_file(*command.database, bar.progress(), std::cout);
    }
    auto loaded =
        config::load({command.file, config::process_environment(), command.data_dir, std::nullopt});
    if (const auto* refused = std::get_if<config::ConfigErrors>(&loaded)) return refuse(*refused);
    return commands::verify_directory(std::get<config::Loaded>(loaded).settings, bar.progress(),
                                      std::cout);
}

int run(const config::Export& command) {
    const auto since = commands::read_time(command.since.value_or("0"));
    if (!since) {
        return refuse({{"--since: \"" + *command.since +
                        "\" is no time; write 2026-11-28, 2026-11-28T06:00:00Z or Unix seconds"}});
    }
    auto loaded =
        config::load({command.file, config::process_environment(), command.data_dir, std::nullopt});
    if (const auto* refused = std::get_if<config::ConfigErrors>(&loaded)) return refuse(*refused);
    const platform::RealClock clock;
    platform::notice_interrupts();
    platform::ProgressBar bar(std::cerr, platform::is_terminal_error(), clock);
    return commands::export_ended(std::get<config::Loaded>(loaded).settings, command.database,
                                  *since, bar.progress(), std::cout);
}

int run(const config::Backup& command) {
    auto loaded =
        config::load({command.file, config::process_environment(), command.data_dir, std::nullopt});
    if (const auto* refused = std::get_if<config::ConfigErrors>(&loaded)) return refuse(*refused);
    const platform::RealClock clock;
    platform::notice_interrupts();
    platform::ProgressBar bar(std::cerr, platform::is_terminal_error(), clock);
    commands::BackupCommand backup{command.backup, command.key_file, {}};
    if (command.wal_mib_max) backup.wal_bytes_max = *command.wal_mib_max << 20U;
    return commands::backup(std::get<config::Loaded>(loaded).settings, backup, bar.progress(),
                            std::cout);
}

int run(const config::Release& command) {
    auto loaded =
        config::load({command.file, config::process_environment(), command.data_dir, std::nullopt});
    if (const auto* refused = std::get_if<config::ConfigErrors>(&loaded)) return refuse(*refused);
    return commands::release(std::get<config::Loaded>(loaded).settings, command.jobs, std::cout);
}

int run(const config::Restore& command) {
    auto loaded =
        config::load({command.file, config::process_environment(), command.data_dir, std::nullopt});
    if (const auto* refused = std::get_if<config::ConfigErrors>(&loaded)) return refuse(*refused);
    const platform::RealClock clock;
    platform::notice_interrupts();
    platform::ProgressBar bar(std::cerr, platform::is_terminal_error(), clock);
    return commands::restore(std::get<config::Loaded>(loaded).settings,
                             {command.backup, command.key_file, command.without_shares},
                             bar.progress(), std::cout);
}

int run(const config::Drill& command) {
    auto loaded =
        config::load({command.file, config::process_environment(), command.data_dir, std::nullopt});
    if (const auto* refused = std::get_if<config::ConfigErrors>(&loaded)) return refuse(*refused);
    const platform::RealClock clock;
    platform::notice_interrupts();
    platform::ProgressBar bar(std::cerr, platform::is_terminal_error(), clock);
    const commands::drill::Report report =
        commands::drill::drill(std::get<config::Loaded>(loaded).settings,
                               {command.quick, command.rounds, command.seed}, bar.progress());
    bar.clear();
    std::cout << (command.json ? commands::drill::as_json(report)
                               : commands::drill::as_text(report));
    return commands::drill::is_good(report.counts) ? EXIT_SUCCESS : EXIT_FAILURE;
}

int run(const config::Adopt& command) {
    auto loaded =
        config::load({command.file, config::process_environment(), command.data_dir, std::nullopt});
    if (const auto* refused = std::get_if<config::ConfigErrors>(&loaded)) return refuse(*refused);
    auto& settings = std::get<config::Loaded>(loaded).settings;
    try {
        commands::find_signer_key(settings);
    } catch (const std::exception& error) {
        return refuse({{error.what()}});
    }
    return commands::adopt(settings, std::cout);
}

int run(const config::Ask& command) {
    auto loaded =
        config::load({command.file, config::process_environment(), command.data_dir, std::nullopt});
    if (const auto* refused = std::get_if<config::ConfigErrors>(&loaded)) return refuse(*refused);
    return commands::ask(std::get<config::Loaded>(loaded).settings, command, std::cout, std::cerr);
}

int run(const config::Instruct& command) {
    auto loaded =
        config::load({command.file, config::process_environment(), command.data_dir, std::nullopt});
    if (const auto* refused = std::get_if<config::ConfigErrors>(&loaded)) return refuse(*refused);
    return commands::instruct(std::get<config::Loaded>(loaded).settings, command, std::cout,
                              std::cerr);
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

}  // namespace

int main(int argc, char** argv) {
    commands::fill_standard_streams();
    try {
        return std::visit([](const auto& command) { return run(command); },
                          config::parse_command_line(argc, argv));
    } catch (const platform::Interrupted&) {
        std::cerr << "posthouse: interrupted\n";
        return platform::exit_interrupted;
    } catch (const std::exception& error) {
        std::cerr << "posthouse: " << error.what() << "\n";
        return EXIT_FAILURE;
    }
}
