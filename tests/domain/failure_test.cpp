#include "domain/failure.hpp"

#include <doctest/doctest.h>

#include <array>
#include <string>
#include <string_view>

using namespace domain;

TEST_CASE("reasons are stored under their names") {
    struct Row {
        Reason reason;
        std::string_view name;
    };
    const std::array rows{
        Row{Reason::readiness_timed_out, "readiness_timed_out"},
        Row{Reason::response_timed_out, "response_timed_out"},
        Row{Reason::host_acl_refused, "host_acl_refused"},
        Row{Reason::host_acl_failed, "host_acl_failed"},
        Row{Reason::readiness_failed, "readiness_failed"},
        Row{Reason::reverted, "reverted"},
        Row{Reason::no_contract_code, "no_contract_code"},
        Row{Reason::rpc_error, "rpc_error"},
        Row{Reason::send_failed, "send_failed"},
        Row{Reason::proof_rejected, "proof_rejected"},
        Row{Reason::attempts_used_up, "attempts_used_up"},
        Row{Reason::round_over, "round_over"},
        Row{Reason::unreachable, "unreachable"},
        Row{Reason::recovered_too_often, "recovered_too_often"},
        Row{Reason::undecodable, "undecodable"},
        Row{Reason::internal_error, "internal_error"},
    };
    REQUIRE(rows.size() == static_cast<std::size_t>(Reason::internal_error) + 1);
    for (const Row& row : rows) {
        CAPTURE(row.name);
        CHECK(to_string(row.reason) == row.name);
        CHECK(reason_from(row.name) == row.reason);
    }
    CHECK_FALSE(reason_from("").has_value());
    CHECK_FALSE(reason_from("Reverted").has_value());
    CHECK_FALSE(reason_from("reverted ").has_value());
}

TEST_CASE("what an operator can do is said of missing allowance, and of nothing else") {
    const auto of = [](std::optional<std::uint32_t> selector) {
        return std::string(domain::hint_of({domain::Reason::reverted, "text", selector}));
    };
    CHECK(of(0xfb8f41b2) ==
          "the contract that takes fees may not take more: posthouse approve --amount N");
    CHECK(of(0xe450d38c).empty());
    CHECK(of(std::nullopt).empty());
}
