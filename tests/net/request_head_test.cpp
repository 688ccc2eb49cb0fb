#include "net/request_head.hpp"

#include <doctest/doctest.h>

#include <random>
#include <string>
#include <vector>

namespace net {
namespace {

// As a connection reads it: HeadEnd first.
RequestHead read(std::string_view bytes, const ReadingLimits& limits = {}) {
    RequestHead head;
    HeadEnd end;
    static_cast<void>(end.find(bytes));
    read_head(bytes, limits, head);
    if (end.malformed()) head.head_problem = HttpProblem::malformed_head;
    return head;
}

std::string with_headers(std::string_view headers) {
    return "POST /v2/x HTTP/1.1\r\nHost: h\r\n" + std::string(headers) + "\r\n";
}

TEST_CASE("a head is taken apart") {
    const std::string bytes =
        "POST /v2/input-proof?a=1&b HTTP/1.1\r\nHost: localhost:3000\r\nContent-Length: 12\r\n"
        "X-Empty:\r\nx-api-KEY: \t two words \t\r\n\r\n";
    const auto head = read(bytes);
    REQUIRE_FALSE(head.head_problem);
    REQUIRE_FALSE(head.body_problem);
    CHECK(head.request.method == "POST");
    CHECK(head.request.target == "/v2/input-proof?a=1&b");
    CHECK(head.request.path == "/v2/input-proof");
    CHECK(head.request.query == "a=1&b");
    CHECK(head.request.headers.size() == 4);
    CHECK(head.request.header("X-API-Key") == "two words");
    CHECK(head.request.header("x-empty") == "");
    CHECK_FALSE(head.request.header("x-missing"));
    CHECK(head.body_bytes == 12);
    CHECK(head.keep_alive);
    CHECK_FALSE(head.continue_expected);
}

TEST_CASE("forms of a target") {
    struct Row {
        std::string_view target;
        std::string_view path;
        std::string_view query;
    };
    const std::vector<Row> rows{
        {"/", "/", ""},
        {"/a%20b?c=%00", "/a%20b", "c=%00"},
        {"/a?b?c", "/a", "b?c"},
        {"//double", "//double", ""},
        {"http://host/a/b?c", "/a/b", "c"},
        {"HTTP://host:80", "/", ""},
        {"https://host?q", "/", "q"},
        {"*", "*", ""},
    };
    for (const auto& row : rows) {
        CAPTURE(row.target);
        const std::string bytes = "GET " + std::string(row.target) + " HTTP/1.1\r\nHost: h\r\n\r\n";
        const auto head = read(bytes);
        REQUIRE_FALSE(head.head_problem);
        CHECK(head.request.path == row.path);
        CHECK(head.request.query == row.query);
    }
}

TEST_CASE("heads that two readers could understand differently are refused") {
    using namespace std::string_literals;
    struct Row {
        std::string label;
        std::string bytes;
        HttpProblem problem = HttpProblem::malformed_head;
    };
    const std::vector<Row> rows{
        {"nothing", "\r\n"},
        {"no target", "GET\r\n\r\n"},
        {"no version", "GET /\r\n\r\n"},
        {"empty target", "GET  HTTP/1.1\r\nHost: h\r\n\r\n"},
        {"two spaces", "GET /  HTTP/1.1\r\nHost: h\r\n\r\n"},
        {"space in target", "GET /a b HTTP/1.1\r\nHost: h\r\n\r\n"},
        {"relative target", "GET a HTTP/1.1\r\nHost: h\r\n\r\n"},
        {"authority target", "CONNECT host:80 HTTP/1.1\r\nHost: h\r\n\r\n"},
        {"method with brackets", "G(T / HTTP/1.1\r\nHost: h\r\n\r\n"},
        {"NUL in method", "G\0T / HTTP/1.1\r\nHost: h\r\n\r\n"s},
        {"NUL in target", "GET /\0 HTTP/1.1\r\nHost: h\r\n\r\n"s},
        {"tab in target", "GET /\t HTTP/1.1\r\nHost: h\r\n\r\n"},
        {"word for a version", "GET / FTP/1.1\r\nHost: h\r\n\r\n"},
        {"lower case version", "GET / http/1.1\r\nHost: h\r\n\r\n"},
        {"version 2", "GET / HTTP/2.0\r\nHost: h\r\n\r\n", HttpProblem::version_unsupported},
        {"version 1.2", "GET / HTTP/1.2\r\nHost: h\r\n\r\n", HttpProblem::version_unsupported},
        {"no host", "GET / HTTP/1.1\r\n\r\n"},
        {"two hosts", with_headers("Host: other\r\n")},
        {"no colon", with_headers("Header\r\n")},
        {"no name", with_headers(": value\r\n")},
        {"space before colon", with_headers("Content-Length : 1\r\n")},
        {"folded header", with_headers("A: b\r\n c\r\n")},
        {"NUL in name", with_headers("A\0: b\r\n"s)},
        {"NUL in value", with_headers("A: b\0\r\n"s)},
        {"carriage return in value", with_headers("A: b\rc\r\n")},
        {"length twice", with_headers("Content-Length: 1\r\nContent-Length: 1\r\n")},
        {"two lengths", with_headers("Content-Length: 1\r\ncontent-length: 2\r\n")},
        {"length as list", with_headers("Content-Length: 1, 1\r\n")},
        {"negative length", with_headers("Content-Length: -1\r\n")},
        {"signed length", with_headers("Content-Length: +1\r\n")},
        {"hex length", with_headers("Content-Length: 0x10\r\n")},
        {"length with a word", with_headers("Content-Length: 1 byte\r\n")},
        {"empty length", with_headers("Content-Length: \r\n")},
        {"chunks and a length",
         with_headers("Content-Length: 3\r\nTransfer-Encoding: chunked\r\n")},
        {"a length and chunks",
         with_headers("Transfer-Encoding: chunked\r\nContent-Length: 3\r\n")},
        {"a length and another coding",
         with_headers("Transfer-Encoding: gzip\r\nContent-Length: 3\r\n")},
        {"chunks, said twice",
         with_headers("Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n")},
        {"another coding, then chunks",
         with_headers("Transfer-Encoding: x\r\nTransfer-Encoding: chunked\r\n")},
        {"two other codings", with_headers("Transfer-Encoding: x\r\nTransfer-Encoding: y\r\n")},
        {"chunks of HTTP/1.0", "POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n"},
        {"unknown expectation", with_headers("Expect: miracles\r\n"),
         HttpProblem::expectation_unsupported},
    };
    for (const auto& row : rows) {
        CAPTURE(row.label);
        const auto head = read(row.bytes);
        REQUIRE(head.head_problem);
        CHECK(*head.head_problem == row.problem);
    }
}

TEST_CASE("bodies that must not be read") {
    struct Row {
        std::string label;
        std::string headers;
        std::optional<HttpProblem> problem;
    };
    const std::vector<Row> rows{
        {"none", "", std::nullopt},
        {"largest", "Content-Length: 1000\r\n", std::nullopt},
        {"too large", "Content-Length: 1001\r\n", HttpProblem::body_too_large},
        {"2^64", "Content-Length: 18446744073709551616\r\n", HttpProblem::body_too_large},
        {"40 digits", "Content-Length: " + std::string(40, '9') + "\r\n",
         HttpProblem::body_too_large},
        {"chunked", "Transfer-Encoding: Chunked\r\n", std::nullopt},
        {"chunked twice over", "Transfer-Encoding: gzip, chunked\r\n",
         HttpProblem::transfer_encoding},
        {"identity transfer", "Transfer-Encoding: identity\r\n", HttpProblem::transfer_encoding},
        {"gzip", "Content-Encoding: gzip\r\n", HttpProblem::content_encoding},
        {"twice", "Content-Encoding: identity\r\nContent-Encoding: br\r\n",
         HttpProblem::content_encoding},
        {"identity", "Content-Encoding: Identity\r\n", std::nullopt},
    };
    for (const auto& row : rows) {
        CAPTURE(row.label);
        const auto bytes = with_headers(row.headers);
        const auto head = read(bytes, {.body_bytes_max = 1000});
        // A length beyond all numbers is found out while the headers are read.
        const auto problem = head.head_problem ? head.head_problem : head.body_problem;
        CHECK(problem == row.problem);
    }
}

TEST_CASE("who keeps the connection") {
    struct Row {
        std::string version;
        std::string header;
        bool keep_alive;
    };
    const std::vector<Row> rows{
        {"1.1", "", true},
        {"1.1", "Connection: close\r\n", false},
        {"1.1", "connection: Foo, CLOSE\r\n", false},
        {"1.1", "Connection: keep-alive\r\n", true},
        {"1.1", "Connection: keep-alive\r\nConnection: close\r\n", false},
        {"1.0", "", false},
        {"1.0", "Connection: Keep-Alive\r\n", true},
        {"1.0", "Connection: keep-alive, close\r\n", false},
    };
    for (const auto& row : rows) {
        CAPTURE(row.version);
        CAPTURE(row.header);
        const auto bytes = "GET / HTTP/" + row.version + "\r\nHost: h\r\n" + row.header + "\r\n";
        CHECK(read(bytes).keep_alive == row.keep_alive);
    }
}

TEST_CASE("only so many headers are read") {
    const auto bytes = with_headers("A: 1\r\nB: 2\r\n");
    CHECK_FALSE(read(bytes, {.headers_max = 3}).head_problem);
    CHECK(read(bytes, {.headers_max = 2}).head_problem == HttpProblem::headers_too_many);
}

TEST_CASE("a broken head still names its route") {
    CHECK(read("POST /v2/x HTTP/1.1\r\nHo").request.path == "/v2/x");
    CHECK(read("POST /v2/x").request.path == "/v2/x");
    CHECK(read("PO").request.path.empty());
}

TEST_CASE("damaged heads are read without stepping outside them") {
    const std::string whole =
        "POST /v2/x?a=b HTTP/1.1\r\nHost: h\r\nContent-Length: 12\r\nConnection: keep-alive, "
        "close\r\nExpect: 100-continue\r\nContent-Encoding: identity\r\n\r\n";
    const std::string_view spice("\r\n\0 :,;?/\t\xff\x7f-9a", 16);
    std::minstd_rand random(20'260'727);
    const auto below = [&](std::size_t bound) { return std::size_t{random()} % bound; };
    RequestHead head;
    for (int round = 0; round < 20'000; ++round) {
        std::string bytes = whole;
        for (std::size_t damages = 1 + below(4); damages > 0; --damages) {
            const std::size_t at = below(bytes.size());
            const char character = spice[below(spice.size())];
            switch (below(4)) {
                case 0:
                    bytes[at] = character;
                    break;
                case 1:
                    bytes.insert(at, 1, character);
                    break;
                case 2:
                    bytes.erase(at, 1 + below(8));
                    break;
                case 3:
                    bytes.insert(at, bytes.substr(below(bytes.size()), below(40)));
                    break;
            }
        }
        CAPTURE(round);
        CAPTURE(bytes);
        HeadEnd end;
        const auto head_bytes = end.find(bytes);
        const bool bounded = !head_bytes || *head_bytes <= bytes.size();
        REQUIRE(bounded);
        // A copy of the exact size, so that a step outside is seen by the address sanitizer.
        const std::vector<char> exact(
            bytes.begin(),
            bytes.begin() + static_cast<std::ptrdiff_t>(head_bytes.value_or(bytes.size())));
        read_head({exact.data(), exact.size()}, {}, head);
        if (head.head_problem) continue;
        const bool read = !head.request.method.empty() && !head.request.path.empty() &&
                          head.request.headers.size() <= 100;
        REQUIRE(read);
    }
}

TEST_CASE("the end of a head is found however it arrives") {
    const std::string bytes = "GET / HTTP/1.1\r\nHost: h\r\n\r\nbody\r\n\r\n";
    const std::size_t head_bytes = bytes.find("body");
    for (std::size_t step = 1; step <= bytes.size(); ++step) {
        CAPTURE(step);
        HeadEnd end;
        std::optional<std::size_t> found;
        for (std::size_t size = 0; size <= bytes.size() && !found; size += step) {
            found = end.find(std::string_view(bytes).substr(0, size));
        }
        if (!found) found = end.find(bytes);
        CHECK(found == head_bytes);
    }

    for (const std::string_view bare :
         {"GET / HTTP/1.1\nHost: h\n\n", "\n", "GET / HTTP/1.1\r\n\n",
          "GET / HTTP/1.1\r\nHost: h\r\n folded\r\n", "GET / HTTP/1.1\r\n\tfolded\r\n"}) {
        CAPTURE(bare);
        HeadEnd end;
        CHECK_FALSE(end.find(bare));
        CHECK(end.malformed());
    }
}

}  // namespace
}  // namespace net
