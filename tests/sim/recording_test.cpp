// The program that makes recordings, as a user runs it: what it writes is what the readers take.
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <string>

#include <doctest/doctest.h>

#include "wire/fpm_trace_reader.hpp"
#include "wire/json_event.hpp"

using namespace dynaplan;

namespace {

namespace fs = std::filesystem;

// The program's path comes from the build.
std::string program() {
    const char* path = std::getenv("MAKE_RECORDING");
    REQUIRE(path != nullptr);
    return path;
}

// A folder of its own that goes away with the test.
class Folder {
public:
    Folder()
        : path_{fs::temp_directory_path() /
                ("dynaplan-recording-" + std::to_string(::getpid()) + "-" + std::to_string(next_++))} {
        fs::create_directories(path_);
    }
    ~Folder() {
        std::error_code ignored;
        fs::remove_all(path_, ignored);
    }
    Folder(const Folder&) = delete;
    Folder& operator=(const Folder&) = delete;
    [[nodiscard]] std::string file(const std::string& name) const { return (path_ / name).string(); }

private:
    static inline int next_ = 0;
    fs::path path_;
};

// The program's exit code.
int run(const std::string& arguments) {
    const int status = std::system((program() + " " + arguments + " > /dev/null 2>&1").c_str());
    REQUIRE(WIFEXITED(status));
    return WEXITSTATUS(status);
}

std::string bytes_of(const std::string& path) {
    std::ifstream in{path, std::ios::binary};
    return {std::istreambuf_iterator<char>{in}, {}};
}

struct Content {
    wire::TraceCounts counts;
    bool sound = false;
    bool compressed = false;
    bool in_order = true;
    bool says_simulated = true;
    std::map<std::string, int> components;
    std::map<std::size_t, int> events;  // by index of the event's kind
};

Content read(const std::string& path) {
    wire::TraceReader reader;
    reader.feed(bytes_of(path));
    reader.finish();
    wire::StepLineParser parser;
    Content c;
    std::int64_t last_ms = 0;
    for (;;) {
        const auto step = reader.next();
        if (step == wire::TraceReader::Step::end) break;
        if (step == wire::TraceReader::Step::record) {
            const wire::TraceRecord& r = reader.record();
            c.in_order = c.in_order && r.observed_at_unix_ms >= last_ms;
            last_ms = r.observed_at_unix_ms;
            ++c.components[r.component];
            c.says_simulated = c.says_simulated && r.name_space == "dynaplan-simulated";
        } else {
            REQUIRE(step == wire::TraceReader::Step::other);
            Event event;
            REQUIRE(parser.parse(reader.text(), event).has_value());
            ++c.events[event.body.index()];
        }
    }
    c.counts = reader.counts();
    c.sound = reader.damage().empty();
    c.compressed = reader.compressed();
    return c;
}

template <class T>
int number_of(const Content& c) {
    const auto it = c.events.find(EventBody{T{}}.index());
    return it == c.events.end() ? 0 : it->second;
}

}  // namespace

TEST_CASE("make_recording: a trace of both roles that reads back whole") {
    const Folder folder;
    const std::string path = folder.file("run.jsonl");
    REQUIRE(run("--out " + path + " --minutes 1 --engines 3") == 0);
    const Content c = read(path);
    CHECK(c.sound);
    CHECK_FALSE(c.compressed);
    CHECK(c.in_order);
    CHECK(c.says_simulated);
    CHECK(c.counts.records > 3000);
    CHECK(c.counts.other_lines == 0);
    CHECK(c.components.size() == 2);
    CHECK(c.components.at("prefill") > 100);
    CHECK(c.components.at("backend") > 1000);
}

TEST_CASE("make_recording: gzip by the name, joins, inventory and traffic when asked for") {
    const Folder folder;
    const std::string path = folder.file("run.jsonl.gz");
    REQUIRE(run("--out " + path + " --minutes 7 --mode agg --shape onoff --rate 2 --with-traffic") == 0);
    const Content c = read(path);
    CHECK(c.sound);
    CHECK(c.compressed);
    CHECK(c.components.size() == 1);
    CHECK(number_of<EngineJoined>(c) == 2);
    CHECK(number_of<InventoryRead>(c) == 8);
    CHECK(number_of<TrafficObserved>(c) == 2);
}

TEST_CASE("make_recording: one seed gives one file, another seed another") {
    const Folder folder;
    const std::string options = " --minutes 0.5 --mode decode --shape ramp --with-traffic --seed ";
    REQUIRE(run("--out " + folder.file("a.jsonl.gz") + options + "5") == 0);
    REQUIRE(run("--out " + folder.file("b.jsonl.gz") + options + "5") == 0);
    REQUIRE(run("--out " + folder.file("c.jsonl.gz") + options + "6") == 0);
    CHECK(bytes_of(folder.file("a.jsonl.gz")) == bytes_of(folder.file("b.jsonl.gz")));
    CHECK(bytes_of(folder.file("a.jsonl.gz")) != bytes_of(folder.file("c.jsonl.gz")));
}

TEST_CASE("make_recording: wrong options and places are refused") {
    const Folder folder;
    CHECK(run("--out " + folder.file("x.jsonl") + " --shape square") == 2);
    CHECK(run("--out " + folder.file("x.jsonl") + " --rate -1") == 2);
    CHECK(run("--out " + folder.file("no/such/folder.jsonl")) == 1);
    CHECK_FALSE(fs::exists(folder.file("x.jsonl")));
}
