#pragma once

#include <atomic>

#include "engine/gates.hpp"
#include "engine/health.hpp"
#include "engine/inbox.hpp"
#include "engine/instructions.hpp"
#include "engine/processor.hpp"
#include "engine/request_reader.hpp"
#include "engine/submitter.hpp"
#include "engine/tuning.hpp"
#include "engine/vote_queue.hpp"
#include "ports/clock.hpp"
#include "store/errors.hpp"
#include "store/reader.hpp"

namespace engine {

// What the outside sees of the engine. Any thread.
class Service : public Submitter,
                public RequestReader,
                public Health,
                public Control,
                public Instructed,
                public VoteQueue {
public:
    Service(Inbox& inbox, const Processor& processor, const Gates& gates, const Gateway& gateway,
            store::Reader& reader, const ports::Clock& clock);

    void submit(const domain::Request& request, const SubmitOptions& options, Reply reply) override;
    [[nodiscard]] FindOutcome find(const domain::RequestId& id) override;
    [[nodiscard]] QueueAnswer rounds() override;
    [[nodiscard]] std::vector<Dependency> dependencies() const override;
    [[nodiscard]] Tuning tuning() const override { return gates_.tuning(); }
    void retune(Retune change) override;
    // As the reader has it, and shares past their second count as scheduled while they are in work
    // or pause. Throws StorageError.
    [[nodiscard]] store::Backlog backlog();
    void instruct(Instruction instruction) override;

private:
    // What a failed read is answered with.
    [[nodiscard]] Unreadable unreadable(const store::StorageError& error);
    [[nodiscard]] Pending pending(const store::StoredRequest& stored) const;

    Inbox& inbox_;
    const Processor& processor_;
    const Gates& gates_;
    const Gateway& gateway_;
    store::Reader& reader_;
    const ports::Clock& clock_;
    // A reader found the file damaged: what is written to it now could be lost with it.
    std::atomic<bool> damaged_{false};
};

}  // namespace engine
