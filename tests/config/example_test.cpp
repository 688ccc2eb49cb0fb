#include "config/example.hpp"

#include <doctest/doctest.h>

#include <fstream>
#include <iterator>
#include <sstream>
#include <string>
#include <vector>

#include "config/keys.hpp"
#include "harness.hpp"

using config_test::Outcome;

namespace {

std::string example_file() {
    std::ifstream file{POSTHOUSE_SOURCE_ROOT "/config.example.toml"};
    return {std::istreambuf_iterator<char>{file}, {}};
}

// `#key = …` and `#[table]` are switched on; `# words` stay.
std::string switched_on(const std::string& text) {
    std::istringstream lines{text};
    std::string out;
    for (std::string line; std::getline(lines, line);) {
        const bool off = line.size() > 1 && line[0] == '#' && line[1] != ' ';
        out += (off ? line.substr(1) : line) + "\n";
    }
    return out;
}

std::size_t count(const std::string& text, const std::string& part) {
    std::size_t found = 0;
    for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) {
        ++found;
    }
    return found;
}

}  // namespace

TEST_CASE("config.example.toml is what the table of keys says") {
    const bool same = example_file() == config::example();
    CHECK_MESSAGE(same, "write it anew: build/tests/config/write_example > config.example.toml");
}

TEST_CASE("the example is accepted as it is and changes nothing") {
    const Outcome example{example_file()};
    CAPTURE(example.text());
    REQUIRE(example.accepted());
    CHECK(example.text().empty());
    const Outcome nothing{""};
    for (const config::Key& key : config::keys()) {
        if (!key.show) continue;
        CAPTURE(key.name);
        const bool in_list = key.name.find("[]") != std::string::npos;
        if (in_list && key.name != "host_chains[].chain_id") continue;
        CHECK(key.show(example.settings(), 0) == key.show(nothing.settings(), 0));
    }
    for (const config::TableList& list : config::table_lists()) {
        CHECK(list.size(example.settings()) == list.size(nothing.settings()));
    }
}

TEST_CASE("the example shows every key once, with its default, unit and range") {
    const std::string text = example_file();
    for (const config::Key& key : config::keys()) {
        CAPTURE(key.name);
        const std::string table = key.name.substr(0, key.name.rfind('.'));
        const std::string name = key.name.substr(key.name.rfind('.') + 1);
        const bool list = table.ends_with("[]");
        const std::string heading =
            list ? "[[" + table.substr(0, table.size() - 2) + "]]\n" : "[" + table + "]\n";
        CHECK(count("\n" + text, heading) == 1);
        const std::size_t begin = text.find(heading);
        std::size_t end = text.find("\n[", begin);
        end = std::min(end, text.find("\n#[", begin));
        const std::string section = text.substr(begin, end - begin);
        CHECK(count(section, "\n" + name + " = ") + count(section, "\n#" + name + " = ") == 1);
    }
    CHECK(count(text, "\n# Unit: ") + count(text, "\n# Default: ") == config::keys().size());
}

TEST_CASE("every key that is switched off in the example would be understood") {
    std::string text = switched_on(example_file());
    // What a sample can not hold, or holds once where more are needed.
    const auto replace = [&](const std::string& from, const std::string& to) {
        const std::size_t at = text.find(from);
        REQUIRE(at != std::string::npos);
        text.replace(at, from.size(), to);
    };
    const std::string key = "private_key = \"" + std::string(64, '1') + "\"";
    replace("private_key = \"\"", key);
    replace("private_key = \"\"", key);
    // Beside the embedded chain of the example, and bodies as large as in the reference.
    const std::size_t cluster = text.find("\n[cluster]\n");
    REQUIRE(cluster != std::string::npos);
    const std::size_t cluster_end = text.find("\n[", cluster + 1);
    const std::vector<std::string> errors =
        Outcome{example_file() + text.substr(cluster, cluster_end - cluster)}.errors();
    REQUIRE(errors.size() == 2);
    CHECK(errors[0].find("is too much for a cluster") != std::string::npos);
    CHECK(errors[1].find("loopback is not for a cluster") != std::string::npos);
    text.erase(cluster, cluster_end - cluster);
    // One key, or several: each section without the other.
    for (const std::string section :
         {"\n[gateway.tx_engine.signer]\n", "\n[[gateway.tx_engine.signers]]\n"}) {
        const std::size_t begin = text.find(section);
        REQUIRE(begin != std::string::npos);
        const std::size_t end = text.find("\n[", begin + 1);
        const Outcome outcome{text.substr(0, begin) + text.substr(end)};
        CAPTURE(outcome.text());
        CHECK(outcome.accepted());
    }
    CHECK_FALSE(Outcome{text}.accepted());
}
