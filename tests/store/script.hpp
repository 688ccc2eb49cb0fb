#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "store/store.hpp"
#include "support/fault_vfs.hpp"
#include "support/temp_directory.hpp"

// A day of the post house in a few commits, the same every time.
namespace script {

struct Step {
    std::string label;
    std::function<void(store::Store&)> run;  // one transaction, or upkeep outside of one
};

[[nodiscard]] const std::vector<Step>& steps();

// What is in the tables after so many steps, from none to all.
[[nodiscard]] const std::vector<std::string>& contents_after();

// The script on a disk that obeys.
class Run {
public:
    explicit Run(store::Options with = {});

    void open() { store_ = std::make_unique<store::Store>(options_); }
    void close() { store_.reset(); }
    [[nodiscard]] bool is_open() const { return store_ != nullptr; }

    // From where it stands until so many steps are done; the error that stopped it.
    std::optional<store::StorageError> go_on(std::size_t until = steps().size());

    [[nodiscard]] std::string contents() const;
    [[nodiscard]] std::string integrity() const;
    [[nodiscard]] std::string next_step() const;

    support::FaultVfs vfs;
    std::size_t done = 0;  // steps that returned

private:
    support::TempDirectory directory_;
    store::Options options_;
    std::unique_ptr<store::Store> store_;
};

// Goes on to the end, which must be the same as ever, also for the next process.
void check_end(Run& run);

}  // namespace script
