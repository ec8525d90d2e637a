#include "net/reply.hpp"

#include "core/assert.hpp"

namespace dynaplan::net {

void Reply::answer(HttpResponse response) {
    DYNAPLAN_ASSERT(target_ != nullptr);
    std::exchange(target_, nullptr)->answer(std::move(response));
}

void Reply::on_gone(std::function<void()> callback) {
    DYNAPLAN_ASSERT(target_ != nullptr);
    target_->on_gone(std::move(callback));
}

void Reply::drop() {
    if (auto target = std::exchange(target_, nullptr))
        target->answer(error_response(500, "the request was not answered: an error of the server"));
}

}  // namespace dynaplan::net
