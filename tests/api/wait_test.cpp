#include "api/wait.hpp"

#include <doctest/doctest.h>

#include <optional>
#include <string_view>
#include <vector>

namespace {

using std::chrono::seconds;

api::Wait read(std::string_view query, std::vector<std::string_view> preferences = {}) {
    net::HttpRequest request;
    request.query = query;
    for (const std::string_view value : preferences) request.headers.push_back({"prefer", value});
    return api::read_wait(request, seconds{60});
}

}  // namespace

TEST_CASE("a poll says how long it wants to wait, in its query or as a preference") {
    struct Row {
        std::string_view query;
        std::vector<std::string_view> preferences;
        std::optional<seconds> wait;
    };
    const Row rows[] = {
        {"", {}, {}},
        {"wait=20s", {}, seconds{20}},
        {"wait=20", {}, seconds{20}},
        {"wait=0", {}, {}},
        {"wait=60s", {}, seconds{60}},
        {"x=1&wait=5&y", {}, seconds{5}},
        {"waits=5", {}, {}},
        {"xwait=5", {}, {}},
        {"", {"wait=7"}, seconds{7}},
        {"", {"respond-async, wait=7"}, seconds{7}},
        {"", {"handling=lenient", "Wait = 7; x"}, seconds{7}},
        {"", {"wait=600"}, seconds{60}},
        {"", {"wait=99999999999999999999"}, seconds{60}},
        {"", {"wait"}, {}},
        {"", {"wait=soon"}, {}},
        {"", {"wait=-1"}, {}},
        {"", {"wait=\"7\""}, {}},
        {"", {"respond-async"}, {}},
        {"wait=3", {"wait=7"}, seconds{3}},
        {"wait=0", {"wait=7"}, {}},
    };
    for (const Row& row : rows) {
        CAPTURE(row.query);
        const api::Wait wait = read(row.query, row.preferences);
        REQUIRE(std::holds_alternative<std::optional<seconds>>(wait));
        CHECK(std::get<std::optional<seconds>>(wait) == row.wait);
    }
}

TEST_CASE("a query that can not be read is refused and says what may stand there") {
    for (const std::string_view query :
         {"wait=", "wait", "wait=s", "wait=61", "wait=61s", "wait=-1", "wait=1.5", "wait=20ms",
          "wait=4294967296", "wait=18446744073709551615s", "wait=%32", "wait=+5", "wait= 5"}) {
        CAPTURE(query);
        const api::Wait wait = read(query);
        REQUIRE(std::holds_alternative<api::ApiError>(wait));
        const auto& api_error = std::get<api::ApiError>(wait);
        CHECK(api_error.status == 400);
        CHECK(api_error.label == "validation_failed");
        REQUIRE(api_error.details.size() == 1);
        CHECK(api_error.details[0].field == "wait");
        CHECK(api_error.details[0].issue == "Must be whole seconds from 0 to 60, such as 20s");
    }
}
