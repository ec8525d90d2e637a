#include <iostream>
#include <string>
#include <vector>

#include "check_vectors/run.hpp"

int main(int argc, char** argv) {
    return dynaplan::check_vectors::run(std::vector<std::string>(argv + 1, argv + argc), std::cout,
                                        std::cerr);
}
