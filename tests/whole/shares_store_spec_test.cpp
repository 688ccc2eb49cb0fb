// Cases of share-helper 8 that need the routes or a file from before; the others of S stand in
// tests/engine/shares_spec_test.cpp.

#include <chrono>
#include <fstream>
#include <sstream>
#include <string>

#include "box.hpp"
#include "shares.hpp"

namespace {

using namespace std::chrono_literals;
using api_test::Answer;
using api_test::Json;
using whole::Box;
using namespace whole::shares;

std::string status_of(const Answer& answer) {
    CAPTURE(answer.body);
    return answer.json.value("status", "");
}

}  // namespace

TEST_CASE("S7 a time past the end of the round is invalid, none and one before it are taken") {
    Box box;
    const std::uint64_t end = box.world.in_seconds(3'600);
    box.rounds.rounds[round_id()] = static_cast<std::int64_t>(end);
    const Answer late = box.post(path, share(1, end + 100));
    CHECK(late.status == 400);
    CHECK(late.json["error"].get<std::string>().starts_with("invalid submit_at"));
    CHECK(box.rows() == 0);
    CHECK(status_of(box.post(path, share(1, 0))) == "queued");
    CHECK(status_of(box.post(path, share(2, box.world.in_seconds(1'800)))) == "queued");
    // Equality is allowed (1.3).
    CHECK(status_of(box.post(path, share(3, end))) == "queued");
    CHECK(box.rows() == 3);
}

TEST_CASE("S9 the chain is asked once per round, also after a restart") {
    Box box;
    for (std::uint32_t number = 1; number <= 3; ++number) {
        CHECK(status_of(box.post(path, share(number))) == "queued");
    }
    CHECK(box.rounds.calls == 1);
    box.restart();
    CHECK(status_of(box.post(path, share(4))) == "queued");
    CHECK(box.rounds.calls == 1);
}

TEST_CASE("S10 a round that neither store nor chain knows is unknown, and is asked for again") {
    Box box;
    box.rounds.rounds.clear();
    for (int post = 1; post <= 2; ++post) {
        const Answer answer = box.post(path, share(1));
        CHECK(answer.status == 400);
        CHECK(answer.json["error"].get<std::string>().find("unknown voting round") !=
              std::string::npos);
        CHECK(box.rounds.calls == post);
    }
    CHECK(box.rows() == 0);
}

TEST_CASE("S11 a file of an older version opens, and shares of any tree position enter") {
    for (const int version : {1, 2}) {
        CAPTURE(version);
        Box box;
        const std::string file_path = store::database_path(box.world.engine.store_options).string();
        {
            std::ostringstream schema;
            schema << std::ifstream(std::string(SCHEMAS) + "/schema-" + std::to_string(version) +
                                    ".sql")
                          .rdbuf();
            SQLite::Database old(file_path, SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE);
            old.exec(schema.str());
            old.exec("pragma application_id = 0x50484f55; pragma user_version = " +
                     std::to_string(version));
        }
        for (std::uint32_t position = 1; position <= 2; ++position) {
            CHECK(status_of(box.post(path, share(position))) == "queued");
            CHECK(status_of(box.post(path, share(position))) == "duplicate");
        }
        CHECK(box.rows() == 2);
        CHECK(box.world.number("select count(*) from request where deadline_ms > 0") == 2);
        CHECK(box.world.number("select total from round") == 2);
    }
}
