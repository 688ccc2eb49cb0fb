#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>

#include "domain/failure.hpp"
#include "domain/request.hpp"
#include "domain/status.hpp"
#include "domain/time.hpp"
#include "store/helper_db.hpp"

namespace commands {

// 2200-01-01, the end of a round whose end nobody knows: later than every time that is read, and
// near enough to count the nanoseconds until then.
inline constexpr domain::Timestamp no_end = domain::from_unix_ms(7'258'118'400'000);

// A share of a reference helper in our words.
struct HelperShare {
    domain::VoteShare share;  // of one without content only the members of its key count
    bool has_content = true;  // false: its witness data was wiped
    domain::Status status = domain::Status::queued;            // or completed, failure
    domain::Reason reason = domain::Reason::attempts_used_up;  // of a failure
    std::uint32_t attempts = 0;
    std::optional<domain::Timestamp> vote_end;  // before no_end; nothing: not known
};

// Reads a row: states 0 and 1 are queued, 2 is completed and 3 has failed (share-helper 3). Of a
// later helper are 4, which missed its deadline and has failed, and 5, which was seen on the chain
// and is completed. Ended shares need no witness data. Base64 is read as the helper read it: line
// ends are skipped, spare bits ignored. Otherwise why not, without a word of the witness data.
[[nodiscard]] std::variant<HelperShare, std::string> read_helper_share(const store::HelperRow& row);

}  // namespace commands
