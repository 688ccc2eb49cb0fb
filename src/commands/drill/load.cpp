#include "commands/drill/load.hpp"

#include <chrono>
#include <utility>

namespace commands::drill {

namespace {

using namespace std::chrono_literals;
using Stopwatch = std::chrono::steady_clock;

constexpr std::uint64_t share_seconds_max = 3;  // until it is due

domain::Kind draw_kind(std::mt19937_64& dice) {
    const std::uint64_t drawn = dice() % 100;
    if (drawn < 15) return domain::Kind::input_proof;
    if (drawn < 40) return domain::Kind::public_decrypt;
    if (drawn < 57) return domain::Kind::user_decrypt;
    if (drawn < 70) return domain::Kind::delegated_user_decrypt;
    return domain::Kind::share;
}

// At once, or in some of the next seconds.
std::uint64_t draw_second(std::mt19937_64& dice) {
    const std::uint64_t ahead = dice() % (share_seconds_max + 2);
    if (ahead > share_seconds_max) return 0;
    const auto now = std::chrono::duration_cast<std::chrono::seconds>(
        std::chrono::system_clock::now().time_since_epoch());
    return static_cast<std::uint64_t>(now.count()) + ahead;
}

}  // namespace

Wish any_wish(WishNumbers& numbers, std::mt19937_64& dice) {
    Wish wish{.kind = draw_kind(dice), .number = numbers.next()};
    if (wish.kind == domain::Kind::share) wish.submit_at = draw_second(dice);
    return wish;
}

Load::Load(net::Client& client, Notebook& notebook, const Options& options)
    : client_(client), notebook_(notebook), options_(options) {
    for (unsigned i = 0; i < options.clients; ++i) {
        threads_.emplace_back([this, dice = options.dice * 1'000 + i] { run(dice); });
    }
}

Load::~Load() {
    stop();
}

void Load::stop() {
    stopping_ = true;
    threads_.clear();
}

std::vector<double> Load::latencies() {
    stop();
    return std::move(latencies_);
}

void Load::run(std::uint64_t dice_seed) {
    std::mt19937_64 dice(dice_seed);
    bool goes_on = true;
    while (goes_on && !stopping_) {
        goes_on = dice() % 100 < options_.repeats_percent ? ask_again(dice) : ask_new(dice);
        std::this_thread::sleep_for(
            std::chrono::milliseconds{dice() % (options_.pause_ms_max + 1)});
    }
}

bool Load::ask_new(std::mt19937_64& dice) {
    const auto wish = options_.draw(dice);
    if (!wish) return false;
    const auto begin = Stopwatch::now();
    const Reply reply = post(client_, options_.seed, *wish);
    if (reply.kind != Reply::Kind::promised) return note_other(reply);
    const std::chrono::duration<double, std::milli> took = Stopwatch::now() - begin;
    if (reply.duplicate) notebook_.violation("a new share was called a duplicate");
    notebook_.promise({*wish, reply.job});
    const std::lock_guard lock(mutex_);
    latencies_.push_back(took.count());
    return true;
}

bool Load::ask_again(std::mt19937_64& dice) {
    const auto picked = notebook_.any(dice());
    if (!picked) return true;
    const auto& [index, promise] = *picked;
    const Reply reply = post(client_, options_.seed, promise.wish);
    if (reply.kind != Reply::Kind::promised) return note_other(reply);
    if (promise.wish.kind == domain::Kind::share && !reply.duplicate) {
        notebook_.violation("share " + std::to_string(promise.wish.number) +
                            " was promised, and is new when it comes again");
    }
    notebook_.repeat({index, reply.job});
    return true;
}

bool Load::note_other(const Reply& reply) {
    switch (reply.kind) {
        case Reply::Kind::later:
            notebook_.later();
            return true;
        case Reply::Kind::refused:
            notebook_.violation(reply.text);
            return true;
        case Reply::Kind::promised:
        case Reply::Kind::nothing:
            break;
    }
    if (!silence_expected_) notebook_.unanswered();
    return false;
}

}  // namespace commands::drill
