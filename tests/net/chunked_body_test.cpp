#include <doctest/doctest.h>

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "net/echo_application.hpp"
#include "net/http_server.hpp"
#include "net/raw_client.hpp"
#include "net/request_reader.hpp"

namespace net {
namespace {

using namespace std::chrono_literals;

std::string chunked(std::string_view body, std::string_view path = "/echo") {
    return "POST " + std::string(path) + " HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n" +
           "\r\n" + std::string(body);
}

constexpr std::string_view last = "0\r\n\r\n";

std::string chunk(std::string_view data) {
    constexpr std::string_view digits = "0123456789abcdef";
    std::string size;
    for (std::size_t rest = data.size(); rest > 0; rest /= 16) size.insert(0, 1, digits[rest % 16]);
    return size + "\r\n" + std::string(data) + "\r\n";
}

// Bodies of the requests that were whole, then why the last one was refused.
struct Outcome {
    std::vector<std::string> bodies;
    std::optional<HttpProblem> problem;

    bool operator==(const Outcome&) const = default;
};

Outcome read(const std::vector<std::string_view>& pieces, const ReadingLimits& limits = {}) {
    ByteBudget budget(std::size_t{64} << 20U);
    RequestReader reader(limits, budget, "");
    Outcome outcome;
    for (std::string_view piece : pieces) {
        while (!piece.empty()) {
            const auto space = reader.space();
            REQUIRE_FALSE(space.empty());
            const auto bytes = piece.substr(0, space.size());
            std::ranges::copy(bytes, space.begin());
            piece.remove_prefix(bytes.size());
            reader.filled(bytes.size());
            for (auto step = reader.advance(); step != RequestReader::Step::more;
                 step = reader.advance()) {
                if (step == RequestReader::Step::request) {
                    outcome.bodies.emplace_back(reader.request().body);
                    reader.next_request();
                }
                if (step == RequestReader::Step::refused) {
                    outcome.problem = reader.problem();
                    return outcome;
                }
            }
        }
    }
    return outcome;
}

TEST_CASE("chunks are put together") {
    struct Row {
        std::string label;
        std::string raw;
        std::string body;
    };
    const std::vector<Row> rows{
        {"nothing", std::string(last), ""},
        {"one", chunk("hello") + std::string(last), "hello"},
        {"three", chunk("a") + chunk("bc") + chunk(std::string(300, 'd')) + std::string(last),
         "abc" + std::string(300, 'd')},
        {"capital digits", "A\r\n0123456789\r\n0\r\n\r\n", "0123456789"},
        {"leading zeros", "0005\r\nhello\r\n000\r\n\r\n", "hello"},
        {"extensions", "5;a;b=c;d=\"e f\"\r\nhello\r\n0;z\r\n\r\n", "hello"},
        {"a tab in an extension", "5;a=\"b\tc\"\r\nhello\r\n0\r\n\r\n", "hello"},
        {"line ends in the data", chunk("\r\n0\r\n\r\n") + std::string(last), "\r\n0\r\n\r\n"},
        {"a trailer", chunk("hello") + "0\r\nX-Sum: 1\r\nX-Other: 2\r\n\r\n", "hello"},
    };
    for (const auto& row : rows) {
        CAPTURE(row.label);
        const std::string bytes = chunked(row.raw) + chunked(chunk("next") + std::string(last));
        const Outcome expected{{row.body, "next"}, std::nullopt};
        CHECK(read({bytes}) == expected);
        for (std::size_t cut = 0; cut <= bytes.size(); ++cut) {
            CAPTURE(cut);
            const std::string_view all(bytes);
            REQUIRE(read({all.substr(0, cut), all.substr(cut)}) == expected);
        }
        std::vector<std::string_view> single;
        for (std::size_t at = 0; at < bytes.size(); ++at) {
            single.push_back(std::string_view(bytes).substr(at, 1));
        }
        CHECK(read(single) == expected);
    }
}

TEST_CASE("chunks that can not be read are refused, however they arrive") {
    struct Row {
        std::string label;
        std::string raw;
        HttpProblem problem = HttpProblem::malformed_body;
    };
    using namespace std::string_literals;
    std::string trailers = "0\r\n";
    for (int line = 0; line < 30; ++line) trailers += "X: y\r\n";
    const std::vector<Row> rows{
        {"no size", "\r\nhello\r\n"},
        {"a word for a size", "five\r\nhello\r\n"},
        {"a negative size", "-5\r\nhello\r\n"},
        {"a prefix", "0x5\r\nhello\r\n\r\n"},
        {"a space before the size", " 5\r\nhello\r\n"},
        {"a space behind the size", "5 \r\nhello\r\n"},
        {"2^64", "10000000000000000\r\nhello\r\n"},
        {"a bare line feed", "5\nhello\r\n"},
        {"a bare carriage return", "5\rhello\r\n"},
        {"more data than said", "4\r\nhello\r\n0\r\n\r\n"},
        {"less data than said", "6\r\nhello\r\n0\r\n\r\n"},
        {"an extension without a name", "5;=b\r\nhello\r\n"},
        {"a line feed in an extension", "5;a=\"\n\"\r\nhello\r\n0\r\n\r\n"},
        {"NUL in an extension", "5;a=\"\0\"\r\nhello\r\n0\r\n\r\n"s},
        {"an escape in the last extension", "0;a=\"\x1b\"\r\n\r\n"},
        {"size lines without end", "5;" + std::string(9'000, 'a')},
        {"extensions without end", chunk("x") + "1;" + std::string(3'000, 'a') + "\r\nx\r\n1;" +
                                       std::string(3'000, 'a') + "\r\nx\r\n"},
        {"a trailer that is no header", "0\r\nnonsense\r\n\r\n"},
        {"a length as a trailer", "0\r\nContent-Length: 5\r\n\r\n"},
        {"a trailer without end", "0\r\nX: " + std::string(9'000, 'a')},
        {"trailers without end", "0\r\n" + std::string(9'000, '\r')},
        {"too many trailers", trailers + "\r\n"},
        {"larger than a body", "2711\r\nhello", HttpProblem::body_too_large},
        {"the largest size there is", "ffffffffffffffff\r\nhello", HttpProblem::body_too_large},
        {"larger in all", chunk(std::string(9'000, 'a')) + "3e9\r\nhello",
         HttpProblem::body_too_large},
    };
    const ReadingLimits limits{
        .head_bytes_max = 4'096, .headers_max = 20, .body_bytes_max = 10'000};
    for (const auto& row : rows) {
        CAPTURE(row.label);
        const std::string bytes = chunked(row.raw);
        const Outcome expected{{}, row.problem};
        CHECK(read({bytes}, limits) == expected);
        std::vector<std::string_view> single;
        for (std::size_t at = 0; at < bytes.size(); ++at) {
            single.push_back(std::string_view(bytes).substr(at, 1));
        }
        CHECK(read(single, limits) == expected);
    }
    CHECK(read({chunked(chunk(std::string(10'000, 'a')) + std::string(last))}, limits).bodies ==
          std::vector{std::string(10'000, 'a')});
}

HttpOptions any_port(HttpOptions options = {}) {
    options.port = 0;
    options.workers = 2;
    return options;
}

TEST_CASE("chunked bodies are read on a connection that goes on") {
    EchoApplication application;
    HttpServer server(any_port(), application);
    server.start();
    RawClient client(server.port());
    CHECK(client.ask(chunked(chunk("he") + chunk("llo") + std::string(last)))->body ==
          "POST /echo? hello");
    std::string large;
    for (int index = 0; index < 2'000; ++index) large += chunk(std::string(1'000, 'x'));
    CHECK(client.ask(chunked(large + std::string(last), "/size"))->body == "2000000");
    CHECK(client.ask(get("/next"))->body == "GET /next? ");
    while (server.counts().bytes_buffered > 0) std::this_thread::yield();

    SUBCASE("and asked for first") {
        client.send(
            "POST /size HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n"
            "Expect: 100-continue\r\n\r\n");
        CHECK(client.answer()->status == 100);
        CHECK(client.ask(chunk("hello") + std::string(last))->body == "5");
    }
    SUBCASE("but not for a route that wants none") {
        const auto answer = client.ask(chunked(chunk("hello"), "/nowhere"));
        CHECK(answer->status == 404);
        CHECK(answer->has("Connection: close"));
        CHECK(client.ends());
    }
}

TEST_CASE("broken chunks are answered and the connection closes") {
    EchoApplication application;
    HttpServer server(any_port({.request_deadline = 200ms}), application);
    server.start();
    struct Row {
        std::string bytes;
        int status;
    };
    const std::string both =
        "POST /echo HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\n"
        "Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n";
    for (const Row& row :
         {Row{chunked("x\r\nhello\r\n"), 400}, Row{chunked("10000000000000000\r\nhello\r\n"), 400},
          Row{chunked("0\r\nX: " + std::string(40'000, 'a')), 400}, Row{both, 400},
          Row{chunked("200001\r\nhello"), 413}, Row{chunked("5\r\nhel"), 408}}) {
        CAPTURE(row.bytes.substr(0, 120));
        RawClient client(server.port());
        const auto answer = client.ask(row.bytes);
        REQUIRE(answer);
        CHECK(answer->status == row.status);
        CHECK(answer->has("X-Path: /echo\r\n"));
        CHECK(answer->has("Connection: close\r\n"));
        CHECK(client.ends());
    }
    CHECK(application.handled == 0);
}

}  // namespace
}  // namespace net
