#include "api/forwarding/forwarded_header.hpp"

#include <doctest/doctest.h>

#include "api/forwarding/nodes.hpp"

namespace {

using api::forwarding::Forged;
using api::forwarding::Forwarded;
using api::forwarding::forwarded_value;
using api::forwarding::NotForwarded;
using api::forwarding::sender_of;
using forwarding_test::instance_of;
using forwarding_test::keys_of;

net::HttpRequest polled() {
    net::HttpRequest request;
    request.method = "GET";
    request.target = "/v2/input-proof/1?wait=5";
    return request;
}

const Forwarded by_b{.node = "b", .address = "2001:db8::7", .instance = instance_of(3)};

TEST_CASE("a node's header is believed by the node it is for") {
    const auto keys = keys_of(1);
    for (const std::string name : {"b", "host-1.example", "with space; and \xC3\xA4"}) {
        CAPTURE(name);
        Forwarded forwarded = by_b;
        forwarded.node = name;
        net::HttpRequest request = polled();
        const std::string value = forwarded_value(*keys, forwarded, "a", request);
        request.headers.push_back({"posthouse-forwarded", value});
        const auto sender = sender_of(*keys, "a", request);
        REQUIRE(std::holds_alternative<Forwarded>(sender));
        CHECK(std::get<Forwarded>(sender).node == name);
        CHECK(std::get<Forwarded>(sender).address == "2001:db8::7");
        CHECK(std::get<Forwarded>(sender).instance == instance_of(3));
    }
}

TEST_CASE("a client's address that nobody knows is no empty part") {
    const auto keys = keys_of(1);
    Forwarded forwarded = by_b;
    forwarded.address.clear();
    net::HttpRequest request = polled();
    const std::string value = forwarded_value(*keys, forwarded, "a", request);
    request.headers.push_back({"Posthouse-Forwarded", value});
    const auto sender = sender_of(*keys, "a", request);
    REQUIRE(std::holds_alternative<Forwarded>(sender));
    CHECK(std::get<Forwarded>(sender).address == "unknown");
}

TEST_CASE("a request without the header was not forwarded") {
    net::HttpRequest request = polled();
    request.headers.push_back({"X-Forwarded-For", "192.0.2.1"});
    CHECK(std::holds_alternative<NotForwarded>(sender_of(*keys_of(1), "a", request)));
}

TEST_CASE("a header of another key, node, request or making is forged") {
    const auto keys = keys_of(1);
    const std::string good = forwarded_value(*keys, by_b, "a", polled());
    const std::string other_key = forwarded_value(*keys_of(2), by_b, "a", polled());
    const auto with = [&](std::size_t at, std::string_view part) {
        std::string value = good;
        return value.replace(at, part.size(), part);
    };
    struct Row {
        std::string_view label;
        std::string value;
        std::string_view self = "a";
        std::string_view method = "GET";
        std::string_view target = "/v2/input-proof/1?wait=5";
    };
    for (const Row& row : {
             Row{"another key", other_key},
             Row{"for another node", good, "c"},
             Row{"sent back to its maker", good, "b"},
             Row{"another method", good, "a", "POST"},
             Row{"another target", good, "a", "GET", "/v2/input-proof/2?wait=5"},
             Row{"another version", with(0, "2")},
             Row{"another node's name", with(2, "63")},
             Row{"another address", with(good.find("2001"), "2002")},
             Row{"another instance", with(good.find("0303"), "0404")},
             Row{"a name that is no hexadecimal number", with(2, "zz")},
             Row{"cut short", good.substr(0, good.size() - 1)},
             Row{"something behind it", good + " x"},
             Row{"a space at its end", good + " "},
             Row{"a space too many", "1  " + good.substr(2)},
             Row{"empty", ""},
             Row{"no proof", "1 62 192.0.2.1"},
             Row{"a long line", std::string(30'000, ' ')},
         }) {
        CAPTURE(row.label);
        net::HttpRequest request;
        request.method = row.method;
        request.target = row.target;
        request.headers.push_back({"Posthouse-Forwarded", row.value});
        CHECK(std::holds_alternative<Forged>(sender_of(*keys, row.self, request)));
    }
}

TEST_CASE("two headers are none") {
    const auto keys = keys_of(1);
    net::HttpRequest request = polled();
    const std::string value = forwarded_value(*keys, by_b, "a", request);
    request.headers = {{"Posthouse-Forwarded", value}, {"Posthouse-Forwarded", value}};
    CHECK(std::holds_alternative<Forged>(sender_of(*keys, "a", request)));
}

TEST_CASE("while keys are exchanged a header of either is believed") {
    using forwarding_test::secret_of;
    const cluster::Keys both(secret_of(2), secret_of(1));
    net::HttpRequest request = polled();
    const std::string value = forwarded_value(*keys_of(1), by_b, "a", request);
    request.headers.push_back({"Posthouse-Forwarded", value});
    CHECK(std::holds_alternative<Forwarded>(sender_of(both, "a", request)));
}

}  // namespace
