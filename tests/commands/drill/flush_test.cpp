#include "commands/drill/flush.hpp"

#include <doctest/doctest.h>

#include <string>
#include <string_view>
#include <vector>

#include "support/temp_directory.hpp"

using namespace commands::drill;
using Trust = FlushVerdict::Trust;
using DeviceKind = Device::Kind;

TEST_CASE("whether a disk flushes, from its speed, its kind and its flag") {
    struct Row {
        std::string_view label;
        Device device;
        double flush_ms;
        Trust expected;
        std::string_view word;
    };
    const std::vector<Row> rows{
        {"memory", {DeviceKind::memory, "", ""}, 0.001, Trust::doubtful, "memory"},
        {"slow memory", {DeviceKind::memory, "", ""}, 5, Trust::doubtful, "memory"},
        {"turning",
         {DeviceKind::rotating, "sda", "write back"},
         8,
         Trust::plausible,
         "8.00 ms a flush, 100 in a second (sda, cache"},
        {"turning and quick",
         {DeviceKind::rotating, "sda", "write back"},
         0.5,
         Trust::doubtful,
         "turning"},
        {"turning, quick, says no cache",
         {DeviceKind::rotating, "sda", "write through"},
         0.5,
         Trust::doubtful,
         "turning"},
        {"flash",
         {DeviceKind::solid_state, "nvme0n1", "write back"},
         0.8,
         Trust::plausible,
         "nvme0n1, cache \"write back\""},
        {"flash that does not wait",
         {DeviceKind::solid_state, "nvme0n1", "write back"},
         0.01,
         Trust::doubtful,
         "0.01 ms a flush"},
        {"flash that says nothing and does not wait",
         {DeviceKind::solid_state, "nvme0n1", ""},
         0.01,
         Trust::doubtful,
         "(nvme0n1)"},
        {"flash with capacitors",
         {DeviceKind::solid_state, "nvme0n1", "write through"},
         0.01,
         Trust::plausible,
         "outlives a power cut"},
        {"virtual",
         {DeviceKind::virtual_disk, "vda", "write back"},
         0.5,
         Trust::not_seen,
         "virtual"},
        {"virtual that does not wait",
         {DeviceKind::virtual_disk, "vda", "write back"},
         0.01,
         Trust::doubtful,
         "vda"},
        {"unknown", {DeviceKind::unknown, "", ""}, 1, Trust::not_seen, "which disk"},
        {"unknown that does not wait",
         {DeviceKind::unknown, "", ""},
         0.001,
         Trust::doubtful,
         "more than a disk can do;"},
    };
    for (const Row& row : rows) {
        CAPTURE(row.label);
        const double time = row.flush_ms;
        const FlushVerdict verdict = judge_flushes({100, time, time, time}, row.device);
        CAPTURE(verdict.words);
        CHECK(verdict.trust == row.expected);
        CHECK(verdict.words.find(row.word) != std::string::npos);
        CHECK(verdict.words.find('\n') == std::string::npos);
    }
}

TEST_CASE("a file system in memory is told from a disk") {
    CHECK(device_of("/dev/shm").kind == DeviceKind::memory);
    CHECK(device_of("/proc").kind == DeviceKind::unknown);
    CHECK(device_of("/nowhere/at/all").kind == DeviceKind::unknown);
}

TEST_CASE("flushes that can not be done say where") {
    CHECK_THROWS_WITH(static_cast<void>(measure_flushes("/nowhere/at/all")),
                      "can not write /nowhere/at/all/flushes: No such file or directory");
}
