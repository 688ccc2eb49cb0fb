#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "api/access/client_keys.hpp"

namespace api::access {

// Where the keys of one realm come from.
struct KeySource {
    std::string name;   // in the log: `client_keys`
    std::string file;   // as read_secret_file takes it; empty: none
    std::string token;  // one more key, from the configuration; empty: none
    std::string credentials_directory;
};

// The keys of one realm, replaced as a whole. Any thread.
class KeyStore {
public:
    // Throws std::runtime_error that says what is wrong with the file.
    explicit KeyStore(KeySource source);

    // Neither file nor token: there is nothing to show a key to.
    [[nodiscard]] bool is_needed() const { return !source_.file.empty() || !source_.token.empty(); }
    [[nodiscard]] bool has_file() const { return !source_.file.empty(); }
    [[nodiscard]] const std::string& name() const { return source_.name; }
    [[nodiscard]] const std::string& file() const { return source_.file; }

    // Nothing: no such key. What it finds outlives a reload.
    [[nodiscard]] std::shared_ptr<const ClientKey> find(std::string_view key) const;

    // Whose id this is; empty: nobody's now.
    [[nodiscard]] std::string client_name(std::uint64_t id) const;

    // Whether a key that was found is still there.
    [[nodiscard]] bool knows(const ClientKey& key) const;

    // Reads the file again. Names that stay with the same allowance go on where they were. If the
    // file is bad, the answer says why and the old keys stay.
    [[nodiscard]] std::optional<std::string> reload();
    // Keys of the file.
    [[nodiscard]] std::size_t size() const;

private:
    [[nodiscard]] std::shared_ptr<const ClientKeys> keys() const;

    const KeySource source_;
    std::mutex reloading_;
    mutable std::mutex mutex_;
    std::shared_ptr<const ClientKeys> keys_;
};

}  // namespace api::access
