#include "config/command_line.hpp"

#include <CLI/CLI.hpp>

#include <string_view>
#include <utility>
#include <vector>

#include "base/text.hpp"
#include "config/quantities.hpp"

namespace config {
namespace {

constexpr std::uint64_t seed_max = 1'000'000'000;

BadUsage bad_usage(const std::string& reason) {
    return {"posthouse: " + reason + "; posthouse --help shows what there is\n"};
}

// An option that sets `target`, be it to an empty text.
template <typename Target>
CLI::Option& add_option(CLI::App& command, const std::string& names, const std::string& what,
                        Target& target, const std::string& description) {
    return *command
                .add_option_function<std::string>(
                    names, [&target](const std::string& text) { target = text; }, description)
                ->type_name(what);
}

// An argument without a flag. Empty is what a script has whose variable is not set.
template <typename Target>
CLI::Option& add_argument(CLI::App& command, const std::string& name, Target& target,
                          const std::string& description) {
    const auto problem_of = [](const std::string& text) {
        return std::string(text.empty() ? "is empty" : "");
    };
    return *command.add_option(name, target, description)->type_name("")->check(problem_of);
}

template <typename Target>
void add_config(CLI::App& command, Target& file) {
    add_option(command, "-c,--config", "FILE", file, "Configuration, TOML");
}

template <typename Target>
void add_data_dir(CLI::App& command, Target& directory) {
    add_option(command, "--data-dir", "DIR", directory, "Where everything durable lives (./data)");
}

const CLI::App& add_drill(CLI::App& app, Drill& drill) {
    CLI::App& command = *app.add_subcommand(
        "drill", "Kill, stop and starve a trial of it, and count what was lost");
    add_config(command, drill.file);
    add_option(command, "--data-dir,--directory", "DIR", drill.data_dir,
               "On whose file system to do it (./data); what lies there is left alone");
    command.add_flag("--quick", drill.quick, "About a minute instead of three");
    command.add_option("--rounds", drill.rounds, "How often to kill it under load")
        ->type_name("N")
        ->check(CLI::Range(1, 100'000));
    command.add_option("--seed", drill.seed, "Of all chance; another one each time")
        ->type_name("S")
        ->check(CLI::Range(std::uint64_t{0}, seed_max));
    command.add_flag("--json", drill.json, "One object instead of lines");
    CLI::Option& chain = *command.add_flag(
        "--chain", drill.chain,
        "On the configured gateway chain, a test chain: what it sends there is paid for. Not for "
        "vote chains");
    command.add_option("--requests", drill.requests, "Most that are sent to that chain (30)")
        ->type_name("N")
        ->check(CLI::Range(1, 1'000))
        ->needs(&chain);
    command.add_flag("--yes", drill.yes, "Do not ask whether that may be paid for")->needs(&chain);
    command.footer("Ends with 1 when a promise was lost or anything else went wrong.");
    return command;
}

const CLI::App& add_approve(CLI::App& app, Approve& approve) {
    CLI::App& command = *app.add_subcommand(
        "approve", "Let the contract that takes fees have tokens of the account that signs");
    command
        .add_option("--amount", approve.amount,
                    "How much in all, in tokens: 1000 or 12.5; 0 takes the allowance back")
        ->required()
        ->type_name("N");
    add_option(command, "--signer", "ADDRESS", approve.signer,
               "Whose, where several accounts sign");
    command.add_flag("--yes", approve.yes, "Without asking");
    command.add_flag("--json", approve.json, "As JSON, for programs");
    add_config(command, approve.file);
    add_data_dir(command, approve.data_dir);
    command.footer(
        "Token and spender are read from the chain and shown first. Waits two minutes for a block "
        "to have it; ends with 1 when none does, or the token refuses.");
    return command;
}

// For a part of a path or a query (RFC 3986, 2.1).
std::string percent_encoded(std::string_view text) {
    constexpr std::string_view digits = "0123456789ABCDEF";
    std::string out;
    for (const char c : text) {
        if (base::is_letter(c) || base::is_digit(c) || c == '-' || c == '_' || c == '.') {
            out += c;
            continue;
        }
        const auto byte = static_cast<unsigned char>(c);
        out += {'%', digits[byte / 16], digits[byte % 16]};
    }
    return out;
}

// The commands that ask. Lives as long as the parser.
class AskCommands {
public:
    explicit AskCommands(CLI::App& app) {
        CLI::App& jobs = add(app, "jobs", "List requests, the newest first", Ask::About::jobs);
        filter(jobs, "--kind", "KIND", "input_proof, public_decrypt, user_decrypt …");
        filter(jobs, "--status", "STATUS", "unfinished, queued, processing, tx_in_flight …");
        filter(jobs, "--client", "NAME", "Who asked, by the name of the key; -: those without one");
        filter(jobs, "--label", "REASON", "Why it ended, as `job` shows it: reverted …");
        jobs.add_option_function<std::string>(
                "--older", [this](const std::string& text) { add_older(text); },
                "Accepted longer ago than this: 10m, 2h")
            ->type_name("TIME");
        filter(jobs, "--limit", "N", "How many at most (50)");
        filter(jobs, "--before", "ID", "Older ones, as the page before says");
        CLI::App& job = add(app, "job", "Show one request", Ask::About::job);
        add_argument(job, "ID", id_, "As the client has it").required();
        add(app, "status", "Show how the service does", Ask::About::status);
    }

    // Nothing: another command was given.
    [[nodiscard]] std::optional<Ask> asked() const {
        for (const auto& [about, command] : commands_) {
            if (!command->parsed()) continue;
            Ask ask = options_;
            ask.about = about;
            if (about == Ask::About::status) ask.target = "/admin/status";
            if (about == Ask::About::job) ask.target = "/admin/jobs/" + percent_encoded(id_);
            if (about == Ask::About::jobs) ask.target = "/admin/jobs" + query_;
            return ask;
        }
        return std::nullopt;
    }

private:
    CLI::App& add(CLI::App& app, const std::string& name, const std::string& what,
                  Ask::About about) {
        CLI::App& command = *app.add_subcommand(name, what);
        add_config(command, options_.file);
        add_data_dir(command, options_.data_dir);
        command.add_flag("--json", options_.json, "As JSON, for programs");
        commands_.emplace_back(about, &command);
        return command;
    }

    void filter(CLI::App& command, const std::string& flag, const std::string& what,
                const std::string& description) {
        command
            .add_option_function<std::string>(
                flag, [this, flag](const std::string& text) { add_part(flag.substr(2), text); },
                description)
            ->type_name(what);
    }

    void add_older(const std::string& text) {
        const auto time = parse_duration(text);
        if (!time)
            throw CLI::ValidationError("--older", text + " is no time; allowed: 30s, 10m, 2h");
        add_part("older", std::to_string(time->count() / 1'000));
    }

    void add_part(const std::string& name, const std::string& value) {
        query_ += (query_.empty() ? "?" : "&") + name + "=" + percent_encoded(value);
    }

    Ask options_;
    std::string id_;
    std::string query_;
    std::vector<std::pair<Ask::About, CLI::App*>> commands_;
};

// The commands that tell the process to do something.
class InstructCommands {
public:
    explicit InstructCommands(CLI::App& app) {
        CLI::App& retry = add(app, "retry", "Ask again what failed or timed out, with a new id");
        take_jobs(retry);
        retry.add_flag("--pay-again", pay_again_,
                       "Also what had a transaction, which may be paid for twice");
        CLI::App& cancel =
            add(app, "cancel", "End requests that nothing is signed for, or that are held");
        take_jobs(cancel);
        cancel.add_flag("--yes", share_too_,
                        "Also vote shares: their secrets go, and they count as failed");
        take(add(app, "pause", "Let nothing of a kind begin"), "KIND",
             "input_proof, public_decrypt, user_decrypt or share");
        take(add(app, "resume", "Let what was paused begin again"), "KIND", "As for pause");
        take(add(app, "log-level", "Change what is logged, also after restarts"), "LEVEL",
             "debug, info, warning or error");
        add(app, "reload", "Have the files of keys and of TLS read again");
    }

    // Nothing: another command was given.
    [[nodiscard]] std::optional<Instruct> asked() const {
        for (const CLI::App* command : commands_) {
            if (!command->parsed()) continue;
            Instruct instruct = options_;
            instruct.verb = command->get_name();
            for (const std::string& id : ids_) {
                instruct.targets.push_back("/admin/jobs/" + percent_encoded(id) + "/" +
                                           instruct.verb);
            }
            if (instruct.verb == "reload") {
                instruct.targets = {"/admin/reload"};
            } else if (instruct.verb == "log-level") {
                instruct.targets = {"/admin/log-level/" + percent_encoded(what_)};
            } else if (ids_.empty()) {
                instruct.targets = {"/admin/kinds/" + percent_encoded(what_) + "/" + instruct.verb};
            }
            instruct.body = "{}";
            if (pay_again_) instruct.body = R"({"pay_again":true})";
            if (share_too_) instruct.body = R"({"share":true})";
            return instruct;
        }
        return std::nullopt;
    }

private:
    CLI::App& add(CLI::App& app, const std::string& name, const std::string& what) {
        CLI::App& command = *app.add_subcommand(name, what);
        add_config(command, options_.file);
        add_data_dir(command, options_.data_dir);
        command.add_flag("--json", options_.json, "As JSON, for programs");
        commands_.push_back(&command);
        return command;
    }

    void take_jobs(CLI::App& command) {
        add_argument(command, "ID", ids_, "As the clients have them").required();
    }

    void take(CLI::App& command, const std::string& name, const std::string& description) {
        add_argument(command, name, what_, description).required();
    }

    Instruct options_;
    std::vector<std::string> ids_;
    std::string what_;
    bool pay_again_ = false;
    bool share_too_ = false;
    std::vector<const CLI::App*> commands_;
};

// Those of `cluster`. Lives as long as the parser.
class ClusterCommands {
public:
    explicit ClusterCommands(CLI::App& app)
        : group_(*app.add_subcommand("cluster", "Keep one book with several machines")) {
        group_.require_subcommand(1);
        init_command_ = &add("init", "Begin the book, with the database of this machine", init_);
        add_option(*init_command_, "--from", "DIR", init_.from,
                   "The data directory that is taken over with all that is in it");
        init_command_->footer("Cut off, it goes on where it was when it is called again.");
        status_command_ = &add("status", "Show who owns the book and who follows", status_);
        status_command_->add_flag("--json", status_.json, "As JSON, for programs");
        step_down_command_ =
            &add("step-down", "Have this machine let another one own the book", step_down_);
        forget_command_ = &add("forget", "Strike off a node that does not come back", forget_);
        add_argument(*forget_command_, "NODE", forget_.node, "Its name, as status shows it")
            .required();
        leave_command_ =
            &add("leave", "Make the database here that of a single machine again", leave_);
        leave_command_->add_flag("--force", leave_.force,
                                 "Whatever it lacks of the book, and whoever goes on with it");
    }

    // Nothing: another command was given.
    [[nodiscard]] std::optional<Command> asked() const {
        if (init_command_->parsed()) return init_;
        if (status_command_->parsed()) return status_;
        if (step_down_command_->parsed()) return step_down_;
        if (forget_command_->parsed()) return forget_;
        if (leave_command_->parsed()) return leave_;
        return std::nullopt;
    }

private:
    template <typename Options>
    CLI::App& add(const std::string& name, const std::string& what, Options& options) {
        CLI::App& command = *group_.add_subcommand(name, what);
        add_config(command, options.file);
        add_data_dir(command, options.data_dir);
        return command;
    }

    CLI::App& group_;
    ClusterInit init_;
    ClusterStatus status_;
    ClusterStepDown step_down_;
    ClusterForget forget_;
    ClusterLeave leave_;
    CLI::App* init_command_ = nullptr;
    CLI::App* status_command_ = nullptr;
    CLI::App* step_down_command_ = nullptr;
    CLI::App* forget_command_ = nullptr;
    CLI::App* leave_command_ = nullptr;
};

std::string exit_statuses_text() {
    std::string text = "Exit status:\n";
    for (const ExitStatus& status : exit_statuses) {
        text += "  " + std::to_string(status.value) + "  " + std::string(status.meaning) + "\n";
    }
    return text;
}

}  // namespace

Command parse_command_line(int argc, const char* const* argv) {
    CLI::App app{"Takes requests in, keeps them safe, and sends each on in time.", "posthouse"};
    app.set_help_flag("-h,--help", "Show this text");
    bool version_wanted = false;
    app.add_flag("-V,--version", version_wanted, "Show the version");

    Serve serve;
    CLI::App& serve_command = *app.add_subcommand("serve", "Run the service");
    add_config(serve_command, serve.file);
    add_data_dir(serve_command, serve.data_dir);
    add_option(serve_command, "--listen", "HOST:PORT", serve.listen,
               "Where requests come in (127.0.0.1:3000)");

    Check check;
    CLI::App& check_command =
        *app.add_subcommand("check", "Look for mistakes in the configuration");
    add_config(check_command, check.file);

    Doctor doctor;
    CLI::App& doctor_command =
        *app.add_subcommand("doctor", "Ask the nodes of the chains whether all is well");
    add_config(doctor_command, doctor.file);

    ImportHelperDb import;
    CLI::App& import_command =
        *app.add_subcommand("import-helper-db", "Take the shares of a reference helper over");
    add_config(import_command, import.file);
    add_data_dir(import_command, import.data_dir);
    std::string helper_db;
    add_argument(import_command, "FILE", helper_db,
                 "The helper.db of a helper that was stopped; it is only read, a copy of it is "
                 "kept in the data directory")
        .required();
    import_command.add_flag("--trial", import.trial,
                            "Also without a vote chain: the embedded one takes the shares, and "
                            "they are gone");
    import_command.footer("Ends with 3 when something was skipped or in conflict.");
    Adopt adopt;
    CLI::App& adopt_command = *app.add_subcommand(
        "adopt",
        "Make the database that of the configured chains, once nothing in it is unfinished");
    add_config(adopt_command, adopt.file);
    add_data_dir(adopt_command, adopt.data_dir);
    adopt_command.footer(
        "What ended on another chain is forgotten: copy the data directory first if it is wanted.");
    Drill drill;
    const CLI::App& drill_command = add_drill(app, drill);
    const AskCommands asking(app);
    const InstructCommands instructing(app);

    Verify verify;
    CLI::App& verify_command = *app.add_subcommand("verify", "Look for damage in the database");
    add_option(verify_command, "FILE", "", verify.database,
               "A backup to look at; without it the data directory, which no process may use");
    add_config(verify_command, verify.file);
    add_data_dir(verify_command, verify.data_dir);
    verify_command.footer("Ends with 4 when something is damaged; each fault is a line.");

    Export ended;
    CLI::App& export_command = *app.add_subcommand(
        "export", "Write what has ended, a line of JSON each, for accounts and audits");
    add_option(export_command, "FILE", "", ended.database,
               "A backup to read; without it the data directory, also while it is in use");
    add_config(export_command, ended.file);
    add_data_dir(export_command, ended.data_dir);
    add_option(export_command, "--since", "TIME", ended.since,
               "Only what ended then or later: 2026-11-28, 2026-11-28T06:00:00Z or Unix seconds");
    bool as_lines = false;
    export_command.add_flag("--jsonl", as_lines, "As lines of JSON")->required();

    Backup backup;
    CLI::App& backup_command =
        *app.add_subcommand("backup", "Copy the database into a file, also while the service runs");
    std::string backup_file;
    add_argument(backup_command, "FILE", backup_file, "A file that is not there yet").required();
    add_config(backup_command, backup.file);
    add_data_dir(backup_command, backup.data_dir);
    CLI::Option& with_shares = *backup_command.add_flag(
        "--with-shares", backup.with_shares,
        "Vote shares that are not over too, sealed with a key; else they are left out");
    add_option(backup_command, "--key-file", "FILE", backup.key_file,
               "64 hexadecimal digits, as openssl rand -hex 32 makes them")
        .needs(&with_shares);
    backup_command
        .add_option("--wal-max", backup.wal_mib_max,
                    "Give up when the write-ahead log is longer (4 × storage.wal_bytes_max)")
        ->type_name("MIB")
        ->check(CLI::Range(std::uint64_t{1}, std::uint64_t{1} << 20U));
    backup_command.footer("Ends with 4 when rows of the database have faults.");

    Release release;
    CLI::App& release_command =
        *app.add_subcommand("release", "Let requests go on that are held, such as after a restore");
    CLI::Option& released_jobs =
        add_argument(release_command, "ID", release.jobs, "As the clients have them");
    bool release_all = false;
    release_command.add_flag("--all", release_all, "All that are held")->excludes(&released_jobs);
    add_config(release_command, release.file);
    add_data_dir(release_command, release.data_dir);

    Approve approve;
    const CLI::App& approve_command = add_approve(app, approve);

    Restore restore;
    CLI::App& restore_command = *app.add_subcommand(
        "restore", "Make a data directory of a backup; what may have been sent since is held");
    std::string restored_file;
    add_argument(restore_command, "FILE", restored_file, "The backup").required();
    add_config(restore_command, restore.file);
    add_data_dir(restore_command, restore.data_dir);
    CLI::Option& restore_key = add_option(restore_command, "--key-file", "FILE", restore.key_file,
                                          "The key of the vote shares in it");
    restore_command
        .add_flag("--without-shares", restore.without_shares,
                  "Leave the vote shares behind: their key is lost")
        ->excludes(&restore_key);
    restore_command.footer("Ends with 4 when rows of the backup have faults.");
    const ClusterCommands clustering(app);
    const CLI::App& version_command = *app.add_subcommand("version", "Show the version");
    app.require_subcommand(0, 1);
    app.footer(exit_statuses_text());

    try {
        app.parse(argc, argv);
    } catch (const CLI::CallForHelp&) {
        return Help{app.help()};
    } catch (const CLI::ParseError& error) {
        return bad_usage(error.what());
    }

    if (version_wanted || version_command.parsed()) return Version{};
    if (serve_command.parsed()) return serve;
    if (check_command.parsed()) return check;
    if (doctor_command.parsed()) return doctor;
    if (import_command.parsed()) {
        import.helper_db = helper_db;
        return import;
    }
    if (adopt_command.parsed()) return adopt;
    if (drill_command.parsed()) return drill;
    if (auto ask = asking.asked()) return *std::move(ask);
    if (auto instruct = instructing.asked()) return *std::move(instruct);
    if (verify_command.parsed()) return verify;
    if (export_command.parsed()) return ended;
    if (backup_command.parsed()) {
        if (backup.with_shares && !backup.key_file) {
            return bad_usage("--with-shares needs --key-file FILE");
        }
        backup.backup = backup_file;
        return backup;
    }
    if (release_command.parsed()) {
        if (release.jobs.empty() && !release_all) return bad_usage("name jobs, or --all");
        return release;
    }
    if (approve_command.parsed()) return approve;
    if (restore_command.parsed()) {
        restore.backup = restored_file;
        return restore;
    }
    if (auto command = clustering.asked()) return *std::move(command);
    std::string names;
    for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; })) {
        names += (names.empty() ? "" : ", ") + command->get_name();
    }
    return bad_usage("no command given: " + names);
}

}  // namespace config
