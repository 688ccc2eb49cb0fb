#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>

namespace store {

// A row of a reference helper as it stands there: nothing is checked. A number that is none has no
// value. The last four texts are witness data.
struct HelperRow {
    using Number = std::optional<std::int64_t>;

    std::string round_id;
    Number share_index;
    Number proposal_id;
    Number tree_position;
    Number vote_decision;
    Number state;
    Number attempts;
    Number vote_end_time;  // of the row, else of its round; 0: unknown
    Number submit_at;
    std::string shares_hash;
    std::string enc_share_c1;
    std::string enc_share_c2;
    std::string share_comms;
    std::string primary_blind;
};

// The `shares` of a reference helper (vote-sdk, internal/helper/store.go, first version to the one
// of 2026), read and never written. Which of these columns are there is looked up:
//
//   always              round_id, share_index, shares_hash, proposal_id, vote_decision,
//                       enc_share_c1, enc_share_c2, tree_position, state, attempts
//   oldest              all_enc_shares instead of commitments; key of round, share and proposal;
//                       no rounds, no vote_end_time, nothing wiped
//   then                share_blinds; key with tree_position; vote_end_time; table rounds
//   then                share_comms and primary_blind instead of all_enc_shares and share_blinds
//   then                submit_at, the share-helper 2.1 layout
//   later, all ignored  original_submit_at, received_at, share_nullifier, closed_at, retry_state,
//                       pending_reveal_json, pending_tx_hash, pending_since_height,
//                       pending_rebroadcast_count; rounds.created_at_time
//
// A layout without commitments holds no share that can still be revealed: share_comms and
// primary_blind read as empty. A missing submit_at or vote_end_time reads as 0. Columns nobody
// knows are ignored.
class HelperDb {
public:
    // Throws OpenError naming the table or the columns that are missing, or StorageError.
    explicit HelperDb(const std::filesystem::path& path);
    ~HelperDb();
    HelperDb(const HelperDb&) = delete;
    HelperDb& operator=(const HelperDb&) = delete;

    // Rows in the order they were inserted; nothing after the last one. Throws StorageError.
    [[nodiscard]] std::optional<HelperRow> next();

private:
    class Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace store
