// The names under which a namespace's decisions are kept in etcd.
//
// Those under v1/{namespace}/planner/ are the contract with existing clients, who know keys by how they end.
// Our own stand beside that root, where those clients do not look: a record for each decision, and the
// leader.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>

#include "core/event.hpp"

namespace dynaplan::connector {

struct EtcdKeys {
    explicit EtcdKeys(const std::string& name_space)
        : all{"v1/" + name_space + "/"},
          prefill{all + "planner/num_prefill_workers"},
          decode{all + "planner/num_decode_workers"},
          current{all + "planner/decision_id"},
          acknowledged{all + "planner/scaled_decision_id"},
          records{all + "dynaplan/decisions/"},
          leader{all + "dynaplan/leader"} {}

    // Numbers of one length, so that keys sort as they do: nothing but a decision's id, from 0 on.
    [[nodiscard]] std::string record(DecisionId id) const {
        const std::string digits = std::to_string(id);
        constexpr std::size_t width = 19;  // digits of the largest 64-bit number
        return records + std::string(width - std::min(width, digits.size()), '0') + digits;
    }

    std::string all;  // the prefix of all of them: one listing sees one state
    std::string prefill;
    std::string decode;
    std::string current;
    std::string acknowledged;
    std::string records;
    std::string leader;
};

}  // namespace dynaplan::connector
