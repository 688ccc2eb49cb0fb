#include <string>
#include <utility>

#include "config/keys.hpp"

namespace config {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::seconds;

using chains::votes::ProverFormat;
using chains::votes::ProverLife;
using chains::votes::ProverType;

Key of_votes(Key key) {
    key.effect = Effect::needs_vote_chain;
    return key;
}

// Without a default: `sample` stands in the example.
Key without_default(Key key, std::string sample) {
    key.show = nullptr;
    key.sample = std::move(sample);
    return key;
}

void add_chain(std::vector<Key>& all) {
    all.push_back(hidden(of_votes(without_default(
        key(
            "helper.chain_url", url({"http", "https"}),
            [](auto& s) -> auto& { return s.votes.chain_url; },
            "Base URL of the vote chain's REST interface. Without a vote chain, shares go to the "
            "embedded one."),
        "\"http://localhost:1317\""))));
    all.push_back(of_votes(without_default(
        key(
            "helper.chain_api_port", whole_number(1, 65'535),
            [](auto& s) -> auto& { return s.votes.chain_api_port; },
            "The same when the chain is on this machine: its REST port on localhost. Counts with "
            "helper.prover.type only, which the reference does not need."),
        "1317")));
    all.push_back(of_votes(key(
        "helper.chain_timeout", duration(milliseconds{100}, hours{1}),
        [](auto& s) -> auto& { return s.votes.reveal_timeout; },
        "The exchange that reveals a share.")));
    all.push_back(of_votes(key(
        "helper.chain_read_timeout", duration(milliseconds{100}, hours{1}),
        [](auto& s) -> auto& { return s.votes.read_timeout; },
        "Any other exchange with the chain.")));
    all.push_back(hidden(of_votes(without_default(
        key(
            "helper.nullifier_url", url({"http", "https"}),
            [](auto& s) -> auto& { return s.votes.nullifier_url; },
            "Base URL of a node whose helper is on: its share-status is what ours answers. Without "
            "it ours answers `pending`."),
        "\"http://localhost:1317\""))));
    all.push_back(hidden(of_votes(key(
        "helper.nullifier_token", secret("text, at most 4096 bytes; empty: none"),
        [](auto& s) -> auto& { return s.votes.nullifier_token; },
        "The X-Helper-Token of that node."))));
    all.push_back(of_votes(key(
        "helper.commitment_check", boolean(),
        [](auto& s) -> auto& { return s.votes.commitment_check; },
        "Refuse shares whose vote is not in the tree of their round.")));
}

void add_prover(std::vector<Key>& all) {
    const std::string table = "helper.prover.";
    all.push_back(of_votes(without_default(
        key(
            table + "type",
            choice<ProverType>({{"command", ProverType::command},
                                {"http", ProverType::http},
                                {"loopback", ProverType::loopback}}),
            [](auto& s) -> auto& { return s.votes.prover.type; },
            "Who makes the proofs: a program, a service, or nobody (loopback: bytes that prove "
            "nothing, for trials). Needed with helper.chain_url."),
        "\"command\"")));
    all.push_back(
        of_votes(without_default(key(
                                     table + "command", texts(64, 4'096),
                                     [](auto& s) -> auto& { return s.votes.prover.command; },
                                     "command: the program and its arguments."),
                                 "[\"python3\", \"docs/example_prover.py\"]")));
    all.push_back(of_votes(key(
        table + "format",
        choice<ProverFormat>({{"json", ProverFormat::json}, {"binary", ProverFormat::binary}}),
        [](auto& s) -> auto& { return s.votes.prover.format; },
        "command: what goes over its standard input and output.")));
    all.push_back(of_votes(key(
        table + "life",
        choice<ProverLife>({{"fresh", ProverLife::fresh}, {"pool", ProverLife::pool}}),
        [](auto& s) -> auto& { return s.votes.prover.life; },
        "command: one process for each proof, or processes that stay.")));
    all.push_back(of_votes(key(
        table + "memory_max", whole_number(0, std::int64_t{1} << 46U),
        [](auto& s) -> auto& { return s.votes.prover.memory_bytes_max; },
        "command: most memory of one process; 0: no limit.", "bytes")));
    all.push_back(of_votes(key(
        table + "pass_environment", texts(64, 256),
        [](auto& s) -> auto& { return s.votes.prover.pass_environment; },
        "command: variables it gets beside PATH, HOME, LANG and TMPDIR.")));
    all.push_back(hidden(of_votes(without_default(
        key(
            table + "url", url({"http", "https"}),
            [](auto& s) -> auto& { return s.votes.prover.url; }, "http: where proofs are asked."),
        "\"http://localhost:8080/prove\""))));
    all.push_back(hidden(of_votes(key(
        table + "token", secret("text, at most 4096 bytes; empty: none"),
        [](auto& s) -> auto& { return s.votes.prover.token; },
        "http: sent as Authorization: Bearer."))));
    all.push_back(of_votes(key(
        table + "timeout", duration(milliseconds{10}, hours{24}),
        [](auto& s) -> auto& { return s.votes.prover.timeout; },
        "One proof; shorter than engine.lease by a minute.")));
}

void add_webhook(std::vector<Key>& all) {
    const std::string table = "helper.alert_webhook.";
    all.push_back(hidden(without_default(
        key(
            table + "url", url({"http", "https"}), [](auto& s) -> auto& { return s.webhook.url; },
            "Where a round that closed with unrevealed shares is reported, once."),
        "\"https://alerts.example.org/posthouse\"")));
    all.push_back(hidden(key(
        table + "secret", secret("text, at most 4096 bytes; empty: not signed"),
        [](auto& s) -> auto& { return s.webhook.secret; },
        "Key of the signature in X-Posthouse-Signature (HMAC-SHA256).")));
    all.push_back(key(
        table + "timeout", duration(milliseconds{100}, hours{1}),
        [](auto& s) -> auto& { return s.webhook.timeout; }, "One report."));
    all.push_back(key(
        table + "pause_max", duration(seconds{1}, hours{24}),
        [](auto& s) -> auto& { return s.webhook.pause_max; },
        "Longest pause between two tries; the first is one second."));
}

}  // namespace

std::vector<Key> votes_keys() {
    std::vector<Key> all;
    add_chain(all);
    add_prover(all);
    add_webhook(all);
    return all;
}

}  // namespace config
