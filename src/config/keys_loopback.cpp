#include "config/keys.hpp"

namespace config {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;

const std::string loopback_table = "gateway.loopback.";

template <typename Access>
Key permille(std::string name, Access access, std::string doc) {
    return key(loopback_table + std::move(name), whole_number(0, 1'000), access, std::move(doc),
               "permille");
}

template <typename Access>
Key stage(std::string name, Access access, std::string doc) {
    return key(loopback_table + std::move(name), latency(), access, std::move(doc));
}

}  // namespace

std::vector<Key> loopback_keys() {
    std::vector<Key> all;
    all.push_back(key(
        loopback_table + "ledger", text("a path, or :memory:", 1, 4'000),
        [](auto& s) -> auto& { return s.loopback.ledger; },
        "The chain's own database; a relative path stands in storage.data_dir."));
    all.push_back(key(
        loopback_table + "ledger_synchronous",
        choice<chains::loopback::LedgerSynchronous>(
            {{"full", chains::loopback::LedgerSynchronous::full},
             {"normal", chains::loopback::LedgerSynchronous::normal},
             {"off", chains::loopback::LedgerSynchronous::off}}),
        [](auto& s) -> auto& { return s.loopback.ledger_synchronous; },
        "How carefully the chain writes it."));
    all.push_back(key(
        loopback_table + "seed", whole_number(0, std::numeric_limits<std::int64_t>::max()),
        [](auto& s) -> auto& { return s.loopback.seed; },
        "Of all dice: equal seeds and equal orders give equal outcomes."));

    all.push_back(stage(
        "readiness", [](auto& s) -> auto& { return s.loopback.readiness; },
        "How long a readiness check takes."));
    all.push_back(stage(
        "prepare", [](auto& s) -> auto& { return s.loopback.prepare; },
        "How long gas estimation takes."));
    all.push_back(stage(
        "proof", [](auto& s) -> auto& { return s.loopback.proof; },
        "How long the proof of a vote share takes."));
    all.push_back(stage(
        "confirmation", [](auto& s) -> auto& { return s.loopback.confirmation; },
        "From inclusion to receipt."));
    all.push_back(stage(
        "response", [](auto& s) -> auto& { return s.loopback.response; },
        "From receipt to answer."));

    all.push_back(key(
        loopback_table + "rounds_end", time_of_calendar(),
        [](auto& s) -> auto& { return s.loopback.rounds_end; },
        "When rounds end while no list names them."));
    all.push_back(key(
        loopback_table + "storage_url", url({"http", "https"}),
        [](auto& s) -> auto& { return s.loopback.storage_url; },
        "Where GET /v2/keyurl says that keys lie. The default resolves nowhere: the chain has no "
        "keys, name a storage that has."));
    all.push_back(key(
        loopback_table + "storage_prefix",
        text("a folder of that storage, 1 to 200 characters", 1, 200),
        [](auto& s) -> auto& { return s.loopback.storage_prefix; },
        "What stands between storage_url and /PublicKey/… or /CRS/…."));
    all.push_back(key(
        loopback_table + "key_id", bytes32(), [](auto& s) -> auto& { return s.loopback.key_id; },
        "Id of the public FHE key."));
    all.push_back(key(
        loopback_table + "crs_id", bytes32(), [](auto& s) -> auto& { return s.loopback.crs_id; },
        "Id of the common reference string."));
    all.push_back(key(
        loopback_table + "proof_handles", whole_number(1, 255),
        [](auto& s) -> auto& { return s.loopback.proof_handles; },
        "Handles of an accepted input proof.", "handles"));
    all.push_back(key(
        loopback_table + "signatures", whole_number(1, 255),
        [](auto& s) -> auto& { return s.loopback.signatures; },
        "Signatures of an answer that carries a list.", "signatures"));
    all.push_back(key(
        loopback_table + "kms_nodes", whole_number(1, chains::loopback::kms_nodes_max),
        [](auto& s) -> auto& { return s.loopback.kms_nodes; }, "Shares of a user decryption.",
        "shares"));

    all.push_back(permille(
        "unreachable_checks", [](auto& s) -> auto& { return s.loopback.unreachable_checks; },
        "Readiness checks that do not get through."));
    all.push_back(permille(
        "acl_refusals", [](auto& s) -> auto& { return s.loopback.acl_refusals; },
        "Decryptions refused by the access control contract, for good."));
    all.push_back(permille(
        "late_readiness", [](auto& s) -> auto& { return s.loopback.late_readiness; },
        "Decryptions that are not ready at first, for not_ready_tries checks."));
    all.push_back(key(
        loopback_table + "not_ready_tries", whole_number(0, 1'000'000),
        [](auto& s) -> auto& { return s.loopback.not_ready_tries; },
        "How often such a decryption is not ready, in each run of the program.", "tries"));
    all.push_back(permille(
        "unreachable_prepares", [](auto& s) -> auto& { return s.loopback.unreachable_prepares; },
        "Preparations that do not get through."));
    all.push_back(permille(
        "estimation_reverts", [](auto& s) -> auto& { return s.loopback.estimation_reverts; },
        "Requests whose gas estimation reverts, for good."));
    all.push_back(permille(
        "failed_proofs", [](auto& s) -> auto& { return s.loopback.failed_proofs; },
        "Share proofs that fail this time."));
    all.push_back(permille(
        "unreachable_sends", [](auto& s) -> auto& { return s.loopback.unreachable_sends; },
        "Sends that do not get through: nothing is included."));
    all.push_back(permille(
        "lost_replies", [](auto& s) -> auto& { return s.loopback.lost_replies; },
        "Inclusions nobody hears of."));
    all.push_back(permille(
        "reverts", [](auto& s) -> auto& { return s.loopback.reverts; },
        "Transactions that are included and reverted."));
    all.push_back(permille(
        "shares_already_revealed",
        [](auto& s) -> auto& { return s.loopback.shares_already_revealed; },
        "Vote shares another helper revealed before."));
    all.push_back(permille(
        "proof_rejections", [](auto& s) -> auto& { return s.loopback.proof_rejections; },
        "Input proofs found to be wrong."));
    all.push_back(permille(
        "missing_kms_nodes", [](auto& s) -> auto& { return s.loopback.missing_kms_nodes; },
        "KMS nodes that never answer, rounded down."));
    all.push_back(permille(
        "early_answers", [](auto& s) -> auto& { return s.loopback.early_answers; },
        "Requests answered before their receipt."));
    all.push_back(permille(
        "duplicate_answers", [](auto& s) -> auto& { return s.loopback.duplicate_answers; },
        "Requests whose answers come twice."));
    all.push_back(permille(
        "foreign_answers", [](auto& s) -> auto& { return s.loopback.foreign_answers; },
        "Requests followed by an answer nobody asked for."));

    all.push_back(
        needed(key(
                   loopback_table + "rounds[].id", bytes32(),
                   [](auto& s, std::size_t index) -> auto& { return s.loopback.rounds[index].id; },
                   "The id of the round."),
               "\"0x" + std::string(64, '0') + "\""));
    all.push_back(needed(
        key(
            loopback_table + "rounds[].vote_end", time_of_calendar(),
            [](auto& s, std::size_t index) -> auto& { return s.loopback.rounds[index].vote_end; },
            "When its vote ends."),
        "2100-01-01T00:00:00Z"));
    all.push_back(needed(
        key(
            loopback_table + "outages[].start", duration(milliseconds{0}, hours{24 * 365}),
            [](auto& s, std::size_t index) -> auto& { return s.loopback.outages[index].start; },
            "Counted from the start of the program."),
        "\"10s\""));
    all.push_back(needed(
        key(
            loopback_table + "outages[].duration", duration(milliseconds{1}, hours{24 * 365}),
            [](auto& s, std::size_t index) -> auto& { return s.loopback.outages[index].duration; },
            "How long it lasts."),
        "\"5s\""));
    return all;
}

}  // namespace config
