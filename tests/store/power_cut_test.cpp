#include <doctest/doctest.h>

#include <algorithm>
#include <string>

#include "store/script.hpp"
#include "support/fault_vfs.hpp"

using support::FaultVfs;
using Operation = FaultVfs::Operation;
using Unsynced = FaultVfs::Unsynced;

namespace {

constexpr Unsynced everything[] = {Unsynced::lost, Unsynced::torn, Unsynced::kept};

std::string name_of(Unsynced unsynced) {
    switch (unsynced) {
        case Unsynced::lost:
            return "lost";
        case Unsynced::torn:
            return "torn";
        case Unsynced::kept:
            return "kept";
    }
    return "";
}

// The next process on the same disk.
void restart(script::Run& run) {
    run.close();
    run.vfs.heal();
    run.vfs.restore_power();
    run.open();
}

store::Options relaxed() {
    store::Options options;
    options.synchronous = store::Synchronous::normal;
    return options;
}

// How many steps the tables show, at most `most`; more than that when they show no moment at all.
std::size_t steps_in(const std::string& contents, std::size_t most) {
    for (std::size_t steps = most + 1; steps-- > 0;) {
        if (script::contents_after()[steps] == contents) return steps;
    }
    return most + 1;
}

}  // namespace

TEST_CASE("a power cut after a commit returned takes nothing of it") {
    for (std::size_t steps = 0; steps <= script::steps().size(); ++steps) {
        for (const Unsynced unsynced : everything) {
            CAPTURE(steps);
            CAPTURE(name_of(unsynced));
            script::Run run;
            REQUIRE_FALSE(run.go_on(steps));
            run.vfs.cut_power(unsynced, steps);
            restart(run);
            CHECK(run.contents() == script::contents_after()[steps]);
            CHECK(run.integrity() == "ok");
            script::check_end(run);
        }
    }
}

TEST_CASE("a power cut at any moment leaves what was committed and nothing half done") {
    struct Row {
        std::string label;
        Operation operation;
        Unsynced unsynced;
        std::uint64_t cache_bytes;
    };
    const Row table[] = {
        {"at a sync, unsynced lost", Operation::sync, Unsynced::lost, 1 << 20},
        {"at a sync, unsynced torn", Operation::sync, Unsynced::torn, 1 << 20},
        {"at a sync, the process died", Operation::sync, Unsynced::kept, 1 << 20},
        {"at a write, unsynced lost", Operation::write, Unsynced::lost, 1 << 20},
        {"at a write, unsynced torn", Operation::write, Unsynced::torn, 1 << 20},
        {"at a write, the process died", Operation::write, Unsynced::kept, 1 << 20},
        {"in a transaction, unsynced torn", Operation::write, Unsynced::torn, 4'096},
    };
    for (const Row& row : table) {
        std::uint64_t nth = 0;
        while (true) {
            store::Options options;
            options.cache_bytes = row.cache_bytes;
            script::Run run(options);
            ++nth;
            run.vfs.cut_power_at(row.operation, nth, row.unsynced, nth);
            const auto error = run.go_on();
            CAPTURE(row.label);
            CAPTURE(nth);
            CAPTURE(run.next_step());
            run.close();
            if (!run.vfs.struck()) break;
            restart(run);
            // The commit under way may have reached the disk whole, unless its sync was the end of
            // it.
            const bool all_or_nothing = error && row.unsynced != Unsynced::lost;
            const std::size_t most =
                std::min(run.done + (all_or_nothing ? 1 : 0), script::steps().size());
            const std::size_t found = steps_in(run.contents(), most);
            CHECK(found >= run.done);
            CHECK(found <= most);
            CHECK(run.integrity() == "ok");
            if (found == run.done + 1) ++run.done;
            script::check_end(run);
        }
        CAPTURE(row.label);
        CHECK(nth > 20);
    }
}

TEST_CASE("relaxed durability may lose the newest commits but keeps a moment that was") {
    bool lost_some = false;
    for (std::size_t steps = 0; steps <= script::steps().size(); ++steps) {
        for (const Unsynced unsynced : everything) {
            CAPTURE(steps);
            CAPTURE(name_of(unsynced));
            script::Run run(relaxed());
            REQUIRE_FALSE(run.go_on(steps));
            run.vfs.cut_power(unsynced, steps);
            restart(run);
            const std::size_t found = steps_in(run.contents(), steps);
            CHECK(found <= steps);
            // Two neighbours may look the same: upkeep changes no table.
            if (unsynced == Unsynced::kept) {
                CHECK(run.contents() == script::contents_after()[steps]);
            }
            lost_some = lost_some || run.contents() != script::contents_after()[steps];
            CHECK(run.integrity() == "ok");
            run.done = found;
            script::check_end(run);
        }
    }
    CHECK(lost_some);
}
