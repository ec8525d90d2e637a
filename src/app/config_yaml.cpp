// YAML through yaml-cpp's event interface: unlike its node tree it keeps every key, repeated ones too, and
// lets aliases be counted while they are expanded.
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/mark.h>
#include <yaml-cpp/parser.h>

#include <algorithm>
#include <map>
#include <sstream>
#include <stdexcept>

#include "app/config_node.hpp"

namespace dynaplan::app {
namespace {

// Some of the library's problems have no place.
int line_of(const YAML::Mark& mark) { return std::max(mark.line, 0) + 1; }

class Refused : public std::runtime_error {
public:
    Refused(const YAML::Mark& mark, const std::string& what)
        : std::runtime_error{what}, line_{line_of(mark)} {}
    [[nodiscard]] int line() const { return line_; }

private:
    int line_;
};

// What a value takes, once for each of its copies.
struct Size {
    std::size_t nodes = 0;
    std::size_t bytes = 0;   // of its texts
    std::size_t levels = 0;  // lists and maps inside each other
};

Size size_of(const Node& n) {
    Size total{1, 0, 0};
    if (const auto* text = std::get_if<std::string>(&n.scalar)) total.bytes = text->size();
    for (const std::string& key : n.keys) total.bytes += key.size();
    for (const Node& item : n.items) {
        const Size of_item = size_of(item);
        total.nodes += of_item.nodes;
        total.bytes += of_item.bytes;
        total.levels = std::max(total.levels, of_item.levels);
    }
    if (n.kind != Node::Kind::scalar) ++total.levels;
    return total;
}

// Builds the tree; a map's events come as key, value, key, value. Lives for one document.
class TreeBuilder : public YAML::EventHandler {
public:
    [[nodiscard]] Node take() { return std::move(root_); }

    void OnDocumentStart(const YAML::Mark&) override {}
    void OnDocumentEnd() override {}

    void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
        scalar(mark, anchor, FieldValue{});
    }
    void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                  const std::string& value) override {
        check_tag(mark, tag);
        scalar(mark, anchor, FieldValue{value});
    }
    void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override {
        const auto found = anchors_.find(anchor);
        if (found == anchors_.end()) throw Refused{mark, "an alias inside its own value"};
        const Size size = size_of(found->second);
        count(mark, size);
        check_depth(mark, size.levels);
        Node copy = found->second;
        copy.line = line_of(mark);
        put(mark, std::move(copy));
    }
    void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                         YAML::EmitterStyle::value) override {
        check_tag(mark, tag);
        open(mark, anchor, Node::Kind::list);
    }
    void OnSequenceEnd() override { close(); }
    void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                    YAML::EmitterStyle::value) override {
        check_tag(mark, tag);
        open(mark, anchor, Node::Kind::map);
    }
    void OnMapEnd() override { close(); }

private:
    struct Open {
        Node node;
        YAML::anchor_t anchor = 0;
        YAML::Mark mark;
        bool has_key = false;
        std::string key;
        int key_line = 0;
    };

    static void check_tag(const YAML::Mark& mark, const std::string& tag) {
        constexpr std::string_view plain = "tag:yaml.org,2002:";
        if (tag.empty() || tag == "?" || tag == "!") return;
        if (std::string_view{tag}.substr(0, plain.size()) == plain) {
            const std::string_view type = std::string_view{tag}.substr(plain.size());
            for (const std::string_view known : {"str", "int", "float", "bool", "null", "map", "seq"}) {
                if (type == known) return;
            }
        }
        throw Refused{mark, "the tag " + tag + " is not supported"};
    }

    void count(const YAML::Mark& mark, const Size& more) {
        nodes_ += more.nodes;
        bytes_ += more.bytes;
        if (nodes_ > config_nodes_max) {
            throw Refused{mark,
                          "more than " + std::to_string(config_nodes_max) + " values (aliases expanded)"};
        }
        if (bytes_ > config_bytes_max) {
            throw Refused{
                mark, "more than " + std::to_string(config_bytes_max) + " bytes of text (aliases expanded)"};
        }
    }
    void check_depth(const YAML::Mark& mark, std::size_t levels) const {
        if (open_.size() + levels > config_depth_max) {
            throw Refused{mark, "nested deeper than " + std::to_string(config_depth_max) + " levels"};
        }
    }

    void scalar(const YAML::Mark& mark, YAML::anchor_t anchor, FieldValue value) {
        Node n;
        n.scalar = std::move(value);
        n.line = line_of(mark);
        count(mark, size_of(n));
        if (anchor != 0) anchors_[anchor] = n;
        put(mark, std::move(n));
    }

    void open(const YAML::Mark& mark, YAML::anchor_t anchor, Node::Kind kind) {
        count(mark, {1, 0, 1});
        check_depth(mark, 1);
        if (!open_.empty() && open_.back().node.kind == Node::Kind::map && !open_.back().has_key) {
            throw Refused{mark, "a key must be a plain word"};
        }
        Open level;
        level.node.kind = kind;
        level.node.line = line_of(mark);
        level.anchor = anchor;
        level.mark = mark;
        open_.push_back(std::move(level));
    }

    void close() {
        Open done = std::move(open_.back());
        open_.pop_back();
        if (done.anchor != 0) {
            count(done.mark, size_of(done.node));
            anchors_[done.anchor] = done.node;
        }
        put(done.mark, std::move(done.node));
    }

    void put(const YAML::Mark& mark, Node n) {
        if (open_.empty()) {
            root_ = std::move(n);
            return;
        }
        Open& parent = open_.back();
        if (parent.node.kind == Node::Kind::list) {
            parent.node.items.push_back(std::move(n));
        } else if (parent.has_key) {
            n.line = parent.key_line;
            parent.node.keys.push_back(std::move(parent.key));
            parent.node.items.push_back(std::move(n));
            parent.has_key = false;
        } else {
            const auto* text = std::get_if<std::string>(&n.scalar);
            if (n.kind != Node::Kind::scalar || text == nullptr)
                throw Refused{mark, "a key must be a plain word"};
            parent.key = *text;
            parent.key_line = line_of(mark);
            parent.has_key = true;
        }
    }

    Node root_;
    std::vector<Open> open_;
    std::map<YAML::anchor_t, Node> anchors_;
    std::size_t nodes_ = 0;
    std::size_t bytes_ = 0;
};

}  // namespace

Result<Node> parse_yaml(std::string_view text) {
    try {
        std::istringstream in{std::string{text}};
        YAML::Parser parser{in};
        TreeBuilder builder;
        if (!parser.HandleNextDocument(builder))
            return document_failure(1, "holds no value; write {} for all defaults");
        Node root = builder.take();
        TreeBuilder second;
        if (parser.HandleNextDocument(second))
            return document_failure(1, "holds more than one YAML document");
        return root;
    } catch (const Refused& e) {
        return document_failure(e.line(), e.what());
    } catch (const YAML::Exception& e) {
        return document_failure(line_of(e.mark), e.msg);
    } catch (const std::exception& e) {
        return document_failure(1, e.what());
    }
}

}  // namespace dynaplan::app
