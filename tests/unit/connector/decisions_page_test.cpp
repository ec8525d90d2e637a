// The sample of proto/decisions-file.md is what the store writes, and reads as the page says.
#include <fstream>
#include <string>

#include <doctest/doctest.h>

#include "connector/decisions_file.hpp"
#include "connector/file_store.hpp"
#include "support/temp_folder.hpp"

namespace dynaplan::connector {

namespace {

// The lines of the page's one block of text.
std::string sample() {
    std::ifstream page{std::string{DYNAPLAN_PROTO_DIR} + "/decisions-file.md"};
    REQUIRE(page.good());
    std::string text;
    bool inside = false;
    for (std::string line; std::getline(page, line);) {
        if (line.starts_with("```")) {
            inside = !inside;
        } else if (inside) {
            text += line + "\n";
        }
    }
    return text;
}

port::DecisionRecord first_record(DecisionState state) {
    port::DecisionRecord r;
    r.decision_id = 0;
    r.proposal = 3;
    r.prefill = Replicas{2};
    r.decode = Replicas{5};
    r.reason = Reason::scale_up;
    r.state = state;
    r.published_wall_ms = 1776800000123;
    r.why_json = R"({"estimated_itl_ms":61.2})";
    return r;
}

port::Transaction publication() {
    port::Transaction t;
    t.current = 0;
    t.prefill = Replicas{2};
    t.decode = Replicas{5};
    t.put = {first_record(DecisionState::published)};
    return t;
}
port::Transaction acknowledgement() {
    port::Transaction t;
    t.expected_revision = 1;
    t.acknowledged = 0;
    t.put = {first_record(DecisionState::acknowledged)};
    return t;
}

}  // namespace

TEST_CASE("decisions file: the page's sample is what the store writes") {
    const support::TempFolder folder;
    FileStore store{{folder.path(), 1U << 20U, nullptr}};
    REQUIRE(store.try_lock());
    REQUIRE(store.commit(publication())->result == port::CommitResult::ok);
    REQUIRE(store.commit(acknowledgement())->result == port::CommitResult::ok);
    CHECK(support::bytes_of(store.path()) == sample());
}

TEST_CASE("decisions file: the page's sample reads as the page says") {
    const auto file = read_decisions(sample());
    REQUIRE(file);
    CHECK(file->torn.empty());
    port::StoredState expected;
    REQUIRE(port::apply(publication(), expected));
    REQUIRE(port::apply(acknowledgement(), expected));
    CHECK(file->state == expected);
}

TEST_CASE("decisions file: a sound line that makes no sense is refused by its offset") {
    std::string start{decisions_header};
    append_state_line(start, {});
    const auto refusal = [&](const port::Transaction& t) {
        std::string bytes = start;
        append_transaction_line(bytes, t);
        const auto file = read_decisions(bytes);
        REQUIRE_FALSE(file);
        return file.error().message;
    };
    port::Transaction late = publication();
    late.expected_revision = 7;
    CHECK(refusal(late) ==
          "offset " + std::to_string(start.size()) + ": the line expects revision 7 where the file is at 0");
    CHECK(read_decisions(decisions_header).error().message ==
          "offset 21: the state that a file begins with is missing");
    std::string twice = start;
    append_state_line(twice, {});
    CHECK(read_decisions(twice).error().message ==
          "offset " + std::to_string(start.size()) + ": the line is a second state");
    std::string headless{decisions_header};
    append_transaction_line(headless, publication());
    CHECK(read_decisions(headless).error().message ==
          "offset 21: the line is not the state that a file begins with");
}

}  // namespace dynaplan::connector
