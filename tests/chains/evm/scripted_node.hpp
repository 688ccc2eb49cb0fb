#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "chains/jsonrpc/node.hpp"

namespace support {

// A JSON-RPC node that says what the test wants: each method asks its function, others are "method
// not found". One thread.
class ScriptedNode : public chains::jsonrpc::Node {
public:
    using Answer = chains::jsonrpc::Answer;
    using Call = chains::jsonrpc::Call;
    using Json = chains::jsonrpc::Json;
    using Script = std::function<Answer(const Json& params)>;

    std::map<std::string, Script> on;
    std::vector<Call> calls;           // every one, batched or not
    std::vector<std::size_t> batches;  // their sizes; 1 for single calls
    std::optional<std::string> said_problem;
    std::optional<std::string> said_remark;
    bool stopped = false;

    // Answers in this order, the last one for ever.
    void say(const std::string& method, std::vector<Answer> answers) {
        on[method] = [answers = std::move(answers), next = std::size_t{0}](const Json&) mutable {
            return answers[std::min(next++, answers.size() - 1)];
        };
    }

    using chains::jsonrpc::Node::call;
    [[nodiscard]] Answer call(const Call& call,
                              std::optional<domain::Milliseconds> /*timeout*/) override {
        batches.push_back(1);
        return answer(call);
    }

    [[nodiscard]] std::vector<Answer> call_all(const std::vector<Call>& all) override {
        batches.push_back(all.size());
        std::vector<Answer> answers;
        for (const Call& one : all) answers.push_back(answer(one));
        return answers;
    }

    void stop() override { stopped = true; }
    [[nodiscard]] std::optional<std::string> problem() const override { return said_problem; }
    [[nodiscard]] std::optional<std::string> remark() const override { return said_remark; }

    [[nodiscard]] std::size_t count(const std::string& method) const {
        return static_cast<std::size_t>(std::count_if(
            calls.begin(), calls.end(), [&](const Call& call) { return call.method == method; }));
    }

private:
    [[nodiscard]] Answer answer(const Call& call) {
        calls.push_back(call);
        const auto script = on.find(call.method);
        if (script == on.end()) {
            return chains::jsonrpc::NodeError{
                -32601, "the method " + call.method + " does not exist", {}};
        }
        return script->second(call.params);
    }
};

}  // namespace support
