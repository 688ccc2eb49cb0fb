#pragma once

#include <initializer_list>
#include <string_view>
#include <vector>

#include "config/key.hpp"

namespace config {

// Every key, in the order of the example file. Built once.
[[nodiscard]] const std::vector<Key>& keys();
[[nodiscard]] const std::vector<TableList>& table_lists();

// `name` with [] for each index; nothing when unknown.
[[nodiscard]] const Key* find_key(std::string_view name);
[[nodiscard]] const TableList* find_table_list(std::string_view name);
// Some key stands below it.
[[nodiscard]] bool is_table(std::string_view name);

[[nodiscard]] std::vector<Key> joined(std::initializer_list<std::vector<Key>> parts);

// The parts of the table.
[[nodiscard]] std::vector<Key> http_keys();
[[nodiscard]] std::vector<Key> chain_keys();
[[nodiscard]] std::vector<Key> gateway_keys();
[[nodiscard]] std::vector<Key> evm_keys();
[[nodiscard]] std::vector<Key> signer_keys();
[[nodiscard]] std::vector<Key> loopback_keys();
[[nodiscard]] std::vector<Key> storage_keys();
[[nodiscard]] std::vector<Key> helper_keys();
[[nodiscard]] std::vector<Key> votes_keys();
[[nodiscard]] std::vector<Key> engine_keys();
[[nodiscard]] std::vector<Key> cluster_keys();

}  // namespace config
