// A privacy profile as a picture: delta against epsilon, delta on a logarithmic scale.
#pragma once

#include <span>
#include <string>

#include "accounting/pld.h"

namespace discreet::cli {

struct ProfilePicture {
  std::string title;
  double marked_delta = 0;  ///< a level to mark, with the epsilon where the profile meets it
};

/// A complete SVG document; it needs no fonts or scripts beyond the viewer's own.
std::string profile_svg(std::span<const ProfilePoint> points, const ProfilePicture& picture);

}  // namespace discreet::cli
