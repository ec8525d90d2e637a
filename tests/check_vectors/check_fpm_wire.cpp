// planner-fpm-wire/1: a message in hex, and its fields or null when the decoder drops it.
#include <string>

#include "check_vectors/fpm_json.hpp"
#include "check_vectors/kinds.hpp"
#include "wire/fpm_decode.hpp"
#include "wire/fpm_fields.hpp"

namespace dynaplan::check_vectors {

namespace {

using nlohmann::json;

// The blocks stand as plain lists of values in wire order.
json decoded_json(const wire::DecodedFpm& message) {
    const json fields = fpm_to_json(message);
    json out = fields;
    out.erase("scheduled_requests");
    out.erase("queued_requests");
    for (const auto& field : wire::scheduled_fields) {
        out["scheduled"].push_back(fields.at("scheduled_requests").at(std::string{field.name}));
    }
    for (const auto& field : wire::queued_fields) {
        out["queued"].push_back(fields.at("queued_requests").at(std::string{field.name}));
    }
    return out;
}

template <class Table>
json names_of(const Table& table) {
    json names = json::array();
    for (const auto& field : table) names.push_back(field.name);
    return names;
}

void check_case(const json& entry, Report& report) {
    if (!report.only_members("case", entry, {"name", "hex", "note", "decoded"})) return;
    const auto bytes = bytes_of_hex(entry.at("hex").get_ref<const std::string&>());
    if (!bytes) {
        report.fail("hex", "not hexadecimal");
        return;
    }
    const json& expected = entry.at("decoded");
    wire::DecodedFpm message;
    const auto decoded = wire::decode_fpm(*bytes, message);
    if (!decoded) {
        report.compare("decoded", expected, nullptr);
        return;
    }
    if (expected.is_null()) {
        report.differ("decoded", expected, decoded_json(message));
        return;
    }
    report.compare_members("decoded", expected, decoded_json(message), float_1e9);
}

}  // namespace

void check_fpm_wire(const json& file, Report& report) {
    if (!same(file.at("scheduled_fields"), names_of(wire::scheduled_fields)) ||
        !same(file.at("queued_fields"), names_of(wire::queued_fields))) {
        report.fail_file("the blocks have other fields than those known here");
        return;
    }
    for (const json& entry : file.at("cases")) {
        report.run_case(entry.value("name", std::string{"(no name)"}), [&] { check_case(entry, report); });
    }
}

}  // namespace dynaplan::check_vectors
