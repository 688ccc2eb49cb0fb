#include <sqlite3.h>

#include <chrono>
#include <filesystem>
#include <map>
#include <set>
#include <thread>

#include "support/fault_vfs.hpp"
#include "support/world.hpp"

using domain::Family;
using domain::Kind;
using domain::Milliseconds;
using domain::Status;
using engine::Accepted;
using engine::Unavailable;
using support::FaultVfs;
using namespace std::chrono_literals;

namespace {

// An engine on a disk that fails when told to.
struct Disk {
    FaultVfs vfs{FaultVfs::Memory::none};
    support::World world;

    Disk() { world.engine.store_options.vfs = vfs.name(); }

    void break_writes(int code = SQLITE_IOERR_WRITE) {
        vfs.fail({FaultVfs::Operation::write, 1, code, true});
    }

    [[nodiscard]] bool database_ok() {
        for (const auto& dependency : world.engine.process().service.dependencies()) {
            if (dependency.name == "database") return dependency.ok;
        }
        return false;
    }
};

std::optional<std::uint64_t> place(support::World& world, const domain::RequestId& id) {
    const store::Row row = world.row(id);
    const auto& gates = world.engine.process().gates;
    if (!gates.holds(id.sequence, domain::family_of(row.kind))) return std::nullopt;
    return gates.position_of(row, 0).ahead;
}

}  // namespace

TEST_CASE(
    "a failing disk makes the service read-only with one line, and it recovers by itself (field "
    "report 32)") {
    Disk disk;
    support::World& world = disk.world;
    const auto before = world.submit(support::input_proof(1));
    CHECK(disk.database_ok());

    disk.break_writes();
    const auto refused = world.engine.try_submit(support::input_proof(2));
    REQUIRE(is<Unavailable>(refused));
    CHECK(std::get<Unavailable>(refused).retry_after_seconds == 5);
    CHECK_FALSE(disk.database_ok());

    // Nobody waits for a step any more: the answer comes on the caller's thread.
    bool told = false;
    world.engine.post(support::input_proof(3),
                      [&](engine::AcceptOutcome outcome) { told = is<Unavailable>(outcome); });
    CHECK(told);

    world.run_for(1min);
    CHECK(world.status(before) == Status::processing);
    CHECK(world.engine.logger.count("storage_failed") == 1);
    CHECK(world.engine.logger.lines().size() <= 6);

    disk.vfs.heal();
    world.run_for(11s);
    CHECK(disk.database_ok());
    CHECK(world.engine.logger.count("storage_healed") == 1);
    CHECK(world.status(before) == Status::receipt_received);
    CHECK(is<Accepted>(world.engine.try_submit(support::input_proof(2))));
    CHECK(world.number("select count(*) from request") == 2);
}

TEST_CASE("a full disk refuses new requests and lets the ones it has go on when space is back") {
    Disk disk;
    support::World& world = disk.world;
    world.engine.start();
    disk.vfs.limit_growth(256 << 10);
    std::uint64_t number = 0;
    std::set<domain::RequestId> accepted;
    bool full = false;
    while (!full && number < 5'000) {
        const auto outcome = world.engine.try_submit(support::input_proof(++number));
        if (const auto* yes = std::get_if<Accepted>(&outcome)) {
            accepted.insert(yes->id);
        } else {
            full = is<Unavailable>(outcome);
        }
    }
    REQUIRE(full);
    world.run_for(1min);
    CHECK(world.engine.logger.count("storage_failed") >= 1);
    CHECK(world.engine.logger.lines().size() <= 12);
    disk.vfs.release_growth();
    world.run_for(30s);
    CHECK(disk.database_ok());
    for (const auto& id : accepted) REQUIRE(world.engine.view(id).has_value());
    CHECK(is<Accepted>(world.engine.try_submit(support::input_proof(++number))));
}

TEST_CASE("what the database fails of has a label of its own, and a full disk a longer wait") {
    struct Row {
        int code;
        const char* label;
        std::uint32_t retry_after_seconds;
    };
    for (const Row& row :
         {Row{SQLITE_FULL, "disk_full", 30}, Row{SQLITE_IOERR_WRITE, "disk_failed", 5},
          Row{SQLITE_BUSY, "database_busy", 5}}) {
        CAPTURE(row.label);
        Disk disk;
        support::World& world = disk.world;
        world.engine.start();
        disk.break_writes(row.code);
        // The first in the step that failed, the second while the database is closed.
        for (const std::uint64_t number : {1, 2}) {
            CAPTURE(number);
            const auto refused = world.engine.try_submit(support::input_proof(number));
            REQUIRE(is<Unavailable>(refused));
            CHECK(std::get<Unavailable>(refused).label == row.label);
            CHECK(std::get<Unavailable>(refused).retry_after_seconds == row.retry_after_seconds);
        }
        CHECK(world.engine.logger.count(std::string("storage_failed label=") + row.label + " ") ==
              1);
        disk.vfs.heal();
    }
}

TEST_CASE("a corrupt file stops the program instead of being retried") {
    for (const int code : {SQLITE_CORRUPT, SQLITE_NOTADB}) {
        CAPTURE(code);
        Disk disk;
        disk.world.engine.start();
        disk.vfs.fail({FaultVfs::Operation::write, 1, code, true});
        bool told = false;
        disk.world.engine.post(support::input_proof(1), [&](engine::AcceptOutcome outcome) {
            told = is<Unavailable>(outcome);
        });
        CHECK_THROWS_AS(disk.world.engine.turn(), store::StorageError);
        CHECK(told);
        disk.vfs.heal();
    }
}

TEST_CASE("the events of a step that failed are applied later: nothing lost, nothing twice") {
    Disk disk;
    support::World& world = disk.world;
    const auto checked = world.submit(support::public_decrypt(1));
    world.gateway.prepare_delay = 20ms;
    const auto prepared = world.submit(support::input_proof(2));
    const auto answered = world.submit(support::input_proof(3));
    int seals = 0;
    world.gateway.on_seal = [&] { ++seals; };
    world.run_for(1ms);
    disk.break_writes();
    // The answer of the check, then the two plans come in while nothing can be written.
    world.run_for(30s);
    CHECK(world.status(checked) == Status::queued);
    CHECK(world.status(prepared) == Status::processing);
    CHECK(world.gateway.sends.empty());
    disk.vfs.heal();
    world.run_for(10s);
    for (const auto& id : {checked, prepared, answered}) {
        CHECK(world.status(id) == Status::receipt_received);
    }
    CHECK(world.gateway.checks.size() == 1);
    CHECK(world.gateway.prepares.size() == 3);
    CHECK(world.gateway.sends.size() == 3);
    CHECK(world.number("select count(*) from attempt") == 3);

    disk.break_writes();
    world.gateway.answer(answered, support::proof_accepted());
    world.run_for(7s);
    CHECK(world.status(answered) == Status::receipt_received);
    CHECK(world.number("select count(*) from cursor where listener = 'gateway'") == 0);
    disk.vfs.heal();
    world.run_for(7s);
    CHECK(world.status(answered) == Status::completed);
    CHECK(world.number("select position from cursor where listener = 'gateway'") == 1);
}

TEST_CASE("nothing is ordered from the chain by a step that was not committed") {
    Disk disk;
    support::World& world = disk.world;
    world.engine.options.readiness.public_decrypt.max_concurrency = 1;
    world.engine.options.sends_max = 1;
    world.gateway.check_delay = world.gateway.prepare_delay = 10ms;
    for (std::uint64_t number = 1; number <= 3; ++number) {
        (void)world.submit(support::public_decrypt(number));
        (void)world.submit(support::input_proof(number));
        (void)world.submit(support::vote_share(number));
    }
    const auto checks = world.gateway.checks.size();
    const auto prepares = world.gateway.prepares.size();
    disk.break_writes();
    world.run_for(20s);
    CHECK(world.gateway.checks.size() == checks);
    CHECK(world.gateway.prepares.size() == prepares);
    CHECK(world.gateway.sends.empty());
    const auto& gates = world.engine.process().gates;
    CHECK(gates.checks_running(Family::public_decrypt) == 1);
    CHECK(gates.sends_in_flight() == 1);
    CHECK(gates.shares_in_work() == 2);
    disk.vfs.heal();
    world.run_for(20s);
    CHECK(world.number("select count(*) from request where status = 'receipt_received'") == 6);
    CHECK(world.number("select count(*) from request where status = 'completed'") == 3);
    CHECK(gates.checks_running(Family::public_decrypt) == 0);
    CHECK(gates.sends_in_flight() == 0);
    CHECK(gates.shares_in_work() == 0);
}

TEST_CASE("after a failed step every place in the lines is what it was") {
    Disk disk;
    support::World& world = disk.world;
    world.engine.options.readiness.public_decrypt.max_concurrency = 1;
    world.engine.options.sending.input_proof = {1, 1, 11'000, 1'000};
    bool silent = true;
    world.gateway.on_check = [&](const engine::CheckOrder&) -> std::optional<engine::CheckOutcome> {
        if (silent) return std::nullopt;
        return engine::Ready{};
    };
    std::vector<domain::RequestId> ids;
    for (std::uint64_t number = 0; number < 12; ++number) {
        ids.push_back(world.submit(support::public_decrypt(number)));
        ids.push_back(world.submit(support::input_proof(number)));
    }
    world.run_for(100ms);
    std::vector<std::optional<std::uint64_t>> before;
    for (const auto& id : ids) before.push_back(place(world, id));
    CHECK(before[0] == std::nullopt);
    CHECK(before[2] == 0);
    CHECK(before[23] == 10);

    disk.break_writes();
    (void)world.engine.try_submit(support::public_decrypt(100));
    disk.vfs.heal();
    world.engine.turn();
    for (std::size_t i = 0; i < ids.size(); ++i) {
        CAPTURE(i);
        CHECK(place(world, ids[i]) == before[i]);
    }

    // A step that lets somebody through and fails: the next one lets the same one through.
    silent = false;
    disk.break_writes();
    world.engine.process().inbox.checked({{ids[0], engine::Ready{}}});
    world.clock.advance(1s);
    world.engine.turn();
    disk.vfs.heal();
    world.engine.turn();
    CHECK(place(world, ids[2]) == std::nullopt);
    CHECK(place(world, ids[4]) == 0);
    CHECK(place(world, ids[22]) == 9);
    world.run_for(30s);
    std::vector<domain::RequestId> proofs;
    for (const auto& sent : world.gateway.sends) {
        if (sent.order.kind == Kind::input_proof) proofs.push_back(sent.order.id);
    }
    REQUIRE(proofs.size() == 12);
    for (std::size_t i = 0; i < 12; ++i) CHECK(proofs[i] == ids[2 * i + 1]);
}

TEST_CASE("suspects are not forgotten by a step that fails") {
    Disk disk;
    support::World& world = disk.world;
    world.gateway.on_prepare = [](const engine::PrepareOrder&) { return std::nullopt; };
    std::vector<domain::RequestId> ids;
    for (std::uint64_t number = 1; number <= 3; ++number) {
        ids.push_back(world.submit(support::input_proof(number)));
    }
    for (int crash = 0; crash < 3; ++crash) {
        world.restart();
        world.run_for(1ms);
    }
    CHECK(world.engine.recovered.suspects == 3);
    world.crash();
    world.gateway.on_prepare = [](const engine::PrepareOrder&) { return engine::Plan{}; };
    world.engine.start();
    // Each step on the way fails once: the release of a suspect, the answer that clears it.
    for (int step = 0; step < 20; ++step) {
        disk.vfs.fail({FaultVfs::Operation::write, 1, SQLITE_IOERR_WRITE, false});
        world.run_for(6s);
        disk.vfs.heal();
        world.run_for(6s);
    }
    for (const auto& id : ids) CHECK(world.status(id) == Status::receipt_received);
}

TEST_CASE("the n-th write of a life fails, for every n: the outcome is the same") {
    int failed_steps = 0;
    bool struck = true;
    for (std::uint64_t nth = 1; struck; nth += nth < 60 ? 1 : 7) {
        CAPTURE(nth);
        REQUIRE(nth < 5'000);
        Disk disk;
        support::World& world = disk.world;
        world.engine.options.readiness.public_decrypt.max_concurrency = 2;
        world.engine.options.sending.user_decrypt = {5, 1, 11'000, 1'000};
        std::map<domain::RequestId, Kind> requests;
        world.engine.start();
        disk.vfs.fail({FaultVfs::Operation::write, nth, SQLITE_IOERR_WRITE, false});
        std::uint64_t number = 0;
        for (const Kind kind : domain::kinds) {
            for (int i = 0; i < 3; ++i) {
                ++number;
                // A client that was told to come back does.
                auto outcome = world.engine.try_submit(support::request_of(kind, number));
                for (int retry = 0; retry < 5 && is<Unavailable>(outcome); ++retry) {
                    world.run_for(6s);
                    outcome = world.engine.try_submit(support::request_of(kind, number));
                }
                REQUIRE(is<Accepted>(outcome));
                requests.emplace(std::get<Accepted>(outcome).id, kind);
            }
            world.run_for(5ms);
        }
        world.run_for(20s);
        for (const auto& [id, kind] : requests) support::answer_well(world.gateway, id, kind);
        world.run_for(20s);
        for (const auto& [id, kind] : requests) REQUIRE(world.status(id) == Status::completed);
        CHECK(world.number("select count(*) from request") == 18);
        CHECK(world.number("select max(ordinal) from attempt") == 0);
        std::set<domain::RequestId> sent;
        for (const auto& send : world.gateway.sends) {
            CHECK_FALSE(send.order.look_up_first);
            CHECK(sent.insert(send.order.id).second);
        }
        const auto& gates = world.engine.process().gates;
        CHECK(gates.sends_in_flight() == 0);
        CHECK(gates.shares_in_work() == 0);
        CHECK(gates.checks_running(Family::user_decrypt) == 0);
        CHECK(gates.checks_running(Family::public_decrypt) == 0);
        struck = disk.vfs.struck();
        disk.vfs.heal();
        failed_steps += world.engine.logger.count("storage_failed") > 0 ? 1 : 0;
    }
    CHECK(failed_steps > 20);
}

TEST_CASE("events that end many requests do not flood the log while the disk fails") {
    Disk disk;
    support::World& world = disk.world;
    world.gateway.on_prepare = [](const engine::PrepareOrder&) {
        return engine::Rejected{{domain::Reason::reverted, "reverted", {}}};
    };
    world.engine.options.sending.input_proof = {1'000, 0, 11'000, 1'000};
    for (std::uint64_t number = 1; number <= 50; ++number) {
        (void)world.submit(support::input_proof(number));
    }
    disk.break_writes();
    world.run_for(10min);
    CHECK(world.engine.logger.lines().size() <= 6);
    disk.vfs.heal();
    world.run_for(10s);
    CHECK(world.engine.logger.count("request_ended") == 50);
}

TEST_CASE(
    "the real loop: threads are answered after their commit, stop ends it, later ones are "
    "refused") {
    support::World world;
    auto& process = world.engine.process();
    std::jthread loop{[&] { process.processor.run(Milliseconds{0}); }};
    std::atomic<int> accepted{0};
    {
        std::vector<std::jthread> clients;
        for (std::uint64_t client = 0; client < 4; ++client) {
            clients.emplace_back([&, client] {
                for (std::uint64_t i = 0; i < 50; ++i) {
                    const auto outcome =
                        process.service.accept(support::input_proof(client * 1'000 + i), {});
                    accepted += is<Accepted>(outcome) ? 1 : 0;
                    if (const auto* yes = std::get_if<Accepted>(&outcome)) {
                        const auto found = process.service.find(yes->id);
                        accepted += is<engine::Pending>(found) ? 0 : 1'000;
                    }
                }
            });
        }
    }
    CHECK(accepted == 200);
    process.inbox.stop();
    loop.join();
    CHECK(is<Unavailable>(process.service.accept(support::input_proof(9), {})));
    CHECK(world.number("select count(*) from request") == 200);
}

TEST_CASE("the real loop stops in time although the disk fails") {
    Disk disk;
    support::World& world = disk.world;
    auto& process = world.engine.process();
    disk.break_writes();
    process.inbox.stop();
    process.processor.run(Milliseconds{0});
    CHECK(is<Unavailable>(process.service.accept(support::input_proof(1), {})));
    disk.vfs.heal();
}

TEST_CASE("the real loop answers everybody when it dies of a corrupt file") {
    Disk disk;
    support::World& world = disk.world;
    auto& process = world.engine.process();
    disk.vfs.fail({FaultVfs::Operation::write, 1, SQLITE_CORRUPT, true});
    int told = 0;
    for (std::uint64_t number = 1; number <= 3; ++number) {
        world.engine.post(support::input_proof(number),
                          [&](engine::AcceptOutcome outcome) { told += is<Unavailable>(outcome); });
    }
    CHECK_THROWS_AS(process.processor.run(Milliseconds{0}), store::StorageError);
    CHECK(told == 3);
    CHECK(process.inbox.submit({}));
    disk.vfs.heal();
}

TEST_CASE("a stopping engine starts nothing new and lets what is in flight report") {
    support::World world;
    world.engine.options.sends_max = 2;
    std::vector<domain::RequestId> ids;
    for (std::uint64_t number = 1; number <= 5; ++number) {
        ids.push_back(world.submit(support::input_proof(number)));
    }
    REQUIRE(world.gateway.prepares.size() == 2);
    world.engine.process().inbox.stop();
    world.run_for(1min);
    CHECK(world.gateway.prepares.size() == 2);
    CHECK(world.status(ids[0]) == Status::receipt_received);
    CHECK(world.status(ids[1]) == Status::receipt_received);
    CHECK(world.status(ids[2]) == Status::processing);
    CHECK(world.engine.process().processor.in_flight() == 0);
}

TEST_CASE("a database that was removed while in use ends the process at the next maintenance") {
    support::World world;
    static_cast<void>(world.submit(support::input_proof(1)));
    world.run_for(1s);
    const auto path = store::database_path(world.engine.store_options);
    std::filesystem::rename(path, path.string() + ".gone");
    CHECK_THROWS_AS(world.run_for(1min), store::StorageError);
    CHECK_FALSE(world.engine.process().processor.is_open());
    std::filesystem::rename(path.string() + ".gone", path);
}
