#pragma once

#include <array>
#include <string_view>

namespace config {

// What the program ends with. 4 and above, and 2, stay the same however often it is started again:
// packaging/posthouse.service names them in RestartPreventExitStatus=.
inline constexpr int exit_failed = 1;
inline constexpr int exit_usage = 2;
inline constexpr int exit_not_all = 3;
inline constexpr int exit_damaged = 4;
inline constexpr int exit_not_writable = 5;
inline constexpr int exit_foreign = 6;

struct ExitStatus {
    int value;
    std::string_view meaning;
};

inline constexpr std::array exit_statuses{
    ExitStatus{0, "a clean end"},
    ExitStatus{exit_failed, "it could not start, had to stop, or something failed"},
    ExitStatus{exit_usage, "wrong usage, or a broken configuration"},
    ExitStatus{exit_not_all, "not all of it: import-helper-db or export left something out"},
    ExitStatus{exit_damaged, "a database is damaged, or was taken away while in use"},
    ExitStatus{exit_not_writable, "the data directory can not be written"},
    ExitStatus{
        exit_foreign,
        "the database is somebody else's: of another program, chain or signer, or a newer version"},
};

}  // namespace config
