#include "fuzz/targets.hpp"
#include "wire/fpm_admit.hpp"
#include "wire/fpm_json.hpp"

namespace dynaplan::fuzz {

std::string try_fpm_json(std::string_view text) {
    wire::FpmJsonReader reader;
    Fpm fpm;
    if (!reader.read(text, fpm)) return "";
    if (!wire::admit_values(fpm, 0)) return "a report was read that admit refuses";
    std::string written;
    wire::append_fpm_json(written, fpm);
    Fpm again;
    if (!reader.read(written, again)) return "what was written is refused: " + written;
    return again == fpm ? "" : "what was written reads as something else: " + written;
}

}  // namespace dynaplan::fuzz
