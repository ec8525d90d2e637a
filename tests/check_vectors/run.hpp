// check_vectors KIND PATH...: checks every vector in the files, or in every *.json below the folders, prints
// each difference and at the end "N passed, M failed" (cases).
#pragma once

#include <iosfwd>
#include <string>
#include <vector>

namespace dynaplan::check_vectors {

// The arguments without the program's name. The exit code: 0 all passed, 1 something failed, 2 wrong usage.
int run(const std::vector<std::string>& arguments, std::ostream& out, std::ostream& errors);

}  // namespace dynaplan::check_vectors
