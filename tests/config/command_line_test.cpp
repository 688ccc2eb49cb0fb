#include "config/command_line.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

namespace {

config::Command parse(const std::vector<const char*>& arguments) {
    std::vector<const char*> argv{"posthouse"};
    argv.insert(argv.end(), arguments.begin(), arguments.end());
    return config::parse_command_line(static_cast<int>(argv.size()), argv.data());
}

}  // namespace

TEST_CASE("serve takes a file, a directory and an address") {
    const auto bare = parse({"serve"});
    REQUIRE(std::holds_alternative<config::Serve>(bare));
    CHECK_FALSE(std::get<config::Serve>(bare).file);
    CHECK_FALSE(std::get<config::Serve>(bare).data_dir);
    CHECK_FALSE(std::get<config::Serve>(bare).listen);

    const auto full =
        parse({"serve", "--config", "p.toml", "--data-dir", "/var/lib/p", "--listen", "[::]:80"});
    REQUIRE(std::holds_alternative<config::Serve>(full));
    CHECK(std::get<config::Serve>(full).file == "p.toml");
    CHECK(std::get<config::Serve>(full).data_dir == "/var/lib/p");
    CHECK(std::get<config::Serve>(full).listen == "[::]:80");

    const auto shorter = parse({"serve", "-c", "p.toml", "--listen=h:1"});
    REQUIRE(std::holds_alternative<config::Serve>(shorter));
    CHECK(std::get<config::Serve>(shorter).file == "p.toml");
    CHECK(std::get<config::Serve>(shorter).listen == "h:1");
}

TEST_CASE("check, doctor and version") {
    CHECK(std::holds_alternative<config::Check>(parse({"check"})));
    const auto check = parse({"check", "--config", "p.toml"});
    REQUIRE(std::holds_alternative<config::Check>(check));
    CHECK(std::get<config::Check>(check).file == "p.toml");
    const auto doctor = parse({"doctor", "--config", "p.toml"});
    REQUIRE(std::holds_alternative<config::Doctor>(doctor));
    CHECK(std::get<config::Doctor>(doctor).file == "p.toml");
    CHECK_FALSE(std::get<config::Doctor>(parse({"doctor"})).file);
    CHECK(std::holds_alternative<config::Version>(parse({"version"})));
    CHECK(std::holds_alternative<config::Version>(parse({"--version"})));
}

TEST_CASE("import-helper-db takes the file, and where to") {
    const auto bare = parse({"import-helper-db", "helper.db"});
    REQUIRE(std::holds_alternative<config::ImportHelperDb>(bare));
    CHECK(std::get<config::ImportHelperDb>(bare).helper_db == "helper.db");
    CHECK_FALSE(std::get<config::ImportHelperDb>(bare).file);
    CHECK_FALSE(std::get<config::ImportHelperDb>(bare).data_dir);
    CHECK_FALSE(std::get<config::ImportHelperDb>(bare).trial);

    const auto full = parse({"import-helper-db", "-c", "p.toml", "/var/helper.db", "--data-dir",
                             "/var/lib/p", "--trial"});
    REQUIRE(std::holds_alternative<config::ImportHelperDb>(full));
    CHECK(std::get<config::ImportHelperDb>(full).helper_db == "/var/helper.db");
    CHECK(std::get<config::ImportHelperDb>(full).file == "p.toml");
    CHECK(std::get<config::ImportHelperDb>(full).data_dir == "/var/lib/p");
    CHECK(std::get<config::ImportHelperDb>(full).trial);
}

TEST_CASE("each command on the cluster takes what it needs") {
    const auto init = parse({"cluster", "init"});
    REQUIRE(std::holds_alternative<config::ClusterInit>(init));
    CHECK_FALSE(std::get<config::ClusterInit>(init).from);
    const auto from =
        parse({"cluster", "init", "--from", "/var/lib/p", "-c", "p.toml", "--data-dir", "d"});
    REQUIRE(std::holds_alternative<config::ClusterInit>(from));
    CHECK(std::get<config::ClusterInit>(from).from == "/var/lib/p");
    CHECK(std::get<config::ClusterInit>(from).file == "p.toml");
    CHECK(std::get<config::ClusterInit>(from).data_dir == "d");

    const auto status = parse({"cluster", "status", "--json", "--config", "p.toml"});
    REQUIRE(std::holds_alternative<config::ClusterStatus>(status));
    CHECK(std::get<config::ClusterStatus>(status).json);
    CHECK(std::get<config::ClusterStatus>(status).file == "p.toml");

    const auto step_down = parse({"cluster", "step-down", "--data-dir", "d"});
    REQUIRE(std::holds_alternative<config::ClusterStepDown>(step_down));
    CHECK(std::get<config::ClusterStepDown>(step_down).data_dir == "d");

    const auto forget = parse({"cluster", "forget", "b"});
    REQUIRE(std::holds_alternative<config::ClusterForget>(forget));
    CHECK(std::get<config::ClusterForget>(forget).node == "b");
    CHECK(std::holds_alternative<config::BadUsage>(parse({"cluster", "forget"})));

    const auto leave = parse({"cluster", "leave"});
    REQUIRE(std::holds_alternative<config::ClusterLeave>(leave));
    CHECK_FALSE(std::get<config::ClusterLeave>(leave).force);
    const auto forced = parse({"cluster", "leave", "--force"});
    REQUIRE(std::holds_alternative<config::ClusterLeave>(forced));
    CHECK(std::get<config::ClusterLeave>(forced).force);

    CHECK(std::holds_alternative<config::BadUsage>(parse({"cluster"})));
    CHECK(std::holds_alternative<config::BadUsage>(parse({"cluster", "join"})));
    const auto help = parse({"cluster", "--help"});
    REQUIRE(std::holds_alternative<config::Help>(help));
    CHECK(std::get<config::Help>(help).text.find("step-down") != std::string::npos);
}

TEST_CASE("approve needs an amount, and asks unless it is told not to") {
    const auto bare = parse({"approve", "--amount", "12.5"});
    REQUIRE(std::holds_alternative<config::Approve>(bare));
    CHECK(std::get<config::Approve>(bare).amount == "12.5");
    CHECK_FALSE(std::get<config::Approve>(bare).yes);
    CHECK_FALSE(std::get<config::Approve>(bare).signer);
    const auto full = parse({"approve", "--amount", "0", "--signer", "0x1", "--yes", "--json",
                             "--data-dir", "/var/lib/p", "-c", "p.toml"});
    REQUIRE(std::holds_alternative<config::Approve>(full));
    CHECK(std::get<config::Approve>(full).signer == "0x1");
    CHECK(std::get<config::Approve>(full).yes);
    CHECK(std::get<config::Approve>(full).json);
    CHECK(std::get<config::Approve>(full).data_dir == "/var/lib/p");
    CHECK(std::get<config::Approve>(full).file == "p.toml");
    CHECK(std::holds_alternative<config::BadUsage>(parse({"approve"})));
    CHECK(std::holds_alternative<config::BadUsage>(parse({"approve", "12"})));
}

TEST_CASE("what is asked of the running process becomes a path and a query") {
    using About = config::Ask::About;
    struct Row {
        std::vector<const char*> arguments;
        About about;
        std::string_view target;
    };
    for (const Row& row : {
             Row{{"status"}, About::status, "/admin/status"},
             Row{{"job", "019e8006-3403-7000-a5b4-9cf6e8d41c02"},
                 About::job,
                 "/admin/jobs/019e8006-3403-7000-a5b4-9cf6e8d41c02"},
             Row{{"job", "../config?x=1"}, About::job, "/admin/jobs/..%2Fconfig%3Fx%3D1"},
             Row{{"jobs"}, About::jobs, "/admin/jobs"},
             Row{{"jobs", "--kind", "share", "--status", "queued", "--limit", "7"},
                 About::jobs,
                 "/admin/jobs?kind=share&status=queued&limit=7"},
             Row{{"jobs", "--client", "we b&", "--label", "reverted", "--before", "x"},
                 About::jobs,
                 "/admin/jobs?client=we%20b%26&label=reverted&before=x"},
             Row{{"jobs", "--older", "1h 30m"}, About::jobs, "/admin/jobs?older=5400"},
         }) {
        CAPTURE(row.target);
        const auto command = parse(row.arguments);
        REQUIRE(std::holds_alternative<config::Ask>(command));
        const auto& ask = std::get<config::Ask>(command);
        CHECK(ask.about == row.about);
        CHECK(ask.target == row.target);
        CHECK_FALSE(ask.json);
        CHECK_FALSE(ask.file);
        CHECK_FALSE(ask.data_dir);
    }
    const auto full =
        parse({"jobs", "--json", "-c", "p.toml", "--data-dir", "/var/lib/p", "--limit", "1"});
    REQUIRE(std::holds_alternative<config::Ask>(full));
    CHECK(std::get<config::Ask>(full).json);
    CHECK(std::get<config::Ask>(full).file == "p.toml");
    CHECK(std::get<config::Ask>(full).data_dir == "/var/lib/p");
}

TEST_CASE("what the running process is to do becomes paths and a body") {
    struct Row {
        std::vector<const char*> arguments;
        std::vector<std::string> targets;
        std::string_view body;
    };
    for (const Row& row : {
             Row{{"retry", "a"}, {"/admin/jobs/a/retry"}, "{}"},
             Row{{"retry", "a/b", "c", "--pay-again"},
                 {"/admin/jobs/a%2Fb/retry", "/admin/jobs/c/retry"},
                 R"({"pay_again":true})"},
             Row{{"cancel", "a", "b"}, {"/admin/jobs/a/cancel", "/admin/jobs/b/cancel"}, "{}"},
             Row{{"cancel", "--yes", "a"}, {"/admin/jobs/a/cancel"}, R"({"share":true})"},
             Row{{"pause", "input_proof"}, {"/admin/kinds/input_proof/pause"}, "{}"},
             Row{{"resume", "share"}, {"/admin/kinds/share/resume"}, "{}"},
             Row{{"log-level", "debug"}, {"/admin/log-level/debug"}, "{}"},
         }) {
        const auto command = parse(row.arguments);
        REQUIRE(std::holds_alternative<config::Instruct>(command));
        const auto& instruct = std::get<config::Instruct>(command);
        CAPTURE(instruct.verb);
        CHECK(instruct.verb == row.arguments.front());
        CHECK(instruct.targets == row.targets);
        CHECK(instruct.body == row.body);
        CHECK_FALSE(instruct.json);
    }
    const auto full = parse({"cancel", "a", "--json", "-c", "p.toml", "--data-dir", "/var/lib/p"});
    REQUIRE(std::holds_alternative<config::Instruct>(full));
    CHECK(std::get<config::Instruct>(full).json);
    CHECK(std::get<config::Instruct>(full).file == "p.toml");
    CHECK(std::get<config::Instruct>(full).data_dir == "/var/lib/p");
}

TEST_CASE("drill takes how long, by which dice, and where") {
    const auto bare = parse({"drill"});
    REQUIRE(std::holds_alternative<config::Drill>(bare));
    CHECK_FALSE(std::get<config::Drill>(bare).file);
    CHECK_FALSE(std::get<config::Drill>(bare).data_dir);
    CHECK_FALSE(std::get<config::Drill>(bare).quick);
    CHECK_FALSE(std::get<config::Drill>(bare).rounds);
    CHECK_FALSE(std::get<config::Drill>(bare).seed);
    CHECK_FALSE(std::get<config::Drill>(bare).json);

    const auto full = parse({"drill", "-c", "p.toml", "--directory", "/var/lib/p", "--quick",
                             "--rounds", "7", "--seed", "0", "--json"});
    REQUIRE(std::holds_alternative<config::Drill>(full));
    CHECK(std::get<config::Drill>(full).file == "p.toml");
    CHECK(std::get<config::Drill>(full).data_dir == "/var/lib/p");
    CHECK(std::get<config::Drill>(full).quick);
    CHECK(std::get<config::Drill>(full).rounds == 7);
    CHECK(std::get<config::Drill>(full).seed == 0);
    CHECK(std::get<config::Drill>(full).json);
    CHECK_FALSE(std::get<config::Drill>(full).chain);
    CHECK_FALSE(std::get<config::Drill>(full).requests);
    CHECK_FALSE(std::get<config::Drill>(full).yes);
    const auto chain = parse({"drill", "--chain", "--requests", "5", "--yes"});
    REQUIRE(std::holds_alternative<config::Drill>(chain));
    CHECK(std::get<config::Drill>(chain).chain);
    CHECK(std::get<config::Drill>(chain).requests == 5);
    CHECK(std::get<config::Drill>(chain).yes);
    const auto other = parse({"drill", "--data-dir", "/var/lib/p"});
    REQUIRE(std::holds_alternative<config::Drill>(other));
    CHECK(std::get<config::Drill>(other).data_dir == "/var/lib/p");
}

TEST_CASE("help names every command, and every flag of one") {
    const auto help = parse({"--help"});
    REQUIRE(std::holds_alternative<config::Help>(help));
    for (const std::string_view word :
         {"serve", "check", "doctor", "import-helper-db", "drill", "version", "jobs", "job",
          "status", "retry", "cancel", "pause", "resume", "log-level"}) {
        CHECK(std::get<config::Help>(help).text.find(word) != std::string::npos);
    }
    const auto serve = parse({"serve", "--help"});
    REQUIRE(std::holds_alternative<config::Help>(serve));
    for (const std::string_view word : {"--config", "--data-dir", "--listen"}) {
        CHECK(std::get<config::Help>(serve).text.find(word) != std::string::npos);
    }
    const auto import = parse({"import-helper-db", "--help"});
    REQUIRE(std::holds_alternative<config::Help>(import));
    for (const std::string_view word : {"--config", "--data-dir", "FILE", "copy"}) {
        CHECK(std::get<config::Help>(import).text.find(word) != std::string::npos);
    }
}

TEST_CASE("bad usage is one clear line") {
    struct Row {
        std::vector<const char*> arguments;
        std::string_view part;
    };
    const std::vector<Row> rows{
        {{},
         "no command given: serve, check, doctor, import-helper-db, adopt, drill, jobs, job, "
         "status, retry, cancel, pause, resume, log-level, reload, verify, export, backup, "
         "release, approve, restore, cluster, version"},
        {{"jobs", "--older", "soon"}, "soon is no time; allowed: 30s, 10m, 2h"},
        {{"jobs", "id"}, "id"},
        {{"job"}, "ID"},
        {{"job", "one", "two"}, "two"},
        {{"job", ""}, "ID: is empty"},
        {{"retry", "id", ""}, "ID: is empty"},
        {{"cancel", ""}, "ID: is empty"},
        {{"release", ""}, "ID: is empty"},
        {{"pause", ""}, "KIND: is empty"},
        {{"log-level", ""}, "LEVEL: is empty"},
        {{"backup", ""}, "FILE: is empty"},
        {{"restore", ""}, "FILE: is empty"},
        {{"import-helper-db", ""}, "FILE: is empty"},
        {{"cluster", "forget", ""}, "NODE: is empty"},
        {{"status", "now"}, "now"},
        {{"retry"}, "ID"},
        {{"cancel", "--yes"}, "ID"},
        {{"cancel", "--pay-again", "id"}, "--pay-again"},
        {{"pause"}, "KIND"},
        {{"resume", "share", "input_proof"}, "input_proof"},
        {{"log-level"}, "LEVEL"},
        {{"sreve"}, "sreve"},
        {{"serve", "--lisen", "h:1"}, "--lisen"},
        {{"serve", "--config"}, "--config"},
        {{"serve", "--listen", "a:1", "--listen", "b:2"}, "--listen"},
        {{"serve", "check"}, "check"},
        {{"check", "--data-dir", "x"}, "--data-dir"},
        {{"import-helper-db"}, "FILE"},
        {{"import-helper-db", "one.db", "two.db"}, "two.db"},
        {{"drill", "--rounds", "0"}, "--rounds"},
        {{"drill", "--seed", "-1"}, "--seed"},
        {{"drill", "--chain", "--requests", "0"}, "--requests"},
        {{"drill", "--chain", "--requests", "1001"}, "--requests"},
        {{"drill", "--requests", "5"}, "--chain"},
        {{"drill", "--yes"}, "--chain"},
        {{"drill", "--data-dir", "x", "--directory", "y"}, "--data-dir"},
        {{"version", "now"}, "now"},
        {{"serve", "extra"}, "extra"},
    };
    for (const Row& row : rows) {
        const auto command = parse(row.arguments);
        REQUIRE(std::holds_alternative<config::BadUsage>(command));
        const std::string& text = std::get<config::BadUsage>(command).text;
        CAPTURE(text);
        CHECK(text.starts_with("posthouse: "));
        CHECK(text.find(row.part) != std::string::npos);
        CHECK(std::ranges::count(text, '\n') == 1);
        CHECK(text.ends_with("\n"));
    }
    CHECK(config::exit_usage == 2);
}
