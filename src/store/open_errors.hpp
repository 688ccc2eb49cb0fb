#pragma once

#include <filesystem>
#include <string>

#include "store/errors.hpp"

namespace store {

// What no wait mends; any other OpenError may go well later.

// This process may not write there.
class NotWritable : public OpenError {
public:
    using OpenError::OpenError;
};

// A database of another program, or of a newer version of this one.
class ForeignDatabase : public OpenError {
public:
    using OpenError::OpenError;
};

// A file to be read is not what its program wrote. Of our own database StorageError says it.
class DamagedDatabase : public OpenError {
public:
    using OpenError::OpenError;
};

// The settings do not allow such a place.
class UntrustedPlace : public OpenError {
public:
    using OpenError::OpenError;
};

// Throws NotWritable or OpenError for an errno that ended `tried`, such as "can not open FILE".
// `place`: the file or directory that is not as it should be.
[[noreturn]] void refuse_place(const std::string& tried, const std::filesystem::path& place,
                               int error);

}  // namespace store
