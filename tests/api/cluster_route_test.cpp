// POST /admin/cluster/step-down.

#include "api/admin/cluster_route.hpp"

#include <optional>
#include <string>

#include <doctest/doctest.h>

namespace {

net::HttpResponse asked_to_step_down(const std::optional<std::string>& why_not) {
    const api::admin::AdminRoute route = api::admin::step_down_route([&] { return why_not; });
    CHECK(route.takes("POST", "/admin/cluster/step-down"));
    CHECK_FALSE(route.takes("GET", "/admin/cluster/step-down"));
    net::HttpRequest request;
    request.method = "POST";
    request.path = api::admin::step_down_target;
    std::optional<net::HttpResponse> answer;
    route.answer(request, [&](net::HttpResponse response) { answer = std::move(response); });
    return answer.value();
}

}  // namespace

TEST_CASE("who steps down says so, and who does not says why") {
    const net::HttpResponse done = asked_to_step_down(std::nullopt);
    CHECK(done.status == 200);
    CHECK(done.body == R"({"stepped_down":true})");

    const net::HttpResponse refused = asked_to_step_down("node a owns the book");
    CHECK(refused.status == 409);
    CHECK(refused.body == R"({"error":"node a owns the book"})");
}
