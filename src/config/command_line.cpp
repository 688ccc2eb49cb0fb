#include "config/command_line.hpp"

#include <CLI/CLI.hpp>

namespace config {
namespace {

BadUsage bad_usage(const std::string& reason) {
    return {"posthouse: " + reason + "; posthouse --help shows what there is\n"};
}

// An option that sets `target`, be it to an empty text.
template <typename Target>
void add_option(CLI::App& command, const std::string& names, const std::string& what,
                Target& target, const std::string& description) {
    command
        .add_option_function<std::string>(
            names, [&target](const std::string& text) { target = text; }, description)
        ->type_name(what);
}

template <typename Target>
void add_config(CLI::App& command, Target& file) {
    add_option(command, "-c,--config", "FILE", file, "Configuration, TOML");
}

template <typename Target>
void add_data_dir(CLI::App& command, Target& directory) {
    add_option(command, "--data-dir", "DIR", directory, "Where everything durable lives (./data)");
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
    import_command
        .add_option("FILE", helper_db,
                    "The helper.db of a helper that was stopped; it is only read, a copy of it is "
                    "kept in the data directory")
        ->required()
        ->type_name("");
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
    const CLI::App& version_command = *app.add_subcommand("version", "Show the version");
    app.require_subcommand(0, 1);

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
    return bad_usage("no command given: serve, check, doctor, import-helper-db, adopt or version");
}

}  // namespace config
