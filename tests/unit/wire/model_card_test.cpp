// What a planner reads in a model card (event-plane specification 8).
#include <doctest/doctest.h>

#include <string>

#include "wire/model_card.hpp"

namespace dynaplan::wire {
namespace {

ModelCard card_of(const std::string& text) {
    const auto card = parse_model_card(text);
    REQUIRE(card);
    return *card;
}

TEST_CASE("model card: every value from its place") {
    const ModelCard card =
        card_of(R"({"display_name":"org/model","kv_cache_block_size":16,"context_length":1000,
        "architectural_max_context_length":2000,"lora":null,
        "runtime_config":{"total_kv_blocks":24064,"max_num_seqs":256,"max_num_batched_tokens":8192,
            "context_length":3000,"data_parallel_start_rank":4,"data_parallel_size":8,
            "runtime_data":{"spec_decode":{"nextn":3}}}})");
    CHECK(card.model_name == "org/model");
    CHECK(card.total_kv_blocks == 24064);
    CHECK(card.kv_cache_block_size == 16);
    CHECK(card.max_num_seqs == 256);
    CHECK(card.max_num_batched_tokens == 8192);
    CHECK(card.context_length_runtime == 3000);
    CHECK(card.context_length_architectural == 2000);
    CHECK(card.context_length_card == 1000);
    CHECK(card.rank_first == 4);
    CHECK(card.rank_count == 8);
    CHECK(card.speculative_depth == 3);
    CHECK_FALSE(card.is_adapter);
    const Capabilities able = capabilities(card, Era::april);
    CHECK(able == Capabilities{{}, 8192, 256, 1000, 24064 * 16});
}

TEST_CASE("model card: everything may be absent, null or of another type, and is unknown then") {
    CHECK(card_of("{}") == ModelCard{});
    CHECK(card_of("[]") == ModelCard{});
    CHECK(card_of("7") == ModelCard{});
    CHECK(card_of(R"({"runtime_config":null,"display_name":null,"worker_type":null,"model_type":null})") ==
          ModelCard{});
    CHECK(
        card_of(
            R"({"runtime_config":"{}","display_name":7,"kv_cache_block_size":"16","context_length":[1]})") ==
        ModelCard{});
    CHECK(capabilities(ModelCard{}, std::nullopt) == Capabilities{});
    CHECK_FALSE(parse_model_card(""));
    CHECK_FALSE(parse_model_card("{\"a\":\xff}"));
    CHECK_FALSE(parse_model_card(std::string(200'000, '[')));
}

TEST_CASE("model card: counts are JSON integers from 0 to 2^63-1") {
    const auto size = [](const std::string& number) {
        return card_of(R"({"kv_cache_block_size":)" + number + '}').kv_cache_block_size;
    };
    CHECK(size("0") == 0);
    CHECK(size("9007199254740993") == 9'007'199'254'740'993);
    CHECK(size("9223372036854775807") == 9'223'372'036'854'775'807);
    for (const char* number :
         {"-1", "16.0", "1.6e1", "9223372036854775808", "18446744073709551616", "true"}) {
        CAPTURE(number);
        CHECK_FALSE(size(number));
    }
}

TEST_CASE("model card: KV tokens are blocks times block size, when both are known and it fits") {
    const auto tokens = [](const std::string& blocks, const std::string& size) {
        return max_kv_tokens(card_of(R"({"kv_cache_block_size":)" + size +
                                     R"(,"runtime_config":{"total_kv_blocks":)" + blocks + "}}"));
    };
    CHECK(tokens("24064", "16") == 385'024);
    CHECK(tokens("0", "16") == 0);
    CHECK_FALSE(tokens("null", "16"));
    CHECK_FALSE(tokens("24064", "null"));
    CHECK(tokens("4611686018427387903", "2") == 9'223'372'036'854'775'806);
    CHECK_FALSE(tokens("4611686018427387904", "2"));
}

std::optional<std::int64_t> length(std::optional<Era> era, const std::string& runtime,
                                   const std::string& architectural, const std::string& card) {
    return context_length(card_of(R"({"context_length":)" + card + R"(,"architectural_max_context_length":)" +
                                  architectural + R"(,"runtime_config":{"context_length":)" + runtime + "}}"),
                          era);
}

TEST_CASE("context length: of an unknown era the runtime's, the architecture's, the card's") {
    CHECK(length({}, "1", "2", "3") == 1);
    CHECK(length({}, "null", "2", "3") == 2);
    CHECK(length({}, "null", "null", "3") == 3);
    CHECK_FALSE(length({}, "null", "null", "null"));
}

TEST_CASE("context length: April reads the card's only, August the runtime's or the architecture's") {
    CHECK(length(Era::april, "1", "2", "3") == 3);
    CHECK_FALSE(length(Era::april, "1", "2", "null"));
    CHECK(length(Era::august, "1", "2", "3") == 1);
    CHECK(length(Era::august, "null", "2", "3") == 2);
    CHECK_FALSE(length(Era::august, "null", "null", "3"));
}

// "prefill", "decode" or "none"; the reference's whole question has to agree.
std::string role_of(const std::string& members) {
    const ModelCard card = card_of('{' + members + '}');
    CHECK(card.is_prefill == (card.role == Role::prefill));
    return card.role ? std::string{to_string(*card.role)} : "none";
}

TEST_CASE("role: worker_type decides, in any case of letters") {
    CHECK(role_of(R"("worker_type":"prefill")") == "prefill");
    CHECK(role_of(R"("worker_type":"PREFILL")") == "prefill");
    CHECK(role_of(R"("worker_type":"decode")") == "decode");
    CHECK(role_of(R"("worker_type":"aggregated")") == "decode");
    CHECK(role_of(R"("worker_type":"encode")") == "none");
    CHECK(role_of(R"("worker_type":"Encode")") == "none");
    CHECK(role_of(R"("worker_type":"my-prefill")") == "decode");
}

TEST_CASE("role: a worker_type that is there is not overruled by the model_type") {
    CHECK(role_of(R"("worker_type":"decode","model_type":"Prefill")") == "decode");
    CHECK(role_of(R"("worker_type":"encode","model_type":16)") == "none");
    CHECK(role_of(R"("worker_type":7,"model_type":16)") == "decode");
    CHECK(role_of(R"("worker_type":null,"model_type":16)") == "prefill");
}

TEST_CASE("role: without worker_type the model_type decides, as a text of flag names") {
    CHECK(role_of(R"("model_type":"Prefill")") == "prefill");
    CHECK(role_of(R"("model_type":"Chat | Completions | PREFILL")") == "prefill");
    CHECK(role_of(R"("model_type":"Chat|prefill")") == "prefill");
    CHECK(role_of(R"("model_type":"Chat | Completions")") == "decode");
    CHECK(role_of(R"("model_type":"")") == "decode");
}

TEST_CASE("role: without worker_type the model_type decides, as an integer or an object with bits") {
    CHECK(role_of(R"("model_type":16)") == "prefill");
    CHECK(role_of(R"("model_type":19)") == "prefill");
    CHECK(role_of(R"("model_type":2031)") == "decode");  // every flag but this one
    CHECK(role_of(R"("model_type":0)") == "decode");
    CHECK(role_of(R"("model_type":18446744073709551615)") == "prefill");
    CHECK(role_of(R"("model_type":{"bits":17})") == "prefill");
    CHECK(role_of(R"("model_type":{"bits":3})") == "decode");
    CHECK(role_of(R"("model_type":{"bits":"16"})") == "decode");
    CHECK(role_of(R"("model_type":{})") == "decode");
    CHECK(role_of(R"("model_type":16.0)") == "decode");
    CHECK(role_of(R"("model_type":["Prefill"])") == "decode");
}

TEST_CASE("ranks: from the start rank on, one where nothing believable is said") {
    const auto ranks = [](const std::string& first, const std::string& count) {
        const ModelCard card = card_of(R"({"runtime_config":{"data_parallel_start_rank":)" + first +
                                       R"(,"data_parallel_size":)" + count + "}}");
        return std::pair{card.rank_first, card.rank_count};
    };
    CHECK(ranks("4", "8") == std::pair<std::int64_t, std::int64_t>{4, 8});
    CHECK(ranks("null", "null") == std::pair<std::int64_t, std::int64_t>{0, 1});
    CHECK(ranks("-1", "-1") == std::pair<std::int64_t, std::int64_t>{0, 1});
    CHECK(ranks("0", "0") == std::pair<std::int64_t, std::int64_t>{0, 1});
    CHECK(ranks("0", "65536") == std::pair<std::int64_t, std::int64_t>{0, 65'536});
    CHECK(ranks("0", "65537") == std::pair<std::int64_t, std::int64_t>{0, 1});
    const auto [first, count] = ranks("9223372036854775807", "65536");
    CHECK(first == 0);  // the last rank would be beyond 2^63
    CHECK(count == 65'536);
}

TEST_CASE("speculative depth: an integer above 0, else unknown") {
    const auto depth = [](const std::string& nextn) {
        return card_of(R"({"runtime_config":{"runtime_data":{"spec_decode":{"nextn":)" + nextn + "}}}}")
            .speculative_depth;
    };
    CHECK(depth("1") == 1);
    for (const char* nextn : {"0", "-1", "1.5", "null", "\"1\"", "true"}) CHECK_FALSE(depth(nextn));
    CHECK_FALSE(card_of(R"({"runtime_config":{"runtime_data":null}})").speculative_depth);
}

TEST_CASE("model card: a card with a lora is an adapter's") {
    CHECK(card_of(R"({"lora":{"name":"a"}})").is_adapter);
    CHECK(card_of(R"({"lora":""})").is_adapter);
    CHECK_FALSE(card_of(R"({"lora":null})").is_adapter);
}

}  // namespace
}  // namespace dynaplan::wire
