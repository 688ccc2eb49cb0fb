#pragma once

#include <SQLiteCpp/SQLiteCpp.h>
#include <doctest/doctest.h>

#include <cstdint>
#include <string>

#include "domain/identity.hpp"
#include "support/answers.hpp"
#include "support/engine.hpp"
#include "support/is.hpp"
#include "support/requests.hpp"
#include "support/scripted_gateway.hpp"
#include "support/virtual_time.hpp"

namespace support {

// Everything a test of the engine needs: the engine, a chain that does as it is told, and time.
struct World {
    VirtualClock clock;
    VirtualExecutor executor{clock};
    ScriptedGateway gateway{executor};
    Engine engine{clock, executor, gateway};

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
    [[nodiscard]] store::Row row(const domain::RequestId& id) { return engine.row(id); }
    [[nodiscard]] domain::Failure failure(const domain::RequestId& id) {
        return engine.failure(id);
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

}  // namespace support
