#include "commands/consent.hpp"

#include <doctest/doctest.h>

#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "commands/exit_status.hpp"

TEST_CASE("nothing is paid for unless somebody says yes, beforehand or on the terminal") {
    enum class End { goes_on, refused, needs_yes };
    struct Row {
        std::string_view label;
        bool yes;
        bool is_terminal;
        std::string typed;
        End expected;
    };
    const std::vector<Row> rows{
        {"said beforehand", true, false, "", End::goes_on},
        {"said beforehand, nobody asks", true, true, "n\n", End::goes_on},
        {"nobody there", false, false, "y\n", End::needs_yes},
        {"y", false, true, "y\n", End::goes_on},
        {"Y", false, true, "Y\n", End::goes_on},
        {"yes", false, true, "yes\n", End::goes_on},
        {"n", false, true, "n\n", End::refused},
        {"only return", false, true, "\n", End::refused},
        {"the end of the input", false, true, "", End::refused},
        {"something with y", false, true, "yet\n", End::refused},
    };
    for (const Row& row : rows) {
        CAPTURE(row.label);
        std::istringstream in(row.typed);
        std::ostringstream out;
        const auto ask = [&] {
            commands::require_consent("it costs 5", row.yes, {in, out, row.is_terminal});
        };
        switch (row.expected) {
            case End::goes_on:
                CHECK_NOTHROW(ask());
                break;
            case End::refused:
                CHECK_THROWS_WITH_AS(ask(), "nothing was sent: the answer was no",
                                     std::runtime_error);
                break;
            case End::needs_yes:
                CHECK_THROWS_WITH_AS(
                    ask(), "nothing was sent: there is no terminal to ask on; add --yes to agree",
                    commands::BadSettings);
                break;
        }
        CHECK(out.str().starts_with("it costs 5\n"));
        CHECK((out.str().find("[y/N]") != std::string::npos) == (!row.yes && row.is_terminal));
    }
}
