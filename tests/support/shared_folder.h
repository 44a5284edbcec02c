// Published vectors and benchmark data live beside the checkout, not in it. A test that wants them
// says so when they are absent.
#pragma once

#include <string>

namespace discreet {

/// `shared_file("data/adult.csv")`; the file need not exist.
std::string shared_file(const std::string& path);

}  // namespace discreet
