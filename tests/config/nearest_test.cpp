#include "config/nearest.hpp"

#include <doctest/doctest.h>

#include <string>
#include <string_view>
#include <vector>

#include "config/keys.hpp"

TEST_CASE("edit distance counts insertions, deletions, replacements and swaps") {
    struct Row {
        std::string_view a;
        std::string_view b;
        std::size_t expected;
    };
    const std::vector<Row> rows{
        {"", "", 0},        {"", "abc", 3},    {"abc", "", 3},
        {"abc", "abc", 0},  {"abc", "abd", 1}, {"abc", "ab", 1},
        {"abc", "xabc", 1}, {"abc", "acb", 1}, {"kitten", "sitting", 3},
        {"ca", "abc", 3},
    };
    for (const Row& row : rows) {
        CAPTURE(row.a);
        CAPTURE(row.b);
        CHECK(config::edit_distance(row.a, row.b) == row.expected);
        CHECK(config::edit_distance(row.b, row.a) == row.expected);
    }
}

TEST_CASE("slips of the pen lead to the key that was meant") {
    struct Row {
        std::string_view written;
        std::string_view meant;
    };
    const std::vector<Row> rows{
        {"http.endpont", "http.endpoint"},
        {"htpp.endpoint", "http.endpoint"},
        {"endpoint", "http.endpoint"},
        {"http.retry_after.safty_margin", "http.retry_after.safety_margin"},
        {"retry_after.min_seconds", "http.retry_after.min_seconds"},
        {"gateway.tx_throttlers.input_proof.per_second",
         "gateway.tx_engine.tx_throttlers.input_proof.per_seconds"},
        {"host_chains[0].chainid", "host_chains[].chain_id"},
        {"helper.api_tokens", "helper.api_token"},
        {"storage.datadir", "storage.data_dir"},
        {"log.fromat", "log.format"},
    };
    for (const Row& row : rows) {
        CAPTURE(row.written);
        CHECK(config::nearest_key(row.written) == row.meant);
    }
}

TEST_CASE("every key with one letter too few leads back to itself") {
    for (const config::Key& key : config::keys()) {
        for (std::size_t i = key.name.rfind('.') + 1; i < key.name.size(); ++i) {
            std::string written = key.name;
            written.erase(i, 1);
            if (config::find_key(written) != nullptr) continue;
            CAPTURE(written);
            CHECK(config::nearest_key(written) == key.name);
        }
    }
}
