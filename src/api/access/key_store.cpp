#include "api/access/key_store.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>
#include <variant>
#include <vector>

#include "api/access/secret_file.hpp"

namespace api::access {

namespace {

// First of all, so that a key of the file with the same text counts, with its limit.
ClientKeys with_token(const ClientKeys& read, std::string_view token) {
    std::vector<ClientKey> all;
    if (!token.empty())
        all.push_back({client_named("helper.api_token"), digest_of(token), nullptr});
    all.insert(all.end(), read.all().begin(), read.all().end());
    return ClientKeys(std::move(all));
}

std::variant<ClientKeys, std::string> keys_in(const KeySource& source) {
    if (source.file.empty()) return ClientKeys();
    auto text = read_secret_file(source.file, source.credentials_directory);
    if (auto* problem = std::get_if<FileProblem>(&text)) return std::move(problem->text);
    auto& content = std::get<std::string>(text);
    auto keys = ClientKeys::read(content, source.file);
    wipe(content);
    return keys;
}

}  // namespace

KeyStore::KeyStore(KeySource source)
    : source_(std::move(source)), keys_(std::make_shared<const ClientKeys>()) {
    if (const auto problem = reload()) throw std::runtime_error(*problem);
}

std::shared_ptr<const ClientKey> KeyStore::find(std::string_view key) const {
    auto keys = this->keys();
    const ClientKey* found = keys->find(key);
    if (found == nullptr) return nullptr;
    return {std::move(keys), found};
}

std::string KeyStore::client_name(std::uint64_t id) const {
    const auto keys = this->keys();
    const auto found =
        std::ranges::find(keys->all(), id, [](const ClientKey& key) { return key.client.id; });
    return found == keys->all().end() ? std::string() : found->client.name;
}

bool KeyStore::knows(const ClientKey& key) const {
    const auto keys = this->keys();
    return std::ranges::any_of(keys->all(), [&](const ClientKey& known) {
        return equal_in_constant_time(known.digest, key.digest);
    });
}

std::optional<std::string> KeyStore::reload() {
    const std::lock_guard one_at_a_time(reloading_);
    auto read = keys_in(source_);
    if (auto* problem = std::get_if<std::string>(&read)) return std::move(*problem);
    ClientKeys all = with_token(std::get<ClientKeys>(read), source_.token);
    all.take_over_limiters(*keys());
    std::shared_ptr<const ClientKeys> next = std::make_shared<const ClientKeys>(std::move(all));
    {
        const std::lock_guard lock(mutex_);
        keys_.swap(next);
    }
    return {};
}

std::size_t KeyStore::size() const {
    return keys()->size() - (source_.token.empty() ? 0 : 1);
}

std::shared_ptr<const ClientKeys> KeyStore::keys() const {
    const std::lock_guard lock(mutex_);
    return keys_;
}

}  // namespace api::access
