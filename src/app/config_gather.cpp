#include "app/config_gather.hpp"

#include <algorithm>
#include <set>

#include "app/config_words.hpp"

namespace dynaplan::app {
namespace {

using Kind = Node::Kind;

void report(Gathered& out, const Origin& at, const std::string& name, const std::string& what) {
    out.problems.push_back({at.place, at.line, name + ": " + what});
}

bool asks_for_nothing(const Node& node) {
    if (node.kind != Kind::scalar) return node.items.empty();
    return std::holds_alternative<std::monostate>(node.scalar);
}

// Dynamo's own value of a field that we do not have: is it at its default?
void check_later(const LaterField& f, const Node& node, const Origin& at, Gathered& out) {
    const auto refuse = [&] {
        const std::string standard = f.structured ? "leave it out" : "leave it at " + text_of(f.standard);
        report(out, at, at.name, std::string{f.missing} + "; " + standard);
    };
    if (f.structured) {
        if (!asks_for_nothing(node)) refuse();
        return;
    }
    if (node.kind != Kind::scalar) {
        report(out, at, at.name, "must be a single value");
        return;
    }
    const auto value = coerce(f.info, node.scalar);
    if (!value) {
        report(out, at, at.name, value.error().message);
        return;
    }
    const bool off = f.info.name == "min_gpu_budget" && std::get<std::int64_t>(*value) < 0;
    if (!f.harmless && !off && *value != f.standard) refuse();
    out.settings[f.path()] = Setting{find_row(f.path()), at, *value, {}};
}

std::size_t name_rank(const Row& row, const std::string& name) {
    const FieldInfo* info = row.info();
    if (info == nullptr) return 0;
    const auto alias = std::ranges::find(info->aliases, name);
    return alias == info->aliases.end() ? 0 : static_cast<std::size_t>(alias - info->aliases.begin()) + 1;
}

// Within one source the August name wins over the April one; between sources the later source wins.
void keep(Setting setting, Gathered& out) {
    const std::string path = setting.row.path();
    const auto old = out.settings.find(path);
    if (old != out.settings.end() && old->second.origin.kind == setting.origin.kind &&
        setting.origin.kind == Origin::Kind::file &&
        name_rank(setting.row, setting.origin.name) < name_rank(setting.row, old->second.origin.name)) {
        return;
    }
    out.settings[path] = std::move(setting);
}

// Dynamo's arima is its default; app/config_load decides whether it would be used.
bool is_arima(const Row& row, const FieldValue& v) {
    const auto* text = std::get_if<std::string>(&v);
    return row.planner != nullptr && row.planner->name == "load_predictor" && text != nullptr &&
           *text == "arima";
}

void take(const Row& row, const Node& node, const Origin& at, Gathered& out) {
    if (row.later != nullptr) {
        check_later(*row.later, node, at, out);
        return;
    }
    if (row.list != nullptr) {
        keep(Setting{row, at, {}, node}, out);
        return;
    }
    if (node.kind != Kind::scalar) {
        report(out, at, at.name,
               node.kind == Kind::list ? "must be a single value, not a list"
                                       : "must be a single value, not a map");
        return;
    }
    if (is_arima(row, node.scalar)) {
        keep(Setting{row, at, node.scalar, {}}, out);
        return;
    }
    auto value = coerce(*row.info(), node.scalar);
    if (!value) {
        report(out, at, at.name, value.error().message);
        return;
    }
    keep(Setting{row, at, std::move(*value), {}}, out);
}

void unknown(const std::string& name, const Origin& at, bool allow_unknown, Gathered& out) {
    // A file with more unknown names than this is something else, and comparing costs.
    constexpr int suggestions_max = 100;
    std::string what = "no such field";
    if (out.suggestions++ < suggestions_max) {
        if (const auto near = nearest_row(name); !near.empty()) what += "; did you mean " + near + "?";
    }
    if (allow_unknown) {
        out.warnings.push_back(line_of({at.place, at.line, name + ": " + what}));
    } else {
        report(out, at, name, what);
    }
}

class DocumentWalk {
public:
    DocumentWalk(const Document& document, bool allow_unknown, Gathered& out)
        : place_{document.place}, allow_unknown_{allow_unknown}, out_{out} {}

    void map(const Node& node, const std::string& prefix) {
        std::set<std::string> seen;
        for (std::size_t i = 0; i < node.items.size(); ++i) {
            const std::string name = prefix + node.keys[i];
            const Node& value = node.items[i];
            const Origin at{Origin::Kind::file, place_, value.line, name};
            if (!seen.insert(node.keys[i]).second) {
                report(out_, at, printable(name), "is given twice");
            } else {
                one(name, value, at);
            }
        }
    }

private:
    void one(const std::string& name, const Node& value, const Origin& at) {
        if (const Row row = find_row(name); row.found()) {
            take(row, value, at, out_);
        } else if (is_section(name)) {
            // A section whose lines are all commented out reads as null.
            if (value.kind == Kind::map) {
                map(value, name + ".");
            } else if (!std::holds_alternative<std::monostate>(value.scalar) || value.kind == Kind::list) {
                report(out_, at, name, "is a section: its fields go below it");
            }
        } else {
            unknown(printable(name), at, allow_unknown_, out_);
        }
    }

    const std::string& place_;
    bool allow_unknown_;
    Gathered& out_;
};

// A flag's text for a list: JSON, or values with commas between.
Node node_of_text(const Row& row, const std::string& text) {
    Node node;
    if (row.list == nullptr) {
        node.scalar = text == "null" ? FieldValue{} : FieldValue{text};
        return node;
    }
    const auto first = text.find_first_not_of(" \t");
    if (first != std::string::npos && (text[first] == '[' || text[first] == '{')) {
        if (auto parsed = parse_json(text)) return std::move(*parsed);
    }
    node.kind = row.list->pairs != nullptr ? Kind::map : Kind::list;
    const char separator = row.list->pairs != nullptr ? '&' : ',';
    for (std::size_t from = 0; from <= text.size();) {
        const auto to = std::min(text.find(separator, from), text.size());
        std::string part = text.substr(from, to - from);
        from = to + 1;
        if (part.empty()) continue;
        Node item;
        if (node.kind == Kind::map) {
            const auto equals = std::min(part.find('='), part.size());
            node.keys.push_back(part.substr(0, equals));
            part = equals < part.size() ? part.substr(equals + 1) : std::string{};
        }
        item.scalar = std::move(part);
        node.items.push_back(std::move(item));
    }
    return node;
}

// Variables that are read as Dynamo reads them: anything but yes is no, and a lease that makes no sense is
// the default.
std::optional<FieldValue> lenient_environment(const Row& row, const std::string& text) {
    const std::string_view variable = row.environment();
    if (variable == "PROMETHEUS_SSL_VERIFY" || variable == "NATS_TLS_INSECURE" ||
        variable == "DYN_ZMQ_BROKER_ENABLED") {
        std::string word{text.substr(std::min(text.find_first_not_of(" \t"), text.size()))};
        word.erase(word.find_last_not_of(" \t") + 1);
        std::ranges::transform(word, word.begin(), [](char c) {
            return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
        });
        return FieldValue{word == "1" || word == "true" || word == "yes" || word == "on"};
    }
    if (variable == "ETCD_LEASE_TTL") {
        const auto ttl = coerce(*row.info(), FieldValue{text});
        return ttl ? *ttl : FieldValue{std::int64_t{10}};
    }
    return std::nullopt;
}

}  // namespace

void gather_environment(const Environment& environment, Gathered& out) {
    for (const Row& row : all_rows()) {
        if (row.environment().empty()) continue;
        const auto text = environment(row.environment());
        if (!text || text->empty()) continue;
        const Origin at{Origin::Kind::environment, std::string{row.environment()}, 0, row.path()};
        Node node = node_of_text(row, *text);
        if (const auto lenient = lenient_environment(row, *text)) node.scalar = *lenient;
        take(row, node, at, out);
    }
}

void gather_document(const Document& document, bool allow_unknown, Gathered& out) {
    DocumentWalk{document, allow_unknown, out}.map(document.root, "");
}

void gather_overrides(const std::vector<Override>& overrides, Gathered& out) {
    for (const Override& o : overrides) {
        const Origin at{Origin::Kind::flag, o.flag, 0, o.field};
        const Row row = find_row(o.field);
        if (!row.found()) {
            if (is_section(o.field)) {
                report(out, at, o.field, "is a section: name one of its fields");
            } else {
                unknown(printable(o.field), at, false, out);
            }
            continue;
        }
        take(row, node_of_text(row, o.value), at, out);
    }
}

std::string line_of(const PlacedProblem& p) {
    std::string out = p.place;
    if (p.line > 0) out += ":" + std::to_string(p.line);
    return out.empty() ? p.message : out + ": " + p.message;
}

}  // namespace dynaplan::app
