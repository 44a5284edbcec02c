# Pages and scripts as string literals of one source file, so that the program needs no files beside it.
#
#   discreet_embed(target out.cc "/index.html|text/html|sdk/typescript/demo/index.html" ...)
function(discreet_embed target out)
  set(entries "")
  foreach(entry ${ARGN})
    string(REPLACE "|" ";" parts "${entry}")
    list(GET parts 0 path)
    list(GET parts 1 type)
    list(GET parts 2 file)
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/${file})
    file(READ ${PROJECT_SOURCE_DIR}/${file} content)
    string(APPEND entries "    {\"${path}\", \"${type}\", R\"discreet!(${content})discreet!\"},\n")
  endforeach()
  file(CONFIGURE OUTPUT ${out} @ONLY CONTENT "// Made by cmake/DiscreetAssets.cmake.
#include \"local/collector/assets_internal.h\"

namespace discreet::local {

std::span<const Asset> assets() {
  static constexpr Asset kAssets[] = {
@entries@  };
  return kAssets;
}

}  // namespace discreet::local
")
  target_sources(${target} PRIVATE ${out})
endfunction()
