#include "store/filled_store.hpp"

#include <doctest/doctest.h>

#include "domain/identity.hpp"
#include "domain/result.hpp"
#include "support/requests.hpp"

using domain::Cause;
using domain::Kind;
using domain::Status;

namespace {

constexpr std::int64_t an_hour = 3'600'000;

domain::Result result_of(Kind kind) {
    switch (domain::family_of(kind)) {
        case domain::Family::input_proof:
            return domain::ProofAccepted{{rows::bytes32(7)}, {{1, 2}}};
        case domain::Family::public_decrypt:
            return domain::PublicDecrypted{{1, 2, 3}, {{4}}, {0}};
        case domain::Family::user_decrypt:
            return domain::UserDecrypted{{{1, {1}, {2}, {0}}}};
        case domain::Family::share:
            break;
    }
    return domain::ShareRevealed{"ABCD", true};
}

}  // namespace

FilledStore::FilledStore() {
    commit([&] { round = store->round(rows::bytes32(1), rows::at(an_hour)); });
    for (const Kind kind : domain::kinds) {
        for (const Status status : domain::statuses) {
            if (kind == Kind::input_proof && status == Status::queued) continue;
            make(kind, status);
        }
    }
    commit([&] {
        static_cast<void>(store->hold_answer(rows::bytes32(900), {0, {1, 2}}, rows::start));
        store->set_cursor("gateway", 17);
        store->remember_key(rows::bytes32(5), number_of(Kind::public_decrypt, Status::queued));
    });
}

std::int64_t FilledStore::number_of(Kind kind, Status status) const {
    return numbers_.at({kind, status});
}

void FilledStore::make(Kind kind, Status status) {
    const std::int64_t number = next_++;
    numbers_.emplace(std::pair{kind, status}, number);
    const auto unsigned_number = static_cast<std::uint64_t>(number);
    const domain::Request request = support::request_of(kind, unsigned_number);
    const bool is_share = kind == Kind::share;
    store::Row row = rows::row(kind, number, rows::first_of(kind),
                               is_share ? std::optional{round} : std::nullopt);
    add(row, domain::identify(request), domain::encode(request));
    const auto timer = [](std::uint32_t attempts) {
        store::Schedule schedule = rows::in_lane(store::Lane::timer, rows::at(1'000));
        schedule.attempts = attempts;
        return schedule;
    };
    const auto move = [&](Status to, Cause cause, std::uint32_t attempts) {
        REQUIRE(store->move(row, {row.status, to, cause}, timer(attempts), rows::at(10)));
        row.status = to;
        row.schedule = timer(attempts);
    };
    const auto end = [&](Cause cause) {
        REQUIRE(store->fail(row, {row.status, status, cause},
                            {domain::Reason::reverted, "why not", 0x08c379a0}, rows::at(30)));
    };
    commit([&] {
        if (status == row.status) return;
        if (status == Status::timed_out && row.status == Status::queued) return end(Cause::expired);
        if (row.status == Status::queued) move(Status::processing, Cause::claimed, 0);
        if (status == Status::processing) return;
        if (status == Status::failure) return end(Cause::transaction);
        move(Status::tx_in_flight, Cause::sealed, is_share ? 0 : 1);
        store->add_attempt(number, rows::attempt(unsigned_number), rows::at(15));
        if (status == Status::tx_in_flight) return;
        const auto reference =
            is_share ? std::nullopt : std::optional{rows::bytes32(unsigned_number)};
        REQUIRE(store->receive(row, reference, timer(0), rows::at(20)));
        row.status = Status::receipt_received;
        if (status == Status::receipt_received) return;
        if (status == Status::timed_out) return end(Cause::expired);
        REQUIRE(store->complete(row, domain::encode(result_of(kind)), rows::at(30)));
    });
}
