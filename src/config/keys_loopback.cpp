#include "config/keys.hpp"

namespace config {
namespace {

using namespace std::chrono_literals;

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
    return {
        key(loopback_table + "ledger", text("a path, or :memory:", 1, 4'000),
            SETTING(loopback.ledger),
            "The chain's own database; a relative path stands in storage.data_dir."),
        key(loopback_table + "ledger_synchronous",
            choice<chains::loopback::LedgerSynchronous>(
                {{"full", chains::loopback::LedgerSynchronous::full},
                 {"normal", chains::loopback::LedgerSynchronous::normal},
                 {"off", chains::loopback::LedgerSynchronous::off}}),
            SETTING(loopback.ledger_synchronous), "How carefully the chain writes it."),
        key(loopback_table + "seed", whole_number(0, std::numeric_limits<std::int64_t>::max()),
            SETTING(loopback.seed),
            "Of all dice: equal seeds and equal orders give equal outcomes."),

        stage("readiness", SETTING(loopback.readiness), "How long a readiness check takes."),
        stage("prepare", SETTING(loopback.prepare), "How long gas estimation takes."),
        stage("proof", SETTING(loopback.proof), "How long the proof of a vote share takes."),
        stage("confirmation", SETTING(loopback.confirmation), "From inclusion to receipt."),
        stage("response", SETTING(loopback.response), "From receipt to answer."),

        key(loopback_table + "rounds_end", time_of_calendar(), SETTING(loopback.rounds_end),
            "When rounds end while no list names them."),
        key(loopback_table + "storage_url", url({"http", "https"}), SETTING(loopback.storage_url),
            "Where GET /v2/keyurl says that keys lie. The default resolves nowhere: the chain has "
            "no keys, name a storage that has."),
        key(loopback_table + "storage_prefix",
            text("a folder of that storage, 1 to 200 characters", 1, 200),
            SETTING(loopback.storage_prefix),
            "What stands between storage_url and /PublicKey/… or /CRS/…."),
        key(loopback_table + "key_id", bytes32(), SETTING(loopback.key_id),
            "Id of the public FHE key."),
        key(loopback_table + "crs_id", bytes32(), SETTING(loopback.crs_id),
            "Id of the common reference string."),
        key(loopback_table + "proof_handles", whole_number(1, 255), SETTING(loopback.proof_handles),
            "Handles of an accepted input proof.", "handles"),
        key(loopback_table + "signatures", whole_number(1, 255), SETTING(loopback.signatures),
            "Signatures of an answer that carries a list.", "signatures"),
        key(loopback_table + "kms_nodes", whole_number(1, chains::loopback::kms_nodes_max),
            SETTING(loopback.kms_nodes), "Shares of a user decryption.", "shares"),

        permille("unreachable_checks", SETTING(loopback.unreachable_checks),
                 "Readiness checks that do not get through."),
        permille("acl_refusals", SETTING(loopback.acl_refusals),
                 "Decryptions refused by the access control contract, for good."),
        permille("late_readiness", SETTING(loopback.late_readiness),
                 "Decryptions that are not ready at first, for not_ready_tries checks."),
        key(loopback_table + "not_ready_tries", whole_number(0, 1'000'000),
            SETTING(loopback.not_ready_tries),
            "How often such a decryption is not ready, in each run of the program.", "tries"),
        permille("unreachable_prepares", SETTING(loopback.unreachable_prepares),
                 "Preparations that do not get through."),
        permille("estimation_reverts", SETTING(loopback.estimation_reverts),
                 "Requests whose gas estimation reverts, for good."),
        permille("failed_proofs", SETTING(loopback.failed_proofs),
                 "Share proofs that fail this time."),
        permille("unreachable_sends", SETTING(loopback.unreachable_sends),
                 "Sends that do not get through: nothing is included."),
        permille("lost_replies", SETTING(loopback.lost_replies), "Inclusions nobody hears of."),
        permille("reverts", SETTING(loopback.reverts),
                 "Transactions that are included and reverted."),
        permille("shares_already_revealed", SETTING(loopback.shares_already_revealed),
                 "Vote shares another helper revealed before."),
        permille("proof_rejections", SETTING(loopback.proof_rejections),
                 "Input proofs found to be wrong."),
        permille("missing_kms_nodes", SETTING(loopback.missing_kms_nodes),
                 "KMS nodes that never answer, rounded down."),
        permille("early_answers", SETTING(loopback.early_answers),
                 "Requests answered before their receipt."),
        permille("duplicate_answers", SETTING(loopback.duplicate_answers),
                 "Requests whose answers come twice."),
        permille("foreign_answers", SETTING(loopback.foreign_answers),
                 "Requests followed by an answer nobody asked for."),

        needed(key(loopback_table + "rounds[].id", bytes32(), ELEMENT(loopback.rounds, id),
                   "The id of the round."),
               "\"0x" + std::string(64, '0') + "\""),
        needed(key(loopback_table + "rounds[].vote_end", time_of_calendar(),
                   ELEMENT(loopback.rounds, vote_end), "When its vote ends."),
               "2100-01-01T00:00:00Z"),
        needed(key(loopback_table + "outages[].start", duration(0ms, 24h * 365),
                   ELEMENT(loopback.outages, start), "Counted from the start of the program."),
               "\"10s\""),
        needed(key(loopback_table + "outages[].duration", duration(1ms, 24h * 365),
                   ELEMENT(loopback.outages, duration), "How long it lasts."),
               "\"5s\""),
    };
}

}  // namespace config
