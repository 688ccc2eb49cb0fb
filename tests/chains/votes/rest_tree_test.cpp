#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "base/base64.hpp"
#include "chains/votes/rest_harness.hpp"

// What a chain says of a round's commitment tree.
namespace support {
namespace {

std::string base64_of(std::uint8_t value, std::size_t count = 32) {
    return base::to_base64(std::string(count, static_cast<char>(value)));
}

std::string block(int height, int start, const std::vector<std::string>& leaves) {
    Json value{{"height", height}, {"leaves", leaves}, {"root", base64_of(9)}};
    if (start != 0) value["start_index"] = start;  // zero is left out
    return value.dump();
}

std::string target(const std::string& rest) {
    return "GET /shielded-vote/v1/commitment-tree/" + round_hex + rest;
}

std::string heights(std::uint64_t from, std::uint64_t to) {
    return target("/leaves?from_height=" + std::to_string(from) +
                  "&to_height=" + std::to_string(to));
}

std::vector<std::string> lines(const HttpStub& stub) {
    std::vector<std::string> all;
    for (const StubRequest& request : stub.requests()) all.push_back(request.line());
    return all;
}

const std::vector<chains::votes::tree::BlockLeaves>* blocks_of(const auto& answer) {
    const auto* const read = std::get_if<chains::votes::tree::LeavesRead>(&answer);
    return read == nullptr ? nullptr : &read->blocks;
}

TEST_CASE("the latest tree of a round") {
    struct Row {
        const char* label;
        int status;
        std::string body;
        std::string expected;
    };
    const std::string root = R"("root":")" + base64_of(7) + "\"";
    const std::string no_number = "unreachable: tree: a member is no whole number";
    const std::vector<Row> rows{
        {"full", 200, R"({"tree":{"next_index":4212,"height":90233,)" + root + "}}",
         "4212 at 90233, root 07"},
        {"empty", 200, R"({"tree":{}})", "0 at 0, root 00"},
        {"not yet hashed", 200, R"({"tree":{"next_index":2}})", "2 at 0, root 00"},
        {"unknown round", 404, R"({"error":"vote round not found"})", "unknown"},
        {"failure", 500, R"({"error":"x"})", "unreachable: HTTP 500: x"},
        {"no tree", 200, "{}", "unreachable: tree: none in answer"},
        {"no JSON", 200, "x", "unreachable: tree: no JSON"},
        {"text", 200, R"({"tree":{"next_index":"5"}})", no_number},
        {"negative", 200, R"({"tree":{"height":-5}})", no_number},
        {"short root", 200, R"({"tree":{"root":")" + base64_of(7, 31) + "\"}}",
         "unreachable: tree: root has not 32 bytes"},
        {"root in hex", 200, R"({"tree":{"root":")" + round_hex + "\"}}",
         "unreachable: tree: root has not 32 bytes"},
    };
    for (const Row& row : rows) {
        CAPTURE(row.label);
        RestHarness harness(row.status, row.body);
        const auto answer = harness.chain.latest(round_id);
        std::string words = missing(answer);
        if (const auto* const tree = std::get_if<chains::votes::tree::LatestTree>(&answer)) {
            words = std::to_string(tree->next_index) + " at " + std::to_string(tree->height) +
                    ", root " + domain::to_hex(tree->root).substr(0, 2);
        }
        CHECK(words == row.expected);
        CHECK(lines(harness.stub) == std::vector{target("/latest")});
    }
}

TEST_CASE("leaves come with their blocks, and blocks without leaves do not") {
    RestHarness harness(200, R"({"blocks":[)" + block(5, 0, {base64_of(1), base64_of(2)}) +
                                 R"(,{"height":6,"start_index":2},)" + block(8, 2, {base64_of(3)}) +
                                 "]}");
    const auto answer = harness.leaves(5, 9);
    CHECK(lines(harness.stub) == std::vector{heights(5, 9)});
    const auto* const blocks = blocks_of(answer);
    REQUIRE(blocks != nullptr);
    REQUIRE(blocks->size() == 2);
    CHECK(blocks->at(0).height == 5);
    CHECK(blocks->at(0).start_index == 0);
    CHECK(blocks->at(0).leaves == std::vector{filled(1), filled(2)});
    CHECK(blocks->at(1).height == 8);
    CHECK(blocks->at(1).start_index == 2);
    CHECK(blocks->at(1).leaves == std::vector{filled(3)});
}

TEST_CASE("leaves that can not be believed are not served") {
    struct Row {
        const char* label;
        int status;
        std::string body;
        std::string expected;
    };
    const std::string unreadable = "unreachable: leaves: a block can not be read";
    const std::string out_of_order = "unreachable: leaves: blocks out of order";
    const std::string no_page = "unreachable: leaves: the next page can not be found";
    const std::string fine = block(6, 0, {base64_of(1)});
    const auto blocks = [](const std::string& inside) { return R"({"blocks":[)" + inside + "]}"; };
    const auto next = [&](const std::string& value) {
        return R"({"blocks":[)" + fine + R"(],"next_from_height":)" + value + "}";
    };
    const std::vector<Row> rows{
        {"none", 200, "{}", "there"},
        {"null", 200, R"({"blocks":null})", "there"},
        {"empty", 200, R"({"blocks":[]})", "there"},
        {"no list", 200, R"({"blocks":{}})", "unreachable: leaves: blocks are no list"},
        {"no JSON", 200, "x", "unreachable: leaves: no JSON"},
        {"a list", 200, "[]", "unreachable: leaves: no JSON"},
        {"failure", 500, R"({"error":"block range 2000 exceeds maximum 1000"})",
         "unreachable: HTTP 500: block range 2000 exceeds maximum 1000"},
        {"short leaf", 200, blocks(block(6, 0, {base64_of(1, 31)})), unreadable},
        {"long leaf", 200, blocks(block(6, 0, {base64_of(1, 33)})), unreadable},
        {"leaf of another type", 200, R"({"blocks":[{"height":6,"leaves":[5]}]})", unreadable},
        {"leaves no list", 200, R"({"blocks":[{"height":6,"leaves":5}]})", unreadable},
        {"height in words", 200, R"({"blocks":[{"height":"6"}]})", unreadable},
        {"no block", 200, R"({"blocks":[7]})", unreadable},
        {"below", 200, blocks(block(4, 0, {base64_of(1)})), out_of_order},
        {"above", 200, blocks(block(10, 0, {base64_of(1)})), out_of_order},
        {"twice", 200, blocks(fine + "," + fine), out_of_order},
        {"backwards", 200, blocks(block(7, 0, {base64_of(1)}) + "," + fine), out_of_order},
        {"last page", 200, next("0"), "there"},
        {"page in words", 200, next("\"7\""), no_page},
        {"page that was there already", 200, next("6"), no_page},
        {"page that does not go on", 200, R"({"blocks":[],"next_from_height":5})", no_page},
        {"page beyond", 200, next("10"), no_page},
    };
    for (const Row& row : rows) {
        CAPTURE(row.label);
        RestHarness harness(row.status, row.body);
        CHECK(missing(harness.leaves(5, 9)) == row.expected);
        CHECK(harness.stub.count() == 1);
    }
}

TEST_CASE("pages are followed to the last") {
    RestHarness harness(HttpStub::answering([](const StubRequest& request) {
        if (request.number == 1) {
            return http(
                200, R"({"blocks":[)" + block(5, 0, {base64_of(1)}) + R"(],"next_from_height":8})");
        }
        return http(200, R"({"blocks":[)" + block(8, 1, {base64_of(2)}) + "]}");
    }));
    const auto answer = harness.leaves(5, 9);
    CHECK(lines(harness.stub) == std::vector{heights(5, 9), heights(8, 9)});
    const auto* const blocks = blocks_of(answer);
    REQUIRE(blocks != nullptr);
    REQUIRE(blocks->size() == 2);
    CHECK(blocks->at(1).leaves == std::vector{filled(2)});
}

TEST_CASE("many heights are asked for page by page, from where the round began") {
    const std::string round_line = "GET /shielded-vote/v1/round/" + round_hex;
    const auto script = [&](const std::string& round) {
        return HttpStub::answering([=](const StubRequest& request) {
            if (request.line() == round_line) return http(200, round);
            return http(200, "{}");
        });
    };
    const std::string whole = R"({"round":{"created_at_height":5000}})";
    {
        RestHarness harness(script(whole));
        CHECK(missing(harness.leaves(0, 7'100)) == "there");
        CHECK(lines(harness.stub) == std::vector{round_line, heights(5'000, 6'000),
                                                 heights(6'001, 7'001), heights(7'002, 7'100)});
    }
    {
        RestHarness harness(script(whole));
        CHECK(missing(harness.leaves(6'000, 7'000)) == "there");
        CHECK(lines(harness.stub) == std::vector{heights(6'000, 7'000)});
    }
    {
        RestHarness harness(script(whole));
        CHECK(missing(harness.leaves(6'000, 7'001)) == "there");
        CHECK(lines(harness.stub) ==
              std::vector{round_line, heights(6'000, 7'000), heights(7'001, 7'001)});
    }
    {
        RestHarness harness(script(R"({"round":{}})"));
        CHECK(missing(harness.leaves(0, 1'001)) == "there");
        CHECK(lines(harness.stub) == std::vector{heights(1, 1'001)});
    }
    {
        RestHarness harness(script(R"({"round":null})"));
        CHECK(missing(harness.leaves(1, 2'000)) == "unreachable: round: none in answer");
    }
}

TEST_CASE("no heights, no question") {
    RestHarness harness(500, "");
    CHECK(missing(harness.leaves(9, 8)) == "there");
    CHECK(missing(harness.leaves(0, 0)) == "there");
    CHECK(harness.stub.count() == 0);
    constexpr auto last = ~std::uint64_t{0};
    CHECK(missing(harness.leaves(last, last)) == "unreachable: HTTP 500");
}

TEST_CASE("leaves may have 16 MiB, not more") {
    const auto padded = [](std::size_t bytes) {
        const std::string begin = R"({"note":")";
        const std::string end = R"(","blocks":[]})";
        return begin + std::string(bytes - begin.size() - end.size(), 'x') + end;
    };
    RestHarness full(200, padded(16U << 20U));
    CHECK(missing(full.leaves(1, 2)) == "there");
    RestHarness over(200, padded((16U << 20U) + 1));
    CHECK(missing(over.leaves(1, 2)) == "unreachable: answer too large");
    CHECK(missing(full.chain.latest(round_id)) == "unreachable: answer too large");
}

// A chain whose every page has no leaves, or as many, and names the next height.
HttpStub::Script endless(VirtualClock& clock, domain::Milliseconds each, int leaves) {
    return HttpStub::answering([&clock, each, leaves](const StubRequest& request) {
        clock.advance(each);
        const std::string line = request.line();
        const std::string mark = "from_height=";
        const std::size_t at = line.find(mark);
        if (at == std::string::npos) return http(200, R"({"round":{}})");
        const int from = std::stoi(line.substr(at + mark.size()));
        const auto count = static_cast<std::size_t>(leaves);
        return http(200, R"({"blocks":[)" +
                             block(from, 0, std::vector<std::string>(count, base64_of(1))) +
                             R"(],"next_from_height":)" + std::to_string(from + 1) + "}");
    });
}

TEST_CASE("pages without end are followed until the deadline, and what came is given") {
    VirtualClock clock;
    const HttpStub stub(endless(clock, domain::Milliseconds{3'000}, 0));
    chains::votes::rest::RestChain chain(vote_options(stub.url()), clock, nullptr);
    const auto answer =
        chain.leaves(round_id, {.from_height = 7,
                                .to_height = 1'000'000'000'000'000,
                                .leaves_enough = 5,
                                .deadline = clock.monotonic() + domain::Milliseconds{9'500}});
    REQUIRE(missing(answer) == "there");
    CHECK(stub.count() == 4);  // the round, then pages
    CHECK(std::get<chains::votes::tree::LeavesRead>(answer).to_height == 9);
    CHECK(std::get<chains::votes::tree::LeavesRead>(answer).blocks.empty());
}

TEST_CASE("no question is asked when no time is left") {
    RestHarness harness(200, "{}");
    const auto now = harness.clock.monotonic();
    for (const std::uint64_t to : {9U, 9'000U}) {
        CHECK(missing(harness.chain.leaves(
                  round_id,
                  {.from_height = 5, .to_height = to, .leaves_enough = 5, .deadline = now})) ==
              "unreachable: leaves: no time left");
    }
    CHECK(harness.stub.count() == 0);
}

TEST_CASE("an exchange ends with the deadline, although it might take longer") {
    RestHarness harness([](StubPeer& peer, const StubRequest&) {
        peer.hang();
        return false;
    });
    CHECK(
        missing(harness.chain.leaves(round_id, {.from_height = 5,
                                                .to_height = 9,
                                                .leaves_enough = 5,
                                                .deadline = harness.clock.monotonic() + brief})) ==
        "unreachable: no answer in 200 ms");
}

TEST_CASE("pages with leaves are followed until there are enough") {
    VirtualClock clock;
    const HttpStub stub(endless(clock, domain::Milliseconds{0}, 2));
    chains::votes::rest::RestChain chain(vote_options(stub.url()), clock, nullptr);
    const auto answer =
        chain.leaves(round_id, {.from_height = 7,
                                .to_height = 1'000,
                                .leaves_enough = 4,
                                .deadline = clock.monotonic() + domain::Milliseconds{9'500}});
    REQUIRE(missing(answer) == "there");
    CHECK(stub.count() == 3);
    CHECK(std::get<chains::votes::tree::LeavesRead>(answer).to_height == 9);
    CHECK(blocks_of(answer)->size() == 3);  // 6 leaves
}

TEST_CASE("what came before a page that fails is given") {
    RestHarness harness(HttpStub::answering([](const StubRequest& request) {
        if (request.number > 1) return http(500, "");
        return http(200,
                    R"({"blocks":[)" + block(5, 0, {base64_of(1)}) + R"(],"next_from_height":8})");
    }));
    const auto answer = harness.leaves(5, 9);
    REQUIRE(missing(answer) == "there");
    CHECK(std::get<chains::votes::tree::LeavesRead>(answer).to_height == 7);
    CHECK(missing(harness.leaves(8, 9)) == "unreachable: HTTP 500");
}

TEST_CASE("nothing is asked about blocks before the round began") {
    RestHarness harness(200, R"({"round":{"created_at_height":1000000000000000}})");
    const auto answer = harness.leaves(0, 5'000);
    REQUIRE(missing(answer) == "there");
    CHECK(std::get<chains::votes::tree::LeavesRead>(answer).to_height == 5'000);
    CHECK(harness.stub.count() == 1);
}

}  // namespace
}  // namespace support
