#include "store/verify.hpp"

#include <SQLiteCpp/SQLiteCpp.h>
#include <doctest/doctest.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "domain/identity.hpp"
#include "store/filled_store.hpp"
#include "support/contains.hpp"
#include "support/requests.hpp"

using domain::Kind;
using domain::Status;
using support::contains;

namespace {

struct Findings {
    store::Verified verified;
    std::vector<store::Fault> faults;

    [[nodiscard]] std::string text() const {
        std::string text;
        for (const store::Fault& fault : faults) text += fault.where + ": " + fault.problem + "\n";
        return text;
    }
};

Findings findings(const std::filesystem::path& file) {
    Findings found;
    found.verified = store::verify(
        file, [](const ports::Done&) {},
        [&found](const store::Fault& fault) { found.faults.push_back(fault); });
    return found;
}

Findings findings(const Harness& harness) {
    return findings(store::database_path(harness.options));
}

// Past the checks of the schema.
void damage(const Harness& harness, const std::string& sql) {
    SQLite::Database database(store::database_path(harness.options).string(),
                              SQLite::OPEN_READWRITE, 2'000);
    database.exec("pragma ignore_check_constraints = on");
    database.exec("pragma foreign_keys = off");
    database.exec(sql);
}

void overwrite(const std::filesystem::path& file, std::streamoff at, const std::string& bytes) {
    std::fstream stream(file, std::ios::in | std::ios::out | std::ios::binary);
    stream.seekp(at);
    stream << bytes;
}

}  // namespace

TEST_CASE("what the engine leaves has no fault, also with a log beside the file") {
    FilledStore filled;
    SUBCASE("while it is open") {}
    SUBCASE("closed") {
        filled.close();
    }
    const std::string before = filled.contents();
    const Findings found = findings(filled);
    CHECK(found.text().empty());
    CHECK(found.verified.faults == 0);
    CHECK_FALSE(found.verified.damaged);
    CHECK(found.verified.with_rows);
    CHECK(found.verified.requests == static_cast<std::uint64_t>(filled.requests()));
    CHECK(filled.contents() == before);
}

TEST_CASE("every damage of a row is found, with its row and what is wrong") {
    struct Damage {
        std::string label;
        Kind kind;
        Status status;
        const char* sql;  // ? is the request
        std::string problem;
    };
    const Damage table[] = {
        {"kind", Kind::public_decrypt, Status::queued, "update request set kind = 'x' where id = ?",
         "its kind is unknown"},
        {"status", Kind::public_decrypt, Status::queued,
         "update request set status = 'x' where id = ?", "its status is unknown"},
        {"illegal status", Kind::input_proof, Status::processing,
         "update request set status = 'queued' where id = ?", "an input proof is never queued"},
        {"lane", Kind::user_decrypt, Status::queued, "update request set lane = 0 where id = ?",
         "stands in lane 0"},
        {"lane of a live one", Kind::user_decrypt, Status::completed,
         "update request set lane = 2 where id = ?", "stands in lane 2"},
        {"wake", Kind::public_decrypt, Status::processing,
         "update request set wake_ms = -1 where id = ?", "its wake is before 1970"},
        {"claims", Kind::public_decrypt, Status::processing,
         "update request set claims = -1 where id = ?", "tries is out of range"},
        {"dedup gone", Kind::public_decrypt, Status::queued,
         "update request set dedup = null where id = ?", "can not be found by its content"},
        {"dedup of another", Kind::public_decrypt, Status::queued,
         "update request set dedup = dedup + 1 where id = ?", "its dedup is not that"},
        {"reason", Kind::public_decrypt, Status::failure,
         "update request set reason = 'bad luck' where id = ?", "its reason is unknown"},
        {"reference", Kind::public_decrypt, Status::receipt_received,
         "update request set reference = null where id = ?", "has no reference"},
        {"body gone", Kind::public_decrypt, Status::queued, "delete from payload where id = ?",
         "its content is missing"},
        {"body gone at the end", Kind::public_decrypt, Status::completed,
         "delete from payload where id = ?", "its content is missing"},
        {"body unreadable", Kind::public_decrypt, Status::queued,
         "update payload set body = x'00ff' where id = ?", "its content can not be read"},
        {"body of another kind", Kind::public_decrypt, Status::queued,
         "update payload set body = (select body from payload join request using (id) where "
         "kind = 'input_proof' limit 1) where id = ?",
         "its content can not be read"},
        {"result gone", Kind::user_decrypt, Status::completed, "delete from result where id = ?",
         "its result is missing"},
        {"result unreadable", Kind::user_decrypt, Status::completed,
         "update result set body = x'' where id = ?", "its result can not be read"},
        {"transaction gone", Kind::public_decrypt, Status::tx_in_flight,
         "delete from attempt where id = ?", "it counts 1 transactions, stored are 0"},
        {"first transaction gone", Kind::public_decrypt, Status::tx_in_flight,
         "update attempt set ordinal = 1 where id = ?", "one of its transactions is missing"},
        {"receipt of nothing", Kind::public_decrypt, Status::receipt_received,
         "delete from attempt where id = ?", "it has a receipt and no transaction"},
        {"sealed too early", Kind::public_decrypt, Status::queued,
         "insert into attempt (id, ordinal, nonce, hash, sealed, sealed_ms) values (?, 0, 99, "
         "zeroblob(32), x'00', 0)",
         "it waits for readiness and has transactions"},
        {"more tries than transactions", Kind::input_proof, Status::processing,
         "update request set attempts = 3 where id = ?", "it counts 3 transactions, stored are 0"},
        {"share in flight without one", Kind::share, Status::tx_in_flight,
         "delete from attempt where id = ?", "it is in flight and has no transaction"},
        {"secrets of an ended share", Kind::share, Status::completed,
         "insert into payload values (?, x'00')", "its secrets are still here"},
        {"reveal of an ended share", Kind::share, Status::failure,
         "insert into attempt (id, ordinal, nonce, hash, sealed, sealed_ms) values (?, 0, 99, "
         "zeroblob(32), x'00', 0)",
         "its transactions are still here"},
        {"share of no round", Kind::share, Status::completed,
         "update request set round = null where id = ?", "a share of no round"},
        {"same content", Kind::public_decrypt, Status::completed,
         "update request set (dedup, identity_key) = (select dedup, identity_key from request as "
         "other where kind = 'public_decrypt' and status = 'queued') where id = ?",
         "the same content as request"},
        {"held and in a queue", Kind::public_decrypt, Status::queued,
         "insert into hold (id, since_ms) values (?, 5)", "it is held and stands in a queue"},
        {"same nonce", Kind::user_decrypt, Status::tx_in_flight,
         "update attempt set nonce = (select nonce from attempt join request using (id) where "
         "status = 'tx_in_flight' and kind = 'input_proof') where id = ?",
         "the same nonce as request"},
    };
    for (const Damage& row : table) {
        CAPTURE(row.label);
        FilledStore filled;
        filled.close();
        const std::string number = std::to_string(filled.number_of(row.kind, row.status));
        std::string sql = row.sql;
        sql.replace(sql.find('?'), 1, number);
        damage(filled, sql);
        const Findings found = findings(filled);
        CAPTURE(found.text());
        CHECK(found.verified.faults == found.faults.size());
        CHECK(std::ranges::any_of(found.faults, [&](const store::Fault& fault) {
            return fault.where == "request " + number && contains(fault.problem, row.problem);
        }));
    }
}

TEST_CASE("faults of what is no request are found too") {
    struct Damage {
        std::string label;
        const char* sql;
        std::string where;
        std::string problem;
    };
    const Damage table[] = {
        {"a share too many", "update round set total = total + 1", "round 1",
         "it counts 8 shares of which 3 have ended, and 4 wait"},
        {"a share too few", "update round set total = total - 1", "round 1", "it counts 6 shares"},
        {"submitted", "update round set submitted = 0, failed = 2", "round 1",
         "it counts 0 shares as completed, stored are 1"},
        {"failed", "update round set failed = 0, timed_out = 2", "round 1",
         "it counts 0 shares as failure, stored are 1"},
        {"timed out", "update round set timed_out = 0, failed = 2", "round 1",
         "it counts 0 shares as timed_out, stored are 1"},
        {"an alert of an open round", "insert into alert values (1, 0, 1, 0, 1, 0, 0, 0, 0)",
         "alert 1", "its round is not closed"},
        {"a body of nobody", "insert into payload values (1234567, x'00')", "table payload",
         "row 1234567 belongs to a row of request that is not there"},
        {"a transaction of nobody",
         "insert into attempt (id, ordinal, nonce, hash, sealed, sealed_ms) values (1234567, 0, 1, "
         "zeroblob(32), x'00', 0)",
         "table attempt", "that is not there"},
        {"a key of nobody", "insert into idempotency values (zeroblob(32), 1234567)",
         "table idempotency", "that is not there"},
        {"a round of nobody", "update request set round = 99 where kind = 'share'", "table request",
         "belongs to a row of round that is not there"},
        {"cursor", "update cursor set position = -1", "cursor gateway", "it is negative"},
        {"a check of the schema", "update answer set reference = zeroblob(3)", "file",
         "CHECK constraint failed in answer"},
    };
    for (const Damage& row : table) {
        CAPTURE(row.label);
        FilledStore filled;
        filled.close();
        damage(filled, row.sql);
        const Findings found = findings(filled);
        CAPTURE(found.text());
        CHECK(std::ranges::any_of(found.faults, [&](const store::Fault& fault) {
            return fault.where == row.where && contains(fault.problem, row.problem);
        }));
    }
}

TEST_CASE("a share that would leave before its second is found") {
    Harness harness;
    const std::uint64_t second =
        static_cast<std::uint64_t>(domain::unix_ms(rows::start)) / 1'000 + 100;
    harness.commit([&] { static_cast<void>(harness.store->round(rows::bytes32(1), rows::at(1))); });
    const domain::Request request = support::vote_share(1, second);
    harness.add(
        rows::row(Kind::share, 1, rows::in_lane(store::Lane::schedule, rows::at(100'000)), 1),
        domain::identify(request), domain::encode(request));
    CHECK(findings(harness).text().empty());
    damage(harness, "update request set wake_ms = wake_ms - 1");
    CHECK(contains(findings(harness).text(), "it would leave before its second"));
}

TEST_CASE("damaged pages are found wherever they are") {
    struct Damage {
        std::string label;
        std::streamoff at;
    };
    FilledStore filled;
    filled.close();
    const std::filesystem::path file = store::database_path(filled.options);
    const auto pages = static_cast<std::streamoff>(std::filesystem::file_size(file) / 4'096);
    REQUIRE(pages > 10);
    const std::string healthy = [&] {
        std::ifstream stream(file, std::ios::binary);
        return std::string{std::istreambuf_iterator<char>(stream), {}};
    }();
    for (std::streamoff page = 0; page < pages; ++page) {
        CAPTURE(page);
        overwrite(file, 0, healthy);
        overwrite(file, page * 4'096, std::string(page == 0 ? 16 : 200, '\x55'));
        const Findings found = findings(file);
        CHECK(found.verified.damaged);
        CHECK(found.verified.faults > 0);
    }
    overwrite(file, 0, healthy);
    CHECK(findings(file).text().empty());
    std::filesystem::resize_file(file, static_cast<std::uintmax_t>(pages - 2) * 4'096);
    CHECK(findings(file).verified.damaged);
}

TEST_CASE("what is no database of ours is refused, and not called damaged") {
    const support::TempDirectory home;
    const auto refusal = [](const std::filesystem::path& path) -> std::string {
        try {
            static_cast<void>(findings(path));
            return "";
        } catch (const store::OpenError& error) {
            return error.what();
        }
    };
    CHECK(contains(refusal(home.path() / "nothing"), "is no file"));
    CHECK(contains(refusal(home.path()), "is no file"));
    std::ofstream(home.path() / "empty").close();
    CHECK(contains(refusal(home.path() / "empty"), "is no database of posthouse"));
    SQLite::Database(home.file("other"), SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE)
        .exec("create table t (x); pragma user_version = 3");
    CHECK(contains(refusal(home.file("other")), "database of another program"));
    FilledStore filled;
    damage(filled, "pragma user_version = 99");
    CHECK(contains(refusal(store::database_path(filled.options)), "newer posthouse (schema 99"));
    std::ofstream(home.path() / "text") << std::string(10'000, 'x');
    CHECK(findings(home.path() / "text").verified.damaged);
}

TEST_CASE("of an older schema the pages are looked at, and it says so") {
    FilledStore filled;
    damage(filled, "pragma user_version = 3");
    const Findings found = findings(filled);
    CHECK(found.text().empty());
    CHECK_FALSE(found.verified.with_rows);
    CHECK(found.verified.schema == 3);
}

TEST_CASE("whoever watches can end it, in each part of it") {
    struct Enough {};
    FilledStore filled;
    for (const std::string part : {"pages", "requests"}) {
        CAPTURE(part);
        const auto stop = [&part](const ports::Done& done) {
            if (done.what == part) throw Enough{};
        };
        CHECK_THROWS_AS(static_cast<void>(store::verify(store::database_path(filled.options), stop,
                                                        [](const store::Fault&) {})),
                        Enough);
    }
    CHECK(findings(filled).text().empty());
}
