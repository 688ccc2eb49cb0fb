#include "cluster/key.hpp"

#include <doctest/doctest.h>

#include <string>
#include <string_view>

namespace {

domain::Bytes32 key_of(std::uint8_t byte) {
    domain::Bytes32 key{};
    key.fill(byte);
    return key;
}

}  // namespace

TEST_CASE("a key file holds 32 bytes or 64 digits, and nothing else") {
    const std::string digits(64, '1');
    struct Row {
        std::string_view label;
        std::string content;
        bool is_key;
    };
    for (const Row& row : {
             Row{"32 bytes", std::string(32, '\x11'), true},
             Row{"32 bytes that end with a line", std::string(31, '\x11') + "\n", true},
             Row{"64 digits", digits, true},
             Row{"64 digits and a line end", digits + "\r\n", true},
             Row{"upper case", std::string(64, 'A'), true},
             Row{"nothing", "", false},
             Row{"31 bytes", std::string(31, '\x11'), false},
             Row{"33 bytes", std::string(33, '\x11'), false},
             Row{"63 digits", digits.substr(1), false},
             Row{"65 digits", digits + "1", false},
             Row{"no digit among them", digits.substr(1) + "g", false},
             Row{"0x", "0x" + digits, false},
         }) {
        CAPTURE(row.label);
        CHECK(cluster::key_in(row.content).has_value() == row.is_key);
    }
    CHECK(cluster::key_in(digits) == cluster::key_in(std::string(32, '\x11')));
}

TEST_CASE("keys are known by their fingerprints, which tell nothing of them") {
    const cluster::Key one(key_of(1));
    CHECK(one.fingerprint() == cluster::Key(key_of(1)).fingerprint());
    CHECK(one.fingerprint() != cluster::Key(key_of(2)).fingerprint());
    CHECK(cluster::name_of(one.fingerprint()) != "01010101");
    CHECK(cluster::name_of(one.fingerprint()).size() == 8);

    const cluster::Keys single(key_of(1));
    CHECK(single.with(one.fingerprint()) == &single.current());
    CHECK(single.with(cluster::Key(key_of(2)).fingerprint()) == nullptr);
    CHECK(single.names() == "key " + cluster::name_of(one.fingerprint()));

    const cluster::Keys both(key_of(2), key_of(1));
    CHECK(both.with(one.fingerprint()) == both.other());
    CHECK(both.names() == "keys " + cluster::name_of(both.current().fingerprint()) + " and " +
                              cluster::name_of(one.fingerprint()));
}
