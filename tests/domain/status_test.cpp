#include "domain/status.hpp"

#include <doctest/doctest.h>

#include <string_view>

using namespace domain;

TEST_CASE("statuses have names, an end and a way back from their names") {
    struct Row {
        Status status;
        std::string_view name;
        bool terminal;
    };
    const std::array rows{
        Row{Status::queued, "queued", false},
        Row{Status::processing, "processing", false},
        Row{Status::tx_in_flight, "tx_in_flight", false},
        Row{Status::receipt_received, "receipt_received", false},
        Row{Status::completed, "completed", true},
        Row{Status::timed_out, "timed_out", true},
        Row{Status::failure, "failure", true},
    };
    REQUIRE(rows.size() == statuses.size());
    for (const Row& row : rows) {
        CAPTURE(row.name);
        CHECK(to_string(row.status) == row.name);
        CHECK(status_from(row.name) == row.status);
        CHECK(is_terminal(row.status) == row.terminal);
    }
}

TEST_CASE("what is no status' name names no status") {
    for (const std::string_view text : {"", "Queued", "queued ", "failed", "tx-in-flight"}) {
        CAPTURE(text);
        CHECK_FALSE(status_from(text).has_value());
    }
}
