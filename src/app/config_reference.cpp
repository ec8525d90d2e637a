#include <algorithm>
#include <utility>
#include <vector>

#include "app/config_describe.hpp"
#include "app/config_lists.hpp"

namespace dynaplan::app {
namespace {

std::string code(const std::string& text) { return "`" + text + "`"; }

// A bar would end the cell.
std::string cell(std::string_view text) {
    std::string out;
    for (const char c : text) {
        if (c == '|') out += '\\';
        out += c;
    }
    return out;
}

std::string values_text(const FieldInfo& f) {
    if (f.type == FieldType::enumeration) {
        std::string out;
        for (const auto value : f.values) out += (out.empty() ? "" : ", ") + code(std::string{value});
        return out + (f.nullable ? ", null" : "");
    }
    std::string out{to_string(f.type)};
    if (!f.unit.empty()) out += ", " + std::string{f.unit};
    if (f.minimum && f.maximum && *f.maximum < 1e6 && *f.minimum > -1e6) {
        out += (f.above_minimum ? ", above " : ", ") + text_of(*f.minimum) +
               (f.above_minimum ? " to " : "...") + text_of(*f.maximum);
    } else if (f.minimum && *f.minimum > -1e6) {
        out += (f.above_minimum ? ", above " : ", at least ") + text_of(*f.minimum);
    }
    if (!f.zero_word.empty()) out += ", or " + code(std::string{f.zero_word});
    return out + (f.nullable ? ", or null" : "");
}

std::string default_text(const FieldInfo& f, const FieldValue& v) {
    const FieldValue written = written_form(f, v);
    const auto* text = std::get_if<std::string>(&written);
    if (text != nullptr && text->empty()) return "";
    return code(text_of(written));
}

// The defaults that depend on more than the preset.
std::string planner_default(const Field& f, Preset preset) {
    if (f.section.empty() && f.name == "enable_throughput_scaling" && preset == Preset::dynaplan) {
        return "`true` with a traffic source, else `false`";
    }
    if (f.section.empty() && f.name == "load_predictor" && preset == Preset::dynamo) {
        return "none: to be written when throughput scaling is on (Dynamo's `arima` is not there yet)";
    }
    if (f.section.empty() && f.name == "preset") return code("dynaplan");
    return default_text(f, f.get(config_of(preset)));
}

std::string names_text(const Row& row) {
    std::string path = row.path();
    std::string out = code(path);
    if (const FieldInfo* info = row.info()) {
        for (const auto alias : info->aliases) out += "<br>" + code(std::string{alias});
    }
    return out;
}

std::string help_text(const Row& row) {
    std::string out{row.list != nullptr ? row.list->help : row.info()->help};
    if (!row.environment().empty()) out += " Environment: " + code(std::string{row.environment()}) + ".";
    if (row.planner != nullptr && row.planner->while_running) out += " May change while running.";
    return cell(out);
}

std::string planner_table(std::string_view section) {
    std::string out = "| field | values | default | preset dynamo | what |\n|---|---|---|---|---|\n";
    for (const Field& f : planner_fields()) {
        if (f.section != section) continue;
        const std::string ours = planner_default(f, Preset::dynaplan);
        const std::string theirs = planner_default(f, Preset::dynamo);
        const Row row{.planner = &f};
        out += "| " + names_text(row) + " | " + values_text(f) + " | " + ours + " | " +
               (ours == theirs ? "same" : theirs) + " | " + help_text(row) + " |\n";
    }
    return out;
}

std::string list_kind(const ListField& f) {
    if (f.pairs != nullptr) return "map of texts";
    return f.texts != nullptr ? "list of texts" : "list of {url, role}";
}

std::string app_table(std::string_view section) {
    std::string out = "| field | values | default | what |\n|---|---|---|---|\n";
    for (const AppField& f : app_fields()) {
        if (f.section != section) continue;
        const Row row{.app = &f};
        out += "| " + names_text(row) + " | " + values_text(f) + " | " + default_text(f, f.get(AppConfig{})) +
               " | " + help_text(row) + " |\n";
    }
    for (const ListField& f : list_fields()) {
        const auto dot = f.path.find('.');
        if ((dot == std::string_view::npos ? std::string_view{} : f.path.substr(0, dot)) != section) continue;
        const Row row{.list = &f};
        out += "| " + names_text(row) + " | " + list_kind(f) + " | " + code(list_text(f, AppConfig{})) +
               " | " + help_text(row) + " |\n";
    }
    return out;
}

std::string later_table() {
    std::string out = "| field | accepted | what is missing |\n|---|---|---|\n";
    for (const LaterField& f : later_fields()) {
        std::string accepted = default_text(f.info, f.standard);
        if (f.structured) accepted = "left out, null or empty";
        if (f.harmless) accepted = values_text(f.info);
        if (f.info.name == "min_gpu_budget") accepted = "any negative number";
        out += "| " + code(f.path()) + " | " + accepted + " | " +
               (f.harmless ? std::string{f.info.help} : std::string{f.missing}) + " |\n";
    }
    return out;
}

}  // namespace

std::string config_reference() {
    std::string out;
    const auto chapter = [&out](std::string_view title, const std::string& table) {
        out += "## " + std::string{title} + "\n\n" + table + "\n";
    };
    chapter("Planner", planner_table(""));
    chapter("Policy (`policy:`)", planner_table("policy"));
    chapter("Capabilities of prefill engines (`capabilities.prefill:`)",
            planner_table("capabilities.prefill"));
    chapter("Capabilities of decode and agg engines (`capabilities.decode:`)",
            planner_table("capabilities.decode"));
    chapter("Deployment, metrics and reports", app_table(""));
    for (const std::string_view section : {"bus", "discovery", "decisions", "etcd", "http", "journal"}) {
        chapter(std::string{section} + ":", app_table(section));
    }
    chapter("Fields of Dynamo that are not there yet", later_table());
    out.pop_back();
    return out;
}

}  // namespace dynaplan::app
