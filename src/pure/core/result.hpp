// How a function says that it could not do its work: Result<T> holds the value or an Error with a one-line
// message.
#pragma once

#include <string>
#include <utility>

#include <tl/expected.hpp>

namespace dynaplan {

struct Error {
    std::string message;  // one line: place, what is wrong, remedy
};

template <class T>
using Result = tl::expected<T, Error>;

inline tl::unexpected<Error> failure(std::string message) {
    return tl::unexpected<Error>{Error{std::move(message)}};
}

}  // namespace dynaplan
