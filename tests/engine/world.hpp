#pragma once

#include <SQLiteCpp/SQLiteCpp.h>
#include <doctest/doctest.h>

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "domain/identity.hpp"
#include "support/harness.hpp"
#include "support/requests.hpp"
#include "support/scripted_gateway.hpp"
#include "support/virtual_time.hpp"

// Everything a test of the engine needs: the engine, a chain that does as it is told, and time.
struct World {
    support::VirtualClock clock;
    support::VirtualExecutor executor{clock};
    support::ScriptedGateway gateway{executor};
    support::Engine engine{clock, executor, gateway};

    World() { gateway.clock = &clock; }

    void crash() {
        engine.crash();
        gateway.forget_work();
    }

    void restart() {
        crash();
        engine.start();
    }

    void run_for(domain::Nanoseconds time) { engine.run_for(time); }

    domain::RequestId submit(const domain::Request& request) { return engine.submit(request); }

    [[nodiscard]] domain::Status status(const domain::RequestId& id) { return engine.status(id); }
    [[nodiscard]] store::Row row(const domain::RequestId& id) {
        return engine.view(id).value().row;
    }
    [[nodiscard]] domain::Failure failure(const domain::RequestId& id) {
        return engine.view(id).value().failure.value();
    }
    [[nodiscard]] domain::Result result(const domain::RequestId& id) {
        return domain::decode_result(engine.view(id).value().result.value()).value();
    }

    // Seconds of the virtual wall clock from now, as a wallet sends them.
    [[nodiscard]] std::uint64_t in_seconds(std::int64_t seconds) const {
        const auto now = std::chrono::floor<std::chrono::seconds>(clock.wall());
        return static_cast<std::uint64_t>(now.time_since_epoch().count() + seconds);
    }

    // The one number a query gives; looks beside the engine, as an operator with a shell would.
    [[nodiscard]] std::int64_t number(const std::string& query) {
        SQLite::Database database{path(), SQLite::OPEN_READONLY};
        return database.execAndGet(query).getInt64();
    }

    // Changes the file behind the engine's back: only while it is down.
    void tamper(const std::string& sql) {
        SQLite::Database database{path(), SQLite::OPEN_READWRITE};
        database.exec(sql);
    }

private:
    [[nodiscard]] std::string path() const {
        return store::database_path(engine.store_options).string();
    }
};

// --- answers of the chain ---------------------------------------------------------------------

[[nodiscard]] inline domain::ProofAccepted proof_accepted() {
    return {{support::handle(1)}, {domain::Bytes(65, 7)}};
}

[[nodiscard]] inline domain::PublicDecrypted public_decrypted() {
    return {{1, 2, 3}, {domain::Bytes(65, 7)}, {0}};
}

[[nodiscard]] inline domain::KmsShare kms_share(std::uint32_t index) {
    return {index, {static_cast<std::uint8_t>(index), 9}, domain::Bytes(65, 3), {0}};
}

// --- requests ---------------------------------------------------------------------------------

[[nodiscard]] inline domain::Request delegated(std::uint64_t number) {
    const auto plain = std::get<domain::UserDecrypt>(support::user_decrypt(number));
    return domain::DelegatedUserDecrypt{plain.pairs,
                                        plain.contracts_chain_id,
                                        plain.contract_addresses,
                                        support::numbered<domain::Address>(1),
                                        support::numbered<domain::Address>(2),
                                        plain.start_timestamp,
                                        plain.duration_days,
                                        plain.signature,
                                        plain.public_key,
                                        plain.extra_data};
}

[[nodiscard]] inline domain::Request unified(std::uint64_t number) {
    domain::UnifiedUserDecrypt request;
    request.handles = {{support::handle(number), support::numbered<domain::Address>(7),
                        support::numbered<domain::Address>(2)}};
    request.user_address = support::numbered<domain::Address>(2);
    request.start_timestamp = 1'780'272'000;
    request.duration_seconds = 600;
    request.public_key = domain::Bytes(32, 2);
    request.extra_data = {0};
    request.signature = domain::Bytes(65, 1);
    return request;
}

[[nodiscard]] inline domain::Request request_of(domain::Kind kind, std::uint64_t number) {
    switch (kind) {
        case domain::Kind::input_proof:
            return support::input_proof(number);
        case domain::Kind::public_decrypt:
            return support::public_decrypt(number);
        case domain::Kind::user_decrypt:
            return support::user_decrypt(number);
        case domain::Kind::delegated_user_decrypt:
            return delegated(number);
        case domain::Kind::unified_user_decrypt:
            return unified(number);
        case domain::Kind::share:
            break;
    }
    return support::vote_share(number);
}

// Gives the answers that complete a request with a receipt.
inline void answer_well(World& world, const domain::RequestId& id, domain::Kind kind) {
    if (kind == domain::Kind::input_proof) {
        world.gateway.answer(id, proof_accepted());
    } else if (kind == domain::Kind::public_decrypt) {
        world.gateway.answer(id, public_decrypted());
    } else if (kind != domain::Kind::share) {
        for (std::uint32_t index = 1; index <= 9; ++index) {
            world.gateway.answer(id, kms_share(index));
        }
    }
}

// Whether an outcome is this alternative.
template <typename Wanted, typename Variant>
[[nodiscard]] bool is(const Variant& outcome) {
    return std::holds_alternative<Wanted>(outcome);
}
