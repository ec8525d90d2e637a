// JSON through nlohmann's event interface, over an iterator that counts lines.
#include <nlohmann/json.hpp>

#include <iterator>

#include "app/config_node.hpp"

namespace dynaplan::app {
namespace {

// Walks the text and remembers the line it is on; the parser takes copies, so the line lives outside.
class LineCounter {
public:
    using iterator_category = std::input_iterator_tag;
    using value_type = char;
    using difference_type = std::ptrdiff_t;
    using pointer = const char*;
    using reference = const char&;

    LineCounter(const char* at, int* line) : at_{at}, line_{line} {}
    reference operator*() const { return *at_; }
    LineCounter& operator++() {
        if (*at_ == '\n') ++*line_;
        ++at_;
        return *this;
    }
    LineCounter operator++(int) {
        LineCounter before = *this;
        ++*this;
        return before;
    }
    bool operator==(const LineCounter& other) const { return at_ == other.at_; }
    bool operator!=(const LineCounter& other) const { return at_ != other.at_; }

private:
    const char* at_;
    int* line_;
};

// A key's line is exact. A number is only known to have ended by the character after it, so its own line may
// be one too high; in a map the key's line is used.
class TreeBuilder : public nlohmann::json_sax<nlohmann::json> {
public:
    explicit TreeBuilder(const int* line) : line_{line} {}
    [[nodiscard]] Node take() { return std::move(root_); }
    [[nodiscard]] tl::unexpected<Error> problem() const { return document_failure(problem_line_, problem_); }

    bool null() override { return scalar(FieldValue{}); }
    bool boolean(bool v) override { return scalar(FieldValue{v}); }
    bool number_integer(number_integer_t v) override { return scalar(FieldValue{std::int64_t{v}}); }
    bool number_unsigned(number_unsigned_t v) override {
        if (v <= static_cast<std::uint64_t>(INT64_MAX))
            return scalar(FieldValue{static_cast<std::int64_t>(v)});
        return scalar(FieldValue{static_cast<double>(v)});
    }
    bool number_float(number_float_t v, const string_t&) override { return scalar(FieldValue{v}); }
    bool string(string_t& v) override { return scalar(FieldValue{v}); }
    bool binary(binary_t&) override { return false; }
    bool start_object(std::size_t) override { return open(Node::Kind::map); }
    bool start_array(std::size_t) override { return open(Node::Kind::list); }
    bool end_object() override { return close(); }
    bool end_array() override { return close(); }
    bool key(string_t& v) override {
        open_.back().keys.push_back(v);
        key_line_.back() = *line_;
        return true;
    }
    bool parse_error(std::size_t, const std::string&, const nlohmann::detail::exception& e) override {
        // "[json.exception.parse_error.101] parse error at line 3, column 5: syntax error ..."
        std::string text = e.what();
        if (const auto bracket = text.find("] "); bracket != std::string::npos) text.erase(0, bracket + 2);
        const auto colon = text.find(": ");
        if (text.rfind("parse error at", 0) == 0 && colon != std::string::npos) text.erase(0, colon + 2);
        return refuse(text);
    }

private:
    bool refuse(const std::string& what) {
        problem_line_ = *line_;
        problem_ = what;
        return false;
    }
    bool count() {
        return ++nodes_ <= config_nodes_max ||
               refuse("more than " + std::to_string(config_nodes_max) + " values");
    }
    bool scalar(FieldValue v) {
        Node n;
        n.scalar = std::move(v);
        n.line = *line_;
        return count() && put(std::move(n));
    }
    bool open(Node::Kind kind) {
        if (open_.size() >= config_depth_max) {
            return refuse("nested deeper than " + std::to_string(config_depth_max) + " levels");
        }
        Node n;
        n.kind = kind;
        n.line = *line_;
        open_.push_back(std::move(n));
        key_line_.push_back(*line_);
        return count();
    }
    bool close() {
        Node done = std::move(open_.back());
        open_.pop_back();
        key_line_.pop_back();
        return put(std::move(done));
    }
    bool put(Node n) {
        if (open_.empty()) {
            root_ = std::move(n);
            return true;
        }
        if (open_.back().kind == Node::Kind::map) n.line = key_line_.back();
        open_.back().items.push_back(std::move(n));
        return true;
    }

    const int* line_;
    Node root_;
    std::vector<Node> open_;
    std::vector<int> key_line_;
    std::size_t nodes_ = 0;
    int problem_line_ = 1;
    std::string problem_;
};

}  // namespace

Result<Node> parse_json(std::string_view text) {
    int line = 1;
    TreeBuilder builder{&line};
    const LineCounter first{text.data(), &line};
    const LineCounter last{text.data() + text.size(), &line};
    const bool done = nlohmann::json::sax_parse(first, last, &builder);
    if (!done) return builder.problem();
    return builder.take();
}

}  // namespace dynaplan::app
