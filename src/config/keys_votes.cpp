#include <algorithm>
#include <string>

#include "base/text.hpp"
#include "config/keys.hpp"

namespace config {
namespace {

using namespace std::chrono_literals;

using chains::votes::ProverFormat;
using chains::votes::ProverLife;
using chains::votes::ProverType;

ValueType<std::string> bearer_token() {
    return secret_without("at most 4096 visible ASCII characters; empty: none",
                          [](std::string_view token) -> std::string_view {
                              return std::ranges::all_of(token, base::is_visible)
                                         ? ""
                                         : "holds characters that are not visible ASCII";
                          });
}

std::vector<Key> vote_chain_keys() {
    const std::string sample = "\"http://localhost:1317\"";
    return {
        hidden(without_default(
            key("helper.chain_url", url({"http", "https"}), SETTING(votes.chain_url),
                "Base URL of the vote chain's REST interface. Without a vote chain, shares go to "
                "the embedded one."),
            sample)),
        without_default(
            key("helper.chain_api_port", whole_number(1, 65'535), SETTING(votes.chain_api_port),
                "The same when the chain is on this machine: its REST port on localhost. Counts "
                "with helper.prover.type only, which the reference does not need."),
            "1317"),
        key("helper.chain_codespace", text("text, 1 to 128 bytes", 1, 128),
            SETTING(votes.chain_codespace),
            "The code space of the chain's votes: codes with another one mean other things."),
        key("helper.chain_timeout", duration(100ms, 1h), SETTING(votes.reveal_timeout),
            "The exchange that reveals a share."),
        key("helper.chain_read_timeout", duration(100ms, 1h), SETTING(votes.read_timeout),
            "Any other exchange with the chain."),
        hidden(without_default(
            key("helper.nullifier_url", url({"http", "https"}), SETTING(votes.nullifier_url),
                "Base URL of a node whose helper is on: its share-status is what ours answers. "
                "Without it ours answers `pending`."),
            sample)),
        hidden(key("helper.nullifier_token", header_secret(), SETTING(votes.nullifier_token),
                   "The X-Helper-Token of that node.")),
        key("helper.confirm_reveals", boolean(), SETTING(engine.shares.confirm_reveals),
            "Complete a share only when the node of helper.nullifier_url has seen it on the chain, "
            "not when a node has admitted it."),
        key("helper.commitment_check", boolean(), SETTING(votes.commitment_check),
            "Refuse shares whose vote is not in the tree of their round."),
    };
}

std::vector<Key> prover_keys() {
    const std::string table = "helper.prover.";
    const auto types = choice<ProverType>({{"command", ProverType::command},
                                           {"http", ProverType::http},
                                           {"loopback", ProverType::loopback}});
    const auto formats =
        choice<ProverFormat>({{"json", ProverFormat::json}, {"binary", ProverFormat::binary}});
    const auto lives =
        choice<ProverLife>({{"fresh", ProverLife::fresh}, {"pool", ProverLife::pool}});
    return {
        without_default(key(table + "type", types, SETTING(votes.prover.type),
                            "Who makes the proofs: a program, a service, or nobody (loopback: "
                            "bytes that prove nothing, for trials). Needed with helper.chain_url."),
                        "\"command\""),
        without_default(key(table + "command", texts(64, 4'096), SETTING(votes.prover.command),
                            "command: the program and its arguments."),
                        "[\"python3\", \"docs/example_prover.py\"]"),
        key(table + "format", formats, SETTING(votes.prover.format),
            "command: what goes over its standard input and output."),
        key(table + "life", lives, SETTING(votes.prover.life),
            "command: one process for each proof, or processes that stay."),
        key(table + "memory_max", whole_number(0, std::int64_t{1} << 46U),
            SETTING(votes.prover.memory_bytes_max),
            "command: most memory of one process; 0: no limit.", "bytes"),
        key(table + "pass_environment", texts(64, 256), SETTING(votes.prover.pass_environment),
            "command: variables it gets beside PATH, HOME, LANG and TMPDIR."),
        hidden(without_default(key(table + "url", url({"http", "https"}), SETTING(votes.prover.url),
                                   "http: where proofs are asked."),
                               "\"http://localhost:8080/prove\"")),
        hidden(key(table + "token", bearer_token(), SETTING(votes.prover.token),
                   "http: sent as Authorization: Bearer.")),
        key(table + "timeout", duration(10ms, 24h), SETTING(votes.prover.timeout),
            "One proof; shorter than engine.lease by a minute."),
    };
}

std::vector<Key> webhook_keys() {
    const std::string table = "helper.alert_webhook.";
    return {
        hidden(without_default(
            key(table + "url", url({"http", "https"}), SETTING(webhook.url),
                "Where a round that closed with unrevealed shares is reported, once."),
            "\"https://alerts.example.org/posthouse\"")),
        hidden(key(table + "secret", secret("text, at most 4096 bytes; empty: not signed"),
                   SETTING(webhook.secret),
                   "Key of the signature in X-Posthouse-Signature (HMAC-SHA256).")),
        key(table + "timeout", duration(100ms, 1h), SETTING(webhook.timeout), "One report."),
        key(table + "pause_max", duration(1s, 24h), SETTING(webhook.pause_max),
            "Longest pause between two tries; the first is one second."),
    };
}

}  // namespace

std::vector<Key> votes_keys() {
    return joined(
        {with_effect(Effect::needs_vote_chain, joined({vote_chain_keys(), prover_keys()})),
         webhook_keys()});
}

}  // namespace config
