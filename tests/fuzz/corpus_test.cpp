// The fuzz targets on the stored corpus and on seeded inputs, as plain tests.
#include <doctest/doctest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "core/fpm.hpp"
#include "fuzz/generator.hpp"
#include "fuzz/targets.hpp"
#include "wire/fpm_trace.hpp"
#include "wire/gzip.hpp"

namespace dynaplan::fuzz {
namespace {

namespace fs = std::filesystem;

std::vector<fs::path> corpus_of(std::string_view target) {
    std::vector<fs::path> files;
    for (const auto& entry : fs::directory_iterator{fs::path{DYNAPLAN_CORPUS_DIR} / target})
        files.push_back(entry.path());
    return files;
}

std::string bytes_of(const fs::path& path) {
    std::ifstream in{path, std::ios::binary};
    REQUIRE(in.good());
    return {std::istreambuf_iterator<char>{in}, {}};
}

TEST_CASE("fuzz corpus: every stored input, whole and cut, on its target") {
    for (const Target& target : targets) {
        const auto files = corpus_of(target.name);
        CHECK(files.size() >= 5);
        for (const fs::path& file : files) {
            CAPTURE(file.filename().string());
            const std::string bytes = bytes_of(file);
            CHECK(target.run(bytes) == "");
            for (std::size_t cut = 0; cut < bytes.size(); cut += 1 + bytes.size() / 40) {
                CHECK(target.run(bytes.substr(0, cut)) == "");
            }
        }
    }
}

// Of the suite `long`: more of the same.
int rounds() {
    const char* given = std::getenv("FUZZ_ROUNDS");
    return given == nullptr ? 30 : std::atoi(given);
}

TEST_CASE("fuzz corpus: every stored input, damaged, on its target") {
    Dice dice{20260421};
    for (const Target& target : targets) {
        for (const fs::path& file : corpus_of(target.name)) {
            const std::string bytes = bytes_of(file);
            for (int i = rounds(); i > 0; --i) {
                const std::string changed = damaged(bytes, dice);
                CAPTURE(file.filename().string());
                CAPTURE(i);
                CHECK(target.run(changed) == "");
            }
        }
    }
}

TEST_CASE("fuzz seeds: the cursor agrees with msgpack-c on random and on damaged messages") {
    Dice dice{1};
    for (int i = 0; i < 8'000; ++i) {
        CAPTURE(i);
        const std::string bytes = random_message(dice);
        CHECK(try_fpm(bytes) == "");
        CHECK(try_fpm(damaged(bytes, dice)) == "");
    }
}

TEST_CASE("fuzz seeds: traces with bad lines, cut and damaged members") {
    Dice dice{2};
    for (int i = 0; i < 300; ++i) {
        CAPTURE(i);
        std::string text;
        std::string file;
        for (std::uint64_t lines = dice.below(30); lines > 0; --lines) {
            wire::TraceRecord record;
            record.observed_at_unix_ms = static_cast<std::int64_t>(dice.below(1'000'000));
            record.fpm.worker_id = "7";
            record.fpm.pass.wall_time = static_cast<double>(dice.below(1000)) / 1024.0;
            std::string line;
            wire::append_trace_line(line, record);
            if (dice.one_in(4)) line = damaged(line, dice);
            if (dice.one_in(10)) line = std::string(dice.below(9000), 'x') + "\n";
            text += line;
            if (dice.one_in(5)) {
                file += wire::gzip_member(text, 1);
                text.clear();
            }
        }
        CHECK(try_trace(text) == "");
        CHECK(try_trace(file) == "");
        CHECK(try_trace(damaged(file, dice)) == "");
    }
}

}  // namespace
}  // namespace dynaplan::fuzz
