#include "store/open_errors.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <system_error>

namespace store {

namespace {

// No wait heals them.
constexpr std::array lasting{EACCES, EPERM, EROFS, ENOTDIR, EISDIR, ELOOP, ENAMETOOLONG};

std::string way_out(const std::filesystem::path& place, int error) {
    if (error == EROFS) {
        return "; " + place.string() +
               " lies where this process may only read: in a unit of systemd name it in "
               "ReadWritePaths=, or let StateDirectory= make the directory; elsewhere mount it "
               "writable";
    }
    if (error != EACCES && error != EPERM) return {};
    std::error_code unknown;
    return std::filesystem::is_regular_file(place, unknown)
               ? "; let this user read and write the file"
               : "; make the data directory writable for this user";
}

}  // namespace

void refuse_place(const std::string& tried, const std::filesystem::path& place, int error) {
    const std::string what =
        tried + ": " + std::generic_category().message(error) + way_out(place, error);
    if (std::ranges::find(lasting, error) != lasting.end()) throw NotWritable(what);
    throw OpenError(what);
}

}  // namespace store
