#include "commands/drill/report.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

using namespace commands::drill;

namespace {

Report good_report() {
    Report report;
    report.seed = 7;
    report.rounds = 18;
    report.directory = "/var/lib/posthouse";
    report.counts.accepted = 1'200;
    report.counts.completed = 1'199;
    report.counts.failed = 1;
    report.counts.shares = 300;
    report.kills_under_load = 18;
    report.kills_during_start = 4;
    report.pauses = 5;
    report.full_disk.times = 1;
    report.clock_steps.not_tried = "it is so";
    report.restart = {18, 40, 71.5, 71.5};
    report.commit_idle = {100, 1.25, 3, 4};
    report.flush_verdict = {FlushVerdict::Trust::plausible, "1000 flushes a second (sda)"};
    return report;
}

}  // namespace

TEST_CASE("the verdict is one line that begins with good or bad") {
    struct Row {
        std::string_view label;
        std::function<void(Report&)> change;
        std::string expected;
    };
    const std::string bad_end = "; do not trust this machine with requests before you know why";
    const std::string good = "good: all 1200 promises were kept, none twice and none early";
    const std::vector<Row> rows{
        {"all well", [](Report&) {}, good},
        {"nothing", [](Report& r) { r.counts = {}; },
         "bad: nothing was accepted, so nothing was tested"},
        {"lost", [](Report& r) { r.counts.lost = 1; }, "bad: 1 lost" + bad_end},
        {"all of it",
         [](Report& r) {
             r.counts.lost = 2;
             r.counts.included_twice = 3;
             r.counts.early_shares = 4;
             r.counts.violations.assign(5, "odd");
         },
         "bad: 2 lost, 3 included twice, 4 revealed too early, 5 otherwise wrong" + bad_end},
        {"lost, and doubtful flushes",
         [](Report& r) {
             r.counts.lost = 1;
             r.flush_verdict.trust = FlushVerdict::Trust::doubtful;
         },
         "bad: 1 lost" + bad_end},
        {"doubtful flushes",
         [](Report& r) { r.flush_verdict.trust = FlushVerdict::Trust::doubtful; },
         good + "; but flushes are doubtful, so a power cut may take what was promised"},
        {"flushes nobody sees",
         [](Report& r) { r.flush_verdict.trust = FlushVerdict::Trust::not_seen; }, good},
        {"no transaction on the chain", [](Report& r) { r.chain.emplace(); },
         good + "; but no transaction reached the chain, so not much was tested: see posthouse "
                "doctor"},
        {"relaxed", [](Report& r) { r.power_cut_safe = false; },
         good + "; but storage.synchronous is normal, so a power cut may take the newest"},
    };
    for (const Row& row : rows) {
        CAPTURE(row.label);
        Report report = good_report();
        row.change(report);
        CHECK(verdict_of(report) == row.expected);
    }
}

TEST_CASE("a drill on a chain says where it was, what it sent, and what that cost") {
    Report report = good_report();
    CHECK(as_text(report).find("chain: ") == std::string::npos);
    CHECK_FALSE(nlohmann::json::parse(as_json(report)).contains("chain"));
    report.chain = ChainFigures{.chain_id = 8'009,
                                .signer = {0xaa},
                                .requests_max = 30,
                                .first_block = 17,
                                .last_block = 40,
                                .nonce_before = 5,
                                .nonce_after = 27,
                                .transactions = 22,
                                .reverted = 1,
                                .fillers = 2,
                                .waiting = 20,
                                .gas_used = 1'234'567,
                                .fees = 1'234'567'000'000'000};
    const std::string text = as_text(report);
    CAPTURE(text);
    const std::string signer = "0xaa00000000000000000000000000000000000000";
    for (const std::string& line :
         {std::string("chain: 8009, blocks 17 to 40\n"),
          "signer: " + signer + ", nonces from 5 up to 27\n",
          std::string("transactions: 22 (1 reverted, 2 without content)\n"),
          std::string("waiting for the chain: 20\n"),
          std::string("fees: 0.001234567 for 1234567 gas\n")}) {
        CAPTURE(line);
        CHECK(text.find(line) != std::string::npos);
    }
    const auto chain = nlohmann::json::parse(as_json(report)).at("chain");
    CHECK(chain.at("chain_id") == 8'009);
    CHECK(chain.at("signer") == signer);
    CHECK(chain.at("requests_max") == 30);
    CHECK(chain.at("first_block") == 17);
    CHECK(chain.at("last_block") == 40);
    CHECK(chain.at("nonce_before") == 5);
    CHECK(chain.at("nonce_after") == 27);
    CHECK(chain.at("transactions") == 22);
    CHECK(chain.at("reverted") == 1);
    CHECK(chain.at("without_content") == 2);
    CHECK(chain.at("waiting") == 20);
    CHECK(chain.at("gas_used") == 1'234'567);
    CHECK(chain.at("fees_ether") == "0.001234567");
}

TEST_CASE("the text of a report says each figure on a line and ends with the verdict") {
    Report report = good_report();
    report.counts.violations.assign(22, "odd\nthing");
    const std::string text = as_text(report);
    CAPTURE(text);
    for (const std::string_view line :
         {"drill: 18 rounds, seed 7, in /var/lib/posthouse\n",
          "accepted: 1200 (1199 completed, 1 failed; asked again 0, told to come later 0, not "
          "answered 0)\n",
          "lost: 0\n", "included twice: 0\n", "early shares: 0 of 300\n", "violations: 22\n  odd",
          "  and 2 more\n", "kill -9: 18 under load, 4 during the start\n",
          "stopped for a while: 5\n", "full disk: tried, on a small disk in memory\n",
          "clock steps: not tried, because it is so\n",
          "restart to ready: 40 ms (p50), 72 ms (p99), 72 ms (max) of 18\n",
          "commit latency, idle: 1.25 ms (p50), 3.00 ms (p99), 4.00 ms (max) of 100\n",
          "commit latency, under load: not measured\n",
          "does the disk flush: 1000 flushes a second (sda)\n"}) {
        CAPTURE(line);
        CHECK(text.find(line) != std::string::npos);
    }
    CHECK(text.ends_with("verdict: " + verdict_of(report) + "\n"));
    CHECK(std::ranges::count(text, '\n') == 16 + 21);
}

TEST_CASE("the object of a report says the same") {
    Report report = good_report();
    report.counts.violations = {"odd \xff"};
    const std::string text = as_json(report);
    CHECK(text.ends_with("}\n"));
    CHECK(std::ranges::count(text, '\n') == 1);
    const auto json = nlohmann::json::parse(text);
    CHECK(json.at("seed") == 7);
    CHECK(json.at("rounds") == 18);
    CHECK(json.at("directory") == "/var/lib/posthouse");
    CHECK(json.at("accepted") == 1'200);
    CHECK(json.at("completed") == 1'199);
    CHECK(json.at("failed") == 1);
    CHECK(json.at("lost") == 0);
    CHECK(json.at("included_twice") == 0);
    CHECK(json.at("early_shares") == 0);
    CHECK(json.at("violations").size() == 1);
    CHECK(json.at("full_disk").at("tried") == true);
    CHECK(json.at("clock_steps").at("tried") == false);
    CHECK(json.at("clock_steps").at("because") == "it is so");
    CHECK(json.at("restart_ms").at("p99") == 71.5);
    CHECK(json.at("restart_ms").at("count") == 18);
    CHECK(json.at("commit_load_ms").is_null());
    CHECK(json.at("flush") == "plausible");
    CHECK(json.at("good") == false);
    CHECK(json.at("verdict") == verdict_of(report));
}
