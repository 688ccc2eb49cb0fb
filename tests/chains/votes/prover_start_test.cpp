#include <doctest/doctest.h>
#include <sys/stat.h>

#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "chains/votes/prover_world.hpp"

namespace {

using namespace chains;
using namespace chains::votes;
using support::ProverWorld;

std::string refusal(const ProverOptions& options) {
    try {
        const ProverWorld world{options};
        return "none";
    } catch (const std::invalid_argument& error) {
        return error.what();
    }
}

void write(const std::filesystem::path& file, std::string_view text, mode_t mode) {
    std::ofstream{file} << text;
    REQUIRE(::chmod(file.c_str(), mode) == 0);
}

ProverOptions http(std::string url, std::string token = {}) {
    ProverOptions options;
    options.type = ProverType::http;
    options.url = std::move(url);
    options.token = std::move(token);
    return options;
}

}  // namespace

TEST_CASE("a prover that can not work is refused at the start, without its secrets") {
    const support::TempDirectory directory{support::TempDirectory::For::programs};
    const std::string plain = directory.path() / "plain";
    write(plain, "#!/bin/sh\n", 0644);
    ProverOptions bad_name = support::command({"/bin/true"});
    bad_name.pass_environment = {"A=B"};
    ProverOptions no_time;
    no_time.timeout = domain::Milliseconds{0};
    struct Row {
        ProverOptions options;
        std::string text;
    };
    const std::vector<Row> rows{
        {support::command({}), "prover command is empty"},
        {support::command({""}), "prover command is empty"},
        {support::command({"/nowhere/prover"}), "prover command \"/nowhere/prover\" is not found"},
        {support::command({"no-such-prover"}), "prover command \"no-such-prover\" is not found"},
        {support::command({plain}), "prover command \"" + plain + "\" may not be executed"},
        {support::command({"/tmp"}), "prover command \"/tmp\" may not be executed"},
        {support::command({"sh"}), "none"},
        {bad_name, "\"A=B\" is no name of an environment variable"},
        {no_time, "prover timeout is not positive"},
        {http("ftp://secret/"), "prover url is no http or https URL"},
        {http("ws://secret/"), "prover url is no http or https URL"},
        {http("http://h/", "two words"), "prover token is not printable ASCII"},
        {http("http://h/", "token"), "none"},
        {ProverOptions{}, "there is no prover"},
        {support::loopback(), "none"},
    };
    for (const Row& row : rows) {
        CAPTURE(row.text);
        CHECK(refusal(row.options) == row.text);
    }
}

TEST_CASE("a program that can not be started costs no attempt") {
    const support::TempDirectory directory{support::TempDirectory::For::programs};
    const std::filesystem::path program = directory.path() / "prover";
    struct Row {
        std::string label;
        std::string text;
        std::string outcome;
    };
    const std::vector<Row> rows{
        {"no interpreter", "#!/nowhere/python\n", "No such file or directory"},
        {"no program", "echo\n", "Exec format error"},
    };
    for (const Row& row : rows) {
        CAPTURE(row.label);
        write(program, row.text, 0755);
        ProverWorld world{support::command({program})};
        const std::string outcome = "prover can not be started: exec: " + row.outcome;
        CHECK(world.prove() == "unreachable: " + outcome);
        CHECK(world.prover->problem() == outcome);
    }
    write(program, "#!/bin/sh\n", 0755);
    ProverWorld world{support::command({program})};
    std::filesystem::remove(program);
    CHECK(world.prove() ==
          "unreachable: prover can not be started: exec: No such file or directory");
}
