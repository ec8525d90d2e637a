// What the fuzzers try, as plain functions: each takes any bytes and answers "" or what is wrong. The corpus
// test runs them on stored and on generated inputs, libfuzzer.cpp on what libFuzzer invents.
#pragma once

#include <array>
#include <string>
#include <string_view>

namespace dynaplan::fuzz {

// decode_fpm, both paths, against msgpack-c; admit; the key scan; what was admitted survives encoding.
std::string try_fpm(std::string_view bytes);
// FpmJsonReader; what was read survives writing.
std::string try_fpm_json(std::string_view text);
// TraceReader: the same answers however the bytes are cut into pieces, counts that add up.
std::string try_trace(std::string_view bytes);
// StepLineParser: nothing of an earlier line shines through; what was read survives writing.
std::string try_step_line(std::string_view line);
// JournalReader, on the bytes and on the same with right checksums: places within the segment, errors that
// stay; what was read survives writing.
std::string try_journal(std::string_view bytes);
// parse_yaml and parse_json: bounds and lines; then the whole way to a configuration, and back by what
// `config show` says.
std::string try_config(std::string_view text);
// decode_envelope, both paths, against msgpack-c; the JSON form; what was read survives writing.
std::string try_envelope(std::string_view bytes);
// Frames, each after its length in two bytes: events and the engine hop against the list of checks; what was
// read survives writing.
std::string try_event_frames(std::string_view bytes);
// A key, a line feed and a value: discovery keys and file names there and back, records, Kubernetes' objects,
// and the other texts that discovery reads; messages of one line.
std::string try_discovery(std::string_view bytes);

struct Target {
    std::string_view name;  // also of its folder in the corpus
    std::string (*run)(std::string_view bytes);
};
inline constexpr std::array<Target, 9> targets{{{"fpm", try_fpm},
                                                {"fpm_json", try_fpm_json},
                                                {"trace", try_trace},
                                                {"step_line", try_step_line},
                                                {"journal", try_journal},
                                                {"config", try_config},
                                                {"envelope", try_envelope},
                                                {"event_frames", try_event_frames},
                                                {"discovery", try_discovery}}};

}  // namespace dynaplan::fuzz
