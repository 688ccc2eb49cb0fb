#include "config/command_line.hpp"

#include <CLI/CLI.hpp>

namespace config {
namespace {

BadUsage bad_usage(const std::string& reason) {
    return {"posthouse: " + reason + "; posthouse --help shows what there is\n"};
}

}  // namespace

Command parse_command_line(int argc, const char* const* argv) {
    CLI::App app{"Takes requests in, keeps them safe, and sends each on in time.", "posthouse"};
    app.set_help_flag("-h,--help", "Show this text");
    bool version_wanted = false;
    app.add_flag("-V,--version", version_wanted, "Show the version");

    Serve serve;
    Check check;
    Doctor doctor;
    ImportHelperDb import;
    std::string serve_file;
    std::string check_file;
    std::string doctor_file;
    std::string import_file;
    std::string import_data_dir;
    std::string helper_db;
    std::string data_dir;
    std::string listen;

    CLI::App* const serve_command = app.add_subcommand("serve", "Run the service");
    CLI::Option* const serve_config =
        serve_command->add_option("-c,--config", serve_file, "Configuration, TOML")
            ->type_name("FILE");
    CLI::Option* const data_dir_option =
        serve_command->add_option("--data-dir", data_dir, "Where everything durable lives (./data)")
            ->type_name("DIR");
    CLI::Option* const listen_option =
        serve_command->add_option("--listen", listen, "Where requests come in (127.0.0.1:3000)")
            ->type_name("HOST:PORT");
    CLI::App* const check_command =
        app.add_subcommand("check", "Look for mistakes in the configuration");
    CLI::Option* const check_config =
        check_command->add_option("-c,--config", check_file, "Configuration, TOML")
            ->type_name("FILE");
    CLI::App* const doctor_command =
        app.add_subcommand("doctor", "Ask the nodes of the chains whether all is well");
    CLI::Option* const doctor_config =
        doctor_command->add_option("-c,--config", doctor_file, "Configuration, TOML")
            ->type_name("FILE");
    CLI::App* const import_command =
        app.add_subcommand("import-helper-db", "Take the shares of a reference helper over");
    CLI::Option* const import_config =
        import_command->add_option("-c,--config", import_file, "Configuration, TOML")
            ->type_name("FILE");
    CLI::Option* const import_data_dir_option =
        import_command
            ->add_option("--data-dir", import_data_dir, "Where everything durable lives (./data)")
            ->type_name("DIR");
    import_command
        ->add_option("FILE", helper_db,
                     "The helper.db of a helper that was stopped; it is only read, a copy of it is "
                     "kept in the data directory")
        ->required()
        ->type_name("");
    import_command->add_flag("--trial", import.trial,
                             "Also without a vote chain: the embedded one takes the shares, and "
                             "they are gone");
    import_command->footer("Ends with 3 when something was skipped or in conflict.");
    CLI::App* const version_command = app.add_subcommand("version", "Show the version");
    app.require_subcommand(0, 1);

    try {
        app.parse(argc, argv);
    } catch (const CLI::CallForHelp&) {
        return Help{app.help()};
    } catch (const CLI::ParseError& error) {
        return bad_usage(error.what());
    }

    if (version_wanted || version_command->parsed()) return Version{};
    if (serve_command->parsed()) {
        if (serve_config->count() > 0) serve.file = serve_file;
        if (data_dir_option->count() > 0) serve.data_dir = data_dir;
        if (listen_option->count() > 0) serve.listen = listen;
        return serve;
    }
    if (check_command->parsed()) {
        if (check_config->count() > 0) check.file = check_file;
        return check;
    }
    if (doctor_command->parsed()) {
        if (doctor_config->count() > 0) doctor.file = doctor_file;
        return doctor;
    }
    if (import_command->parsed()) {
        import.helper_db = helper_db;
        if (import_config->count() > 0) import.file = import_file;
        if (import_data_dir_option->count() > 0) import.data_dir = import_data_dir;
        return import;
    }
    return bad_usage("no command given: serve, check, doctor, import-helper-db or version");
}

}  // namespace config
