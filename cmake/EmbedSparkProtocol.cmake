# Writes a file's bytes as a C++ array: cmake -DINPUT=FILE -DOUTPUT=FILE.cc -P EmbedSparkProtocol.cmake
file(READ ${INPUT} bytes HEX)
string(REGEX REPLACE "(................................)" "\\1\n" bytes "${bytes}")
string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${bytes}")
file(WRITE ${OUTPUT} "#include <cstddef>
namespace discreet::spark {
extern const unsigned char kProtocol[];
extern const std::size_t kProtocolSize;
const unsigned char kProtocol[] = {${bytes}};
const std::size_t kProtocolSize = sizeof(kProtocol);
}  // namespace discreet::spark
")
