#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "domain/time.hpp"
#include "ports/clock.hpp"

namespace api {

// What was said to a POST of the relayer API.
enum class Submission {
    accepted,      // 202, also of one that was known
    invalid,       // the request is at fault
    unauthorized,  // no key, or none that is good
    too_often,     // over the rate of its key
    busy,          // a queue is full, or nothing can be stored now
    failed,        // ours is the fault
};
inline constexpr std::array<std::string_view, 6> submission_names{
    "accepted", "invalid", "unauthorized", "too_often", "busy", "failed"};

// How many of each, in the order of the names.
using SubmissionCounts = std::array<std::uint64_t, submission_names.size()>;

// What each client posts, so that a flood has a name. Vote shares are not among it. Any thread.
class ClientTraffic {
public:
    using ClientName = std::function<std::string(std::int64_t)>;

    // `client_name` is asked until it knows the name of an id, which has it from then on: a key
    // that is taken away takes no count with it.
    explicit ClientTraffic(const ports::Clock& clock, ClientName client_name = {})
        : clock_(clock), client_name_(std::move(client_name)) {}

    // `client`: the id of its key; 0: nobody known.
    void count(std::int64_t client, Submission submission);

    struct OfClient {
        std::int64_t client = 0;
        SubmissionCounts since_start{};
        SubmissionCounts last_hour{};  // in steps of five minutes
    };
    [[nodiscard]] std::vector<OfClient> all() const;
    // Empty: nothing is counted of it, or nobody knew its name.
    [[nodiscard]] std::string name_of(std::int64_t client) const;

private:
    static constexpr std::size_t slots = 12;
    struct Slot {
        std::int64_t number = -1;  // of five minutes since the clock's zero
        SubmissionCounts counts{};
    };
    struct Counted {
        std::string name;
        SubmissionCounts since_start{};
        std::array<Slot, slots> recent{};
    };

    [[nodiscard]] std::int64_t number_now() const;

    const ports::Clock& clock_;
    const ClientName client_name_;
    mutable std::mutex mutex_;  // guards what follows
    std::unordered_map<std::int64_t, Counted> clients_;
};

// What a client does, for people and scrapers.
struct ClientActivity {
    std::string name;  // `-`: without a key; `?`: nobody has had it since the start
    std::uint64_t in_work = 0;
    SubmissionCounts since_start{};
    SubmissionCounts last_hour{};
};

// Who does most comes first: in work, and posted in the last hour. `traffic` null: nobody counts.
// `client_name` is empty for an id that nobody has now.
[[nodiscard]] std::vector<ClientActivity> client_activity(
    const ClientTraffic* traffic, const std::map<std::int64_t, std::uint64_t>& in_work,
    const ClientTraffic::ClientName& client_name);

}  // namespace api
