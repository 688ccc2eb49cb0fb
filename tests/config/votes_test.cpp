#include <doctest/doctest.h>

#include <algorithm>
#include <string>

#include "config/harness.hpp"
#include "config/settings.hpp"

using chains::votes::ProverFormat;
using chains::votes::ProverLife;
using chains::votes::ProverType;
using config_test::Outcome;

namespace {

const std::string complete = R"(
[helper]
chain_url = "http://chain.test:1317/base"
nullifier_url = "http://node.test:1317"
nullifier_token = "open"
chain_timeout = "90s"
chain_read_timeout = "3s"
chain_codespace = "shares"
confirm_reveals = true
commitment_check = true
attempts_max = 6
backoff_first = "1s"
expose_queue_status = true
expose_timing = true
[helper.prover]
type = "command"
command = ["sh", "-c", "true"]
format = "binary"
life = "pool"
memory_max = 1073741824
pass_environment = ["RUST_LOG"]
timeout = "60s"
[helper.alert_webhook]
url = "https://alerts.test/hook"
secret = "sesame"
timeout = "4s"
pause_max = "1m"
)";

}  // namespace

TEST_CASE("every key of the vote chain arrives where it is read") {
    const Outcome outcome{complete};
    CAPTURE(outcome.text());
    REQUIRE(outcome.accepted());
    const config::Settings& s = outcome.settings();
    CHECK(s.votes.base_url() == "http://chain.test:1317/base");
    CHECK(s.votes.nullifier_url == "http://node.test:1317");
    CHECK(s.votes.nullifier_token == "open");
    CHECK(s.votes.reveal_timeout == std::chrono::seconds{90});
    CHECK(s.votes.read_timeout == std::chrono::seconds{3});
    CHECK(s.votes.chain_codespace == "shares");
    CHECK(s.engine.shares.confirm_reveals);
    CHECK(s.votes.commitment_check);
    CHECK(s.engine.shares.attempts_max == 6);
    CHECK(s.engine.shares.backoff_first == std::chrono::seconds{1});
    CHECK(s.engine.shares.expose_timing);
    CHECK(s.api.share_expose_queue_status);
    CHECK(s.api.share_expose_timing);
    CHECK(s.metrics.shares);
    CHECK(s.votes.prover.type == ProverType::command);
    CHECK(s.votes.prover.command == std::vector<std::string>{"sh", "-c", "true"});
    CHECK(s.votes.prover.format == ProverFormat::binary);
    CHECK(s.votes.prover.life == ProverLife::pool);
    CHECK(s.engine.shares.prover_lead == std::chrono::seconds{5});
    CHECK(s.votes.prover.memory_bytes_max == 1'073'741'824);
    CHECK(s.votes.prover.pass_environment == std::vector<std::string>{"RUST_LOG"});
    CHECK(s.votes.prover.timeout == std::chrono::seconds{60});
    CHECK(s.webhook.url == "https://alerts.test/hook");
    CHECK(s.webhook.secret == "sesame");
    CHECK(s.webhook.timeout == std::chrono::seconds{4});
    CHECK(s.webhook.pause_max == std::chrono::minutes{1});
    CHECK(outcome.loaded().warnings.empty());
}

TEST_CASE("by default there is no vote chain, and nothing is told of the times of shares") {
    const Outcome outcome{""};
    REQUIRE(outcome.accepted());
    CHECK(outcome.settings().votes.base_url().empty());
    CHECK_FALSE(outcome.settings().api.share_expose_queue_status);
    CHECK_FALSE(outcome.settings().api.share_expose_timing);
    CHECK_FALSE(outcome.settings().metrics.shares);
    CHECK_FALSE(outcome.settings().engine.shares.expose_timing);
    CHECK(outcome.settings().engine.shares.attempts_max == 5);
    CHECK(outcome.settings().engine.shares.backoff_first == std::chrono::seconds{2});
}

TEST_CASE("a port counts with a prover, and without one it is said to have no effect") {
    const Outcome with_prover{
        "helper.chain_api_port = 1317\nhelper.prover.type = \"command\"\n"
        "helper.prover.command = [\"sh\"]"};
    REQUIRE(with_prover.accepted());
    CHECK(with_prover.settings().votes.base_url() == "http://localhost:1317");
    const Outcome alone{"helper.chain_api_port = 1317"};
    REQUIRE(alone.accepted());
    CHECK(alone.settings().votes.base_url().empty());
    CHECK(alone.text().find("settings_without_effect reason=\"there is no vote chain") !=
          std::string::npos);
}

TEST_CASE("who names a part of a vote chain gets no trial chain for real votes") {
    for (const std::string part :
         {"helper.chain_api_port = 1317", "helper.nullifier_url = \"http://node.test\"",
          "helper.prover.type = \"loopback\"", "helper.commitment_check = false",
          "helper.chain_timeout = \"3m\""}) {
        CAPTURE(part);
        const Outcome outcome{part};
        REQUIRE(outcome.accepted());
        CHECK(outcome.settings().api.share_disable);
        CHECK(outcome.text().find("vote_shares_off hint=") != std::string::npos);
    }
    for (const std::string other : {"", "helper.max_concurrent_proofs = 3",
                                    "helper.alert_webhook.url = \"http://alerts.test\""}) {
        CAPTURE(other);
        CHECK_FALSE(Outcome{other}.settings().api.share_disable);
    }
}

TEST_CASE("the address of a chain holds nothing of its interface") {
    const auto refusal = [](const std::string& url) {
        return Outcome{"helper.prover.type = \"loopback\"\nhelper.chain_url = \"" + url + "\""}
            .text();
    };
    const std::string allowed =
        "; allowed: http://HOST:PORT or https://HOST:PORT, with a path before /shielded-vote/v1 if "
        "there is one\n";
    CHECK(refusal("http://h/?x=1") ==
          "FILE:2: helper.chain_url: has a query or a fragment" + allowed);
    CHECK(refusal("http://h/#f") ==
          "FILE:2: helper.chain_url: has a query or a fragment" + allowed);
    CHECK(refusal("http://h/shielded-vote/v1") ==
          "FILE:2: helper.chain_url: has the path of the interface in it" + allowed);
    CHECK(Outcome{"helper.prover.type = \"loopback\"\nhelper.chain_url = \"http://h/vote/\""}
              .accepted());
}

TEST_CASE("a prover that can not be executed is found before the start") {
    const std::string chain =
        "helper.chain_url = \"http://chain.test\"\nhelper.prover.type = \"command\"\n";
    const std::string allowed =
        "; allowed: a program that this user may execute, by its path or in PATH\n";
    CHECK(Outcome{chain + "helper.prover.command = [\"/nowhere/prover\"]"}.text() ==
          "FILE:3: helper.prover.command: prover command \"/nowhere/prover\" is not found" +
              allowed);
    CHECK(Outcome{chain + "helper.prover.command = [\"/tmp\"]"}.text() ==
          "FILE:3: helper.prover.command: prover command \"/tmp\" may not be executed" + allowed);
}

TEST_CASE("a vote chain needs a prover that is complete") {
    const std::string chain = "helper.chain_url = \"http://chain.test\"\n";
    CHECK(
        Outcome{chain}.text() ==
        "FILE:1: helper.chain_url: needs helper.prover.type beside it; allowed: command, http, or "
        "loopback for bytes that prove nothing\n");
    CHECK(Outcome{chain + "helper.prover.type = \"command\""}.text() ==
          "FILE:2: helper.prover.type: there is no program in helper.prover.command; allowed: a "
          "list that begins with a program\n");
    CHECK(
        Outcome{chain + "helper.prover.type = \"http\""}.text() ==
        "FILE:2: helper.prover.type: needs helper.prover.url beside it; allowed: an http or https "
        "URL\n");
    CHECK(Outcome{chain + "helper.disable = true"}.accepted());
}

TEST_CASE("field 88: reveals are confirmed only where somebody can be asked, and off is said") {
    const std::string chain =
        "[helper]\nchain_url = \"http://chain.test:1317\"\nprover.type = \"loopback\"\n";
    const std::string node = "nullifier_url = \"http://node.test:1317\"\n";
    const std::string on = "confirm_reveals = true\n";
    const auto is_noted = [](const Outcome& outcome) {
        return std::ranges::any_of(outcome.loaded().notes, [](const std::string& note) {
            return note.starts_with("reveals_unconfirmed ");
        });
    };
    for (const std::string& text :
         {chain, chain + node, chain + node + "confirm_reveals = false"}) {
        const Outcome off{text};
        REQUIRE(off.accepted());
        CHECK_FALSE(off.settings().engine.shares.confirm_reveals);
        CHECK(is_noted(off));
    }
    const Outcome confirmed{chain + node + on};
    REQUIRE(confirmed.accepted());
    CHECK(confirmed.settings().engine.shares.confirm_reveals);
    CHECK_FALSE(is_noted(confirmed));

    const Outcome alone{chain + on};
    REQUIRE_FALSE(alone.accepted());
    CHECK(alone.text().find("helper.confirm_reveals: needs helper.nullifier_url beside it") !=
          std::string::npos);

    // Without a chain of their own shares have nobody who is asked.
    for (const std::string& text : {"[helper]\n" + on, "[helper]\ndisable = true\n" + on}) {
        const Outcome nowhere{text};
        REQUIRE(nowhere.accepted());
        CHECK_FALSE(nowhere.settings().engine.shares.confirm_reveals);
        CHECK_FALSE(is_noted(nowhere));
    }
}

TEST_CASE("proofs and reveals end before their lease does") {
    const std::string chain =
        "helper.chain_url = \"http://chain.test\"\nhelper.prover.type = \"loopback\"\n";
    CHECK(Outcome{chain + "helper.prover.timeout = \"9m 1s\""}.text() ==
          "FILE:3: helper.prover.timeout: a proof may take 541s, engine.lease is 10m; allowed: a "
          "minute less than engine.lease\n");
    CHECK(Outcome{chain + "helper.chain_timeout = \"10m\""}.text() ==
          "FILE:3: helper.chain_timeout: a reveal may take 10m, engine.lease is 10m; allowed: a "
          "minute less than engine.lease\n");
    CHECK(Outcome{chain + "engine.lease = \"3m\""}.errors().size() == 1);
    CHECK(Outcome{"helper.chain_timeout = \"10m\""}.accepted());
}

TEST_CASE("a prover that proves nothing is pointed out") {
    const Outcome outcome{
        "helper.chain_url = \"http://chain.test\"\nhelper.prover.type = \"loopback\""};
    REQUIRE(outcome.accepted());
    CHECK(outcome.text().find("prover_proves_nothing") != std::string::npos);
}

TEST_CASE("beside a real gateway shares are served when they have a chain") {
    CHECK(Outcome{"helper.prover.command = []"}.accepted());
    CHECK(Outcome{"helper.prover.command = [\"a\", 1]"}.errors().size() == 1);
    CHECK(Outcome{"helper.prover.command = [\"\"]"}.errors().size() == 1);
    CHECK(Outcome{"helper.prover.command = \"prover\""}.errors().size() == 1);
}

TEST_CASE("nothing secret of the vote chain is shown") {
    const Outcome wrong{
        "helper.chain_url = \"ftp://user:hunter2@chain.test\"\n"
        "helper.alert_webhook.url = \"htp://alerts.test/hunter2\"\n"
        "helper.prover.url = \"hunter2\"\nhelper.prover.token = 7\n"};
    CHECK(wrong.errors().size() == 4);
    CHECK(wrong.text().find("hunter2") == std::string::npos);
}
